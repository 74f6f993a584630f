// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two connected sockets, and texts of errors.

#ifndef COLROW_TEST_UNIT_JOB_SOCKETPAIR_H
#define COLROW_TEST_UNIT_JOB_SOCKETPAIR_H

#include "colrow/runtime/Support/FileDescriptor.h"
#include "llvm/Support/Error.h"
#include <string>
#include <sys/socket.h>

struct SocketPair {
  colrow::runtime::FileDescriptor a, b;

  SocketPair() {
    int ends[2] = {-1, -1};
    (void)::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
    a = colrow::runtime::FileDescriptor(ends[0]);
    b = colrow::runtime::FileDescriptor(ends[1]);
  }
};

/// Empty for success.
inline std::string textOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}
template <typename T> std::string textOf(llvm::Expected<T> &&value) {
  return value ? "" : llvm::toString(value.takeError());
}
template <typename T> std::string textOf(llvm::Expected<T> &value) {
  return value ? "" : llvm::toString(value.takeError());
}

#endif // COLROW_TEST_UNIT_JOB_SOCKETPAIR_H
