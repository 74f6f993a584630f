// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening a file to read, and reading a part of it.

#include "colrow/runtime/Support/ReadAt.h"
#include "colrow/runtime/Support/Errors.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

static constexpr int readFlags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;

static Expected<int> checkOpened(int fd, StringRef path, uint64_t &size) {
  if (fd < 0)
    return failure("{0}: cannot open: {1}", path, strerror(errno));
  struct stat status;
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd);
    return failure("{0}: not a regular file", path);
  }
  size = status.st_size;
  return fd;
}

Expected<int> openRegularFile(StringRef path, uint64_t &size) {
  return checkOpened(::open(path.str().c_str(), readFlags), path, size);
}

Expected<int> openRegularFile(const Folder &folder, StringRef name,
                              uint64_t &size) {
  return checkOpened(
      ::openat(folder.descriptor(), name.str().c_str(), readFlags | O_NOFOLLOW),
      folder.pathOf(name), size);
}

Error readAt(int fd, char *out, uint64_t bytes, uint64_t offset) {
  while (bytes > 0) {
    ssize_t done = ::pread(fd, out, bytes, offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return failure("cannot read: {0}", strerror(errno));
    if (done == 0)
      return failure("file ends at byte {0}, {1} more were wanted", offset,
                     bytes);
    out += done;
    offset += done;
    bytes -= done;
  }
  return Error::success();
}

} // namespace colrow::runtime
