// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that appear whole or not at all. Invariant: the final name is touched
// only by the rename at the end of commit().

#include "colrow/runtime/Support/AtomicFile.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

static constexpr size_t bufferSize = 1 << 20;

static std::string folderOf(StringRef path) {
  StringRef parent = sys::path::parent_path(path);
  return parent.empty() ? "." : parent.str();
}

Error syncFolder(StringRef folder) {
  Expected<Folder> opened = Folder::open(folder);
  return opened ? opened->sync() : opened.takeError();
}

AtomicFile::AtomicFile(std::string path, std::string temporary, int fd)
    : path(std::move(path)), temporary(std::move(temporary)), fd(fd) {
  buffer.reserve(bufferSize);
}

AtomicFile::~AtomicFile() {
  if (fd >= 0)
    ::close(fd);
  if (!temporary.empty() && isOwn)
    ::unlinkat(folder ? folder->descriptor() : AT_FDCWD, temporary.c_str(), 0);
}

/// A limit on file size becomes an error of write().
static void ignoreSizeSignal() {
  struct sigaction old;
  if (::sigaction(SIGXFSZ, nullptr, &old) == 0 && old.sa_handler == SIG_DFL)
    ::signal(SIGXFSZ, SIG_IGN);
}

static std::atomic<bool (*)()> givesUpWaiting{nullptr};

void AtomicFile::waitForReadersUntil(bool (*givesUp)()) {
  givesUpWaiting = givesUp;
}

static bool givesUp() {
  bool (*asked)() = givesUpWaiting;
  return asked && asked();
}

static constexpr const char *unread =
    "nobody reads this pipe, and a signal has ended the wait";

/// Does not block. Returns -1 with errno: ENXIO, nobody reads it.
static int openPipe(const char *path) {
  constexpr timespec pause = {0, 10000000};
  for (;;) {
    int fd = ::open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 || errno != ENXIO || givesUp())
      return fd;
    ::nanosleep(&pause, nullptr);
  }
}

/// Until a pipe that is full takes more. False: given up, after a second in
/// which its reader took nothing.
static bool waitForRoom(int fd) {
  constexpr int milliseconds = 1000;
  pollfd entry = {fd, POLLOUT, 0};
  for (;;) {
    bool isLast = givesUp();
    int ready = ::poll(&entry, 1, milliseconds);
    if (ready > 0 || (ready < 0 && errno != EINTR))
      return true; // write() says what is wrong
    if (ready == 0 && isLast)
      return false;
  }
}

Expected<std::unique_ptr<AtomicFile>> AtomicFile::create(StringRef path) {
  static std::atomic<unsigned> serial{0};
  ignoreSizeSignal();
  std::string name = path.str(), temporary;
  struct stat status;
  bool direct = ::stat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  if (direct && S_ISDIR(status.st_mode))
    return failure("{0}: cannot write: it is a folder", path);
  if (!direct)
    temporary = formatv("{0}.tmp-{1}-{2}", path, ::getpid(), serial++).str();
  bool isPipe = direct && S_ISFIFO(status.st_mode);
  int fd = isPipe ? openPipe(name.c_str())
                  : ::open(direct ? name.c_str() : temporary.c_str(),
                           direct ? O_WRONLY | O_CLOEXEC
                                  : O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                           0666);
  if (fd < 0 && isPipe && errno == ENXIO)
    return failure("{0}: cannot write: {1}", path, unread);
  if (fd < 0)
    return failure("{0}: cannot create: {1}", path, strerror(errno));
  return std::unique_ptr<AtomicFile>(
      new AtomicFile(std::move(name), std::move(temporary), fd));
}

Expected<std::unique_ptr<AtomicFile>> AtomicFile::createIn(const Folder &folder,
                                                           StringRef name) {
  ignoreSizeSignal();
  int fd = ::openat(folder.descriptor(), name.str().c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0)
    return failure("{0}: cannot create: {1}", folder.pathOf(name),
                   strerror(errno));
  std::unique_ptr<AtomicFile> file(
      new AtomicFile(folder.pathOf(name), name.str(), fd));
  file->folder = &folder;
  return file;
}

/// Never creates.
static Expected<int> openToJoin(int folder, StringRef name, StringRef path,
                                int flags) {
  int fd = ::openat(folder, name.str().c_str(), O_WRONLY | O_CLOEXEC | flags);
  if (fd < 0)
    return failure("{0}: cannot open what the first process created: {1}", path,
                   strerror(errno));
  return fd;
}

