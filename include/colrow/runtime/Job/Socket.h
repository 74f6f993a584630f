// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A socket that closes itself.

#ifndef COLROW_RUNTIME_JOB_SOCKET_H
#define COLROW_RUNTIME_JOB_SOCKET_H

#include <unistd.h>
#include <utility>

namespace colrow::runtime {

class Socket {
public:
  Socket() = default;
  explicit Socket(int fd) : fd(fd) {}
  Socket(Socket &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Socket() { close(); }

  int descriptor() const { return fd; }
  explicit operator bool() const { return fd >= 0; }
  void close() {
    if (fd >= 0)
      ::close(std::exchange(fd, -1));
  }

private:
  int fd = -1;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_SOCKET_H
