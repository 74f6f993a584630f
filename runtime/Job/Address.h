// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses of TCP sockets.

#ifndef COLROW_RUNTIME_JOB_ADDRESS_H
#define COLROW_RUNTIME_JOB_ADDRESS_H

#include "colrow/runtime/Job/Deadline.h"
#include "colrow/runtime/Support/FileDescriptor.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <sys/socket.h>
#include <vector>

namespace colrow::runtime {

struct Address {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  sockaddr *get() { return reinterpret_cast<sockaddr *>(&storage); }
  const sockaddr *get() const {
    return reinterpret_cast<const sockaddr *>(&storage);
  }
  /// Reached from this machine only.
  bool isLoopback() const;
  uint16_t port() const;
  void setPort(uint16_t port);
  bool operator==(const Address &other) const;
};

/// "host:port", or "[host]:port" for an IPv6 address.
std::string shownAddress(llvm::StringRef host, uint16_t port);

/// All addresses of a host, or what an address in text says. `isTemporary`
/// becomes true when trying again may help.
llvm::Expected<std::vector<Address>> resolve(llvm::StringRef host,
                                             uint16_t port, bool &isTemporary);

/// That of a socket's own end; of no size when there is none.
Address addressOf(const FileDescriptor &socket);

/// What errno says.
std::string errorText(int number);

/// Connects. The socket does not block. Errors are what errno says.
llvm::Expected<FileDescriptor> connectTo(const Address &address,
                                         Deadline deadline);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_ADDRESS_H