Expected<std::unique_ptr<AtomicFile>> AtomicFile::join(StringRef path,
                                                       StringRef temporary) {
  ignoreSizeSignal();
  // A path that is written directly may be a link, a temporary name never is.
  bool direct = temporary.empty();
  SmallString<256> place(folderOf(path));
  sys::path::append(place, sys::path::filename(temporary));
  Expected<int> fd = openToJoin(AT_FDCWD, direct ? path : StringRef(place),
                                path, direct ? 0 : O_NOFOLLOW);
  if (!fd)
    return fd.takeError();
  std::unique_ptr<AtomicFile> file(
      new AtomicFile(path.str(), temporary.str(), *fd));
  file->isOwn = false;
  struct stat status;
  if (direct && (::fstat(*fd, &status) != 0 || S_ISREG(status.st_mode)))
    return failure("{0}: cannot write: it is a regular file", path);
  return file;
}

Expected<std::unique_ptr<AtomicFile>> AtomicFile::joinIn(const Folder &folder,
                                                         StringRef name) {
  ignoreSizeSignal();
  Expected<int> fd =
      openToJoin(folder.descriptor(), name, folder.pathOf(name), O_NOFOLLOW);
  if (!fd)
    return fd.takeError();
  std::unique_ptr<AtomicFile> file(
      new AtomicFile(folder.pathOf(name), name.str(), *fd));
  file->folder = &folder;
  file->isOwn = false;
  return file;
}

Error AtomicFile::failed(const char *action) {
  int error = errno;
  broken = true;
  return failure("{0}: cannot {1}: {2}{3}", path, action, strerror(error),
                 error == EFBIG ? " (limit on file size, see ulimit -f)" : "");
}

Error AtomicFile::flush(const char *data, size_t size) {
  while (size > 0) {
    ssize_t done = ::write(fd, data, size);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0 && errno == EAGAIN) {
      if (waitForRoom(fd))
        continue;
      broken = true;
      return failure("{0}: cannot write: {1}", path, unread);
    }
    if (done < 0)
      return failed("write");
    data += done;
    size -= done;
  }
  return Error::success();
}

Error AtomicFile::write(const void *data, size_t size) {
  const char *bytes = static_cast<const char *>(data);
  if (buffer.size() + size <= bufferSize) {
    buffer.insert(buffer.end(), bytes, bytes + size);
    return Error::success();
  }
  if (Error error = flush(buffer.data(), buffer.size()))
    return error;
  buffer.clear();
  if (size < bufferSize) {
    buffer.insert(buffer.end(), bytes, bytes + size);
    return Error::success();
  }
  return flush(bytes, size);
}

Error AtomicFile::writeAt(uint64_t offset, const void *data, size_t size) {
  const char *bytes = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t done = ::pwrite(fd, bytes, size, offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return failed("write");
    bytes += done;
    offset += done;
    size -= done;
  }
  return Error::success();
}

Error AtomicFile::reserve(uint64_t bytes) {
  if (temporary.empty() ||
      sys::RetryAfterSignal(-1, ::fallocate, fd, 0, 0, off_t(bytes)) == 0)
    return Error::success();
  if (errno != EOPNOTSUPP && errno != ENOSYS)
    return failed("take the space that it needs");
  return ::ftruncate(fd, off_t(bytes)) == 0 ? Error::success()
                                            : failed("set its size");
}

Error AtomicFile::syncData() {
  return temporary.empty() || sys::RetryAfterSignal(-1, ::fdatasync, fd) == 0
             ? Error::success()
             : failed("sync");
}

Error AtomicFile::finish() {
  if (broken)
    return failure("{0}: an earlier write failed", path);
  if (Error error = flush(buffer.data(), buffer.size()))
    return error;
  buffer.clear();
  if (!temporary.empty() && sys::RetryAfterSignal(-1, ::fsync, fd) != 0)
    return failed("sync");
  int rc = ::close(fd);
  fd = -1;
  if (rc != 0)
    return failed("close");
  return Error::success();
}

Error AtomicFile::publish() {
  if (!isOwn)
    return Error::success();
  if (folder) {
    temporary.clear();
    return Error::success();
  }
  if (temporary.empty())
    return Error::success();
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return failed("rename");
  temporary.clear();
  return syncFolder(folderOf(path));
}

Error AtomicFile::commit() {
  if (Error error = finish())
    return error;
  return publish();
}

static Error writeAll(Expected<std::unique_ptr<AtomicFile>> file,
                      StringRef text) {
  if (!file)
    return file.takeError();
  if (Error error = (*file)->write(text))
    return error;
  return (*file)->commit();
}

Error writeFileAtomically(StringRef path, StringRef text) {
  return writeAll(AtomicFile::create(path), text);
}

Error writeFileIn(const Folder &folder, StringRef name, StringRef text) {
  return writeAll(AtomicFile::createIn(folder, name), text);
}

} // namespace colrow::runtime
