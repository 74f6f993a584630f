// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Abstract unix sockets: a random name and no file, gone with its listener.

#include "Invitation.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/StringExtras.h"
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <poll.h>
#include <sys/random.h>
#include <sys/un.h>

using namespace llvm;

namespace colrow::runtime {

Expected<Invitation> Invitation::of(StringRef text) {
  Invitation result;
  if (text.size() != sizeof(result))
    return failure("the first process of this machine could not listen");
  std::memcpy(&result, text.data(), sizeof(result));
  return result;
}

Expected<ucred> peerOf(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return failure("cannot tell who is at a unix socket: {0}", strerror(errno));
  return peer;
}

static std::pair<sockaddr_un, socklen_t> addressOf(const Invitation &told) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A first byte of zero: a name without a file.
  std::string name = "colrow-" + toHex({told.name.data(), told.randomBytes});
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return {address,
          socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

static FileDescriptor newSocket() {
  return FileDescriptor(
      ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Expected<FileDescriptor> listenFor(Invitation &told, size_t others) {
  if (::getrandom(&told, sizeof(told), 0) != ssize_t(sizeof(told)))
    return failure("no random numbers: {0}", strerror(errno));
  auto [address, length] = addressOf(told);
  FileDescriptor listener = newSocket();
  if (!listener ||
      ::bind(listener.get(), reinterpret_cast<sockaddr *>(&address), length) !=
          0 ||
      ::listen(listener.get(), int(std::min<size_t>(others, 1024))) != 0)
    return failure("cannot listen at a unix socket: {0}", strerror(errno));
  return std::move(listener);
}

Expected<FileDescriptor> acceptInvitation(const Invitation &told,
                                          Deadline deadline) {
  auto [address, length] = addressOf(told);
  FileDescriptor socket = newSocket();
  if (!socket)
    return failure("cannot make a unix socket: {0}", strerror(errno));
  // The listener's queue may be full for a while.
  while (::connect(socket.get(), reinterpret_cast<sockaddr *>(&address),
                   length) != 0) {
    if ((errno != EAGAIN && errno != EINTR) || deadline.hasPassed())
      return failure("cannot connect to the first process of this machine: {0}",
                     strerror(errno));
    ::poll(nullptr, 0, 1);
  }
  Expected<ucred> peer = peerOf(socket.get());
  if (!peer)
    return peer.takeError();
  if (peer->uid != ::geteuid())
    return failure("the first process of this machine is another user's");
  return std::move(socket);
}

} // namespace colrow::runtime
