// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unix sockets that only those find and may use who were told.

#ifndef COLROW_RUNTIME_CPU_INVITATION_H
#define COLROW_RUNTIME_CPU_INVITATION_H

#include "FileMessages.h"
#include <array>
#include <sys/socket.h>

namespace colrow::runtime {

/// What the one that listens tells the others: a name's random part, and what
/// they have to say.
struct Invitation {
  static constexpr size_t randomBytes = 16;
  std::array<char, randomBytes> name, secret;

  llvm::StringRef text() const {
    return {reinterpret_cast<const char *>(this), sizeof(*this)};
  }
  /// Error: it is none.
  static llvm::Expected<Invitation> of(llvm::StringRef text);
};

/// Listens at a new name, for about so many others.
llvm::Expected<FileDescriptor> listenFor(Invitation &told, size_t others);

/// Connects to whom the invitation is from, who must be of the same user.
llvm::Expected<FileDescriptor> acceptInvitation(const Invitation &told,
                                                Deadline deadline);

/// The process at the other end when it connected, or began to listen.
llvm::Expected<ucred> peerOf(int socket);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_INVITATION_H
