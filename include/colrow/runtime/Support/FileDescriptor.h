// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An open file that is closed with its owner.

#ifndef COLROW_RUNTIME_SUPPORT_FILEDESCRIPTOR_H
#define COLROW_RUNTIME_SUPPORT_FILEDESCRIPTOR_H

#include <unistd.h>
#include <utility>

namespace colrow::runtime {

class FileDescriptor {
public:
  /// Owns `fd`; negative: none.
  explicit FileDescriptor(int fd = -1) : fd(fd) {}
  FileDescriptor(FileDescriptor &&other) noexcept
      : fd(std::exchange(other.fd, -1)) {}
  FileDescriptor &operator=(FileDescriptor &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~FileDescriptor() { reset(); }

  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }
  /// Closes it.
  void reset() {
    if (fd >= 0)
      ::close(fd);
    fd = -1;
  }

private:
  int fd;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_FILEDESCRIPTOR_H
