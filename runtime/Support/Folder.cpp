// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work on the entries of an open folder.

#include "colrow/runtime/Support/Folder.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/Errno.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

static constexpr int folderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

Expected<Folder> Folder::open(StringRef path) {
  int fd = ::open(path.str().c_str(), folderFlags);
  if (fd < 0)
    return failure("{0}: cannot open folder: {1}", path, strerror(errno));
  return Folder(path.str(), fd);
}

Folder::Folder(Folder &&other) noexcept
    : title(std::move(other.title)), fd(std::exchange(other.fd, -1)) {}

Folder &Folder::operator=(Folder &&other) noexcept {
  std::swap(title, other.title);
  std::swap(fd, other.fd);
  return *this;
}

Folder::~Folder() {
  if (fd >= 0)
    ::close(fd);
}

std::string Folder::pathOf(StringRef name) const {
  return (title + (StringRef(title).ends_with("/") ? "" : "/") + name).str();
}

Error Folder::failed(StringRef name, const char *action) const {
  return failure("{0}: cannot {1}: {2}", pathOf(name), action, strerror(errno));
}

FileIdentity Folder::identity() const {
  struct stat status = {};
  ::fstat(fd, &status);
  return {status.st_dev, status.st_ino, ""};
}

EntryKind Folder::kindOf(StringRef name) const {
  struct stat status;
  if (::fstatat(fd, name.str().c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? EntryKind::nothing : EntryKind::other;
  return S_ISREG(status.st_mode)   ? EntryKind::file
         : S_ISDIR(status.st_mode) ? EntryKind::folder
         : S_ISLNK(status.st_mode) ? EntryKind::link
                                   : EntryKind::other;
}

std::string Folder::linkTarget(StringRef name) const {
  char buffer[4096];
  ssize_t size = ::readlinkat(fd, name.str().c_str(), buffer, sizeof(buffer));
  return size < 0 ? std::string() : std::string(buffer, size);
}

Expected<std::vector<std::string>> Folder::names() const {
  int list = ::openat(fd, ".", folderFlags);
  DIR *stream = list < 0 ? nullptr : ::fdopendir(list);
  if (!stream) {
    Error error = failed("", "list");
    if (list >= 0)
      ::close(list);
    return std::move(error);
  }
  std::vector<std::string> result;
  while (const dirent *entry = ::readdir(stream))
    if (StringRef name = entry->d_name; name != "." && name != "..")
      result.push_back(name.str());
  ::closedir(stream);
  return result;
}

Expected<Folder> Folder::enter(StringRef name) const {
  int entry = ::openat(fd, name.str().c_str(), folderFlags | O_NOFOLLOW);
  if (entry < 0)
    return failed(name, "open folder");
  return Folder(pathOf(name), entry);
}

Expected<Folder> Folder::create(StringRef name) const {
  if (::mkdirat(fd, name.str().c_str(), 0777) != 0)
    return failed(name, "create folder");
  return enter(name);
}

Error Folder::link(StringRef target, StringRef name) const {
  if (::symlinkat(target.str().c_str(), fd, name.str().c_str()) != 0)
    return failed(name, "link");
  return Error::success();
}

Error Folder::renameNew(StringRef from, StringRef to) const {
  std::string source = from.str(), target = to.str();
  if (::renameat2(fd, source.c_str(), fd, target.c_str(), RENAME_NOREPLACE) ==
      0)
    return Error::success();
  // Not every file system can refuse to replace.
  if (errno != EINVAL && errno != ENOSYS)
    return failed(from, "rename");
  if (kindOf(to) != EntryKind::nothing)
    return failure("{0}: cannot rename to {1}: the name is taken", pathOf(from),
                   to);
  if (::renameat(fd, source.c_str(), fd, target.c_str()) != 0)
    return failed(from, "rename");
  return Error::success();
}

Error Folder::replace(StringRef from, const Folder &to, StringRef name) const {
  if (::renameat(fd, from.str().c_str(), to.fd, name.str().c_str()) != 0)
    return to.failed(name, "replace");
  return Error::success();
}

Error Folder::remove(StringRef name) const {
  if (::unlinkat(fd, name.str().c_str(), 0) != 0)
    return failed(name, "remove");
  return Error::success();
}

Error Folder::removeEmptyFolder(StringRef name) const {
  if (::unlinkat(fd, name.str().c_str(), AT_REMOVEDIR) != 0)
    return failed(name, "remove folder");
  return Error::success();
}

Error Folder::sync() const {
  // Some file systems cannot sync folders and say so with EINVAL.
  if (sys::RetryAfterSignal(-1, ::fsync, fd) != 0 && errno != EINVAL)
    return failure("{0}: cannot sync folder: {1}", title, strerror(errno));
  return Error::success();
}

} // namespace colrow::runtime
