// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first process of a machine collects files and hands them on:
//
//   member -> first   Hello{process, count, secret}
//   first -> member   Welcome{process of the member}
//   member -> first   its files
//   first -> member   for each other member: Offer{process, count}, its files;
//                     then a pidfd of each
//
// A pidfd is opened while its process is known to live: its answer to the
// welcome comes after. So it is never one of another process that got the same
// number.

#include "colrow/runtime/CPU/ArenaExchange.h"
#include "FileMessages.h"
#include "Invitation.h"
#include "colrow/runtime/Job/Frames.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/STLExtras.h"
#include <cerrno>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

using namespace llvm;

namespace colrow::runtime {

namespace {
constexpr uint32_t helloMagic = 0x314c4f43; // "COL1"
struct Hello {
  uint32_t magic, process, count;
  std::array<char, Invitation::randomBytes> secret;
};
struct Welcome {
  uint32_t process;
};
struct Offer {
  uint32_t process, count;
};

/// A stranger may hold up the others no longer than this.
constexpr double helloSeconds = 1;
/// Most files that a process gives: one a rank and some more.
constexpr uint32_t maxFiles = 4096;

/// One side of an exchange.
struct Exchange {
  ArrayRef<unsigned> members;
  unsigned process;
  ArrayRef<int> own;
  Deadline deadline;
  std::vector<Neighbour> neighbours; // as members
};
} // namespace

template <typename T> static StringRef bytesOf(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof(T)};
}

template <typename T>
static Expected<T> receive(int socket, Deadline deadline) {
  Expected<Message> message = receiveMessage(socket, sizeof(T), 0, deadline);
  if (!message)
    return message.takeError();
  T value;
  std::memcpy(&value, message->bytes.data(), sizeof(T));
  return value;
}

static Expected<FileDescriptor> openProcess(pid_t pid) {
  FileDescriptor result(int(::syscall(SYS_pidfd_open, pid, 0)));
  if (!result)
    return failure("cannot open process {0} (pidfd_open, Linux 5.3): {1}", pid,
                   strerror(errno));
  return std::move(result);
}

/// A member's index when it says hello as it should; nothing for a stranger.
static std::optional<size_t> greet(Exchange &to, int socket, const ucred &peer,
                                   const Invitation &told, uint32_t &count) {
  if (peer.uid != ::geteuid() || peer.pid <= 0)
    return std::nullopt;
  Expected<Hello> hello =
      receive<Hello>(socket, to.deadline.orIn(helloSeconds));
  if (!hello) {
    consumeError(hello.takeError());
    return std::nullopt;
  }
  const unsigned *found = find(to.members, hello->process);
  if (hello->magic != helloMagic || hello->secret != told.secret ||
      found == to.members.end() || hello->process == to.process ||
      hello->count > maxFiles)
    return std::nullopt;
  count = hello->count;
  return found - to.members.begin();
}

/// Takes a connection: what a member gives, or nothing from a stranger.
static Error take(Exchange &to, FileDescriptor socket, const Invitation &told,
                  std::vector<FileDescriptor> &sockets) {
  ucred peer{};
  if (Error error = peerOf(socket.get()).moveInto(peer))
    return error;
  uint32_t count;
  std::optional<size_t> member = greet(to, socket.get(), peer, told, count);
  if (!member || sockets[*member])
    return Error::success();
  Neighbour &neighbour = to.neighbours[*member];
  Expected<FileDescriptor> pidfd = openProcess(peer.pid);
  if (!pidfd)
    return pidfd.takeError();
  neighbour.pidfd = std::move(*pidfd);
  Welcome welcome{to.members[*member]};
  if (Error error =
          sendMessage(socket.get(), bytesOf(welcome), {}, to.deadline))
    return error;
  // Also where it has no files it answers, with a message of none.
  Expected<Offer> alive = receive<Offer>(socket.get(), to.deadline);
  if (!alive)
    return alive.takeError();
  if (Error error =
          receiveFiles(socket.get(), count, neighbour.files, to.deadline))
    return error;
  sockets[*member] = std::move(socket);
  return Error::success();
}

/// Hands on what all others gave, and who they are.
static Error give(const Exchange &from, size_t member, int socket, int self) {
  std::vector<int> pidfds;
  for (size_t m = 0; m < from.members.size(); ++m) {
    if (m == member)
      continue;
    const Neighbour &neighbour = from.neighbours[m];
    bool isSelf = from.members[m] == from.process;
    std::vector<int> files;
    files.reserve(neighbour.files.size());
    for (const FileDescriptor &file : neighbour.files)
      files.push_back(file.get());
    ArrayRef<int> given = isSelf ? from.own : ArrayRef<int>(files);
    Offer offer{from.members[m], uint32_t(given.size())};
    if (Error error = sendMessage(socket, bytesOf(offer), {}, from.deadline))
      return error;
    if (Error error = sendFiles(socket, given, from.deadline))
      return error;
    pidfds.push_back(isSelf ? self : neighbour.pidfd.get());
  }
  return sendFiles(socket, pidfds, from.deadline);
}

static Error serve(Exchange &to, int listener, const Invitation &told) {
  std::vector<FileDescriptor> sockets(to.members.size());
  auto isMissing = [&](size_t m) {
    return !sockets[m] && to.members[m] != to.process;
  };
  for (size_t m = 0; m < sockets.size();) {
    if (!isMissing(m)) {
      ++m;
      continue;
    }
    if (Error error = waitFor(listener, POLLIN, to.deadline)) {
      consumeError(std::move(error));
      return failure("process {0} of this machine does not come for its memory",
                     to.members[m]);
    }
    FileDescriptor socket(
        ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket && (errno == EMFILE || errno == ENFILE))
      return failure("too many open files (ulimit -n)");
    if (!socket)
      continue; // it has gone again
    if (Error error = take(to, std::move(socket), told, sockets))
      return error;
  }
  Expected<FileDescriptor> self = openProcess(::getpid());
  if (!self)
    return self.takeError();
  for (size_t m = 0; m < sockets.size(); ++m)
    if (sockets[m])
      if (Error error = give(to, m, sockets[m].get(), self->get()))
        return error;
  return Error::success();
}

static Error join(Exchange &to, const Invitation &told) {
  Expected<FileDescriptor> socket = acceptInvitation(told, to.deadline);
  if (!socket)
    return socket.takeError();
  Hello hello{helloMagic, to.process, uint32_t(to.own.size()), told.secret};
  if (Error error = sendMessage(socket->get(), bytesOf(hello), {}, to.deadline))
    return error;
  Expected<Welcome> welcome = receive<Welcome>(socket->get(), to.deadline);
  if (!welcome)
    return welcome.takeError();
  Offer alive{to.process, uint32_t(to.own.size())};
  if (Error error = sendMessage(socket->get(), bytesOf(alive), {}, to.deadline))
    return error;
  if (Error error = sendFiles(socket->get(), to.own, to.deadline))
    return error;
  for (size_t m = 0; m < to.members.size(); ++m) {
    if (to.members[m] == to.process)
      continue;
    Expected<Offer> offer = receive<Offer>(socket->get(), to.deadline);
    if (!offer)
      return offer.takeError();
    if (offer->process != to.members[m] || offer->count > maxFiles)
      return failure("it sent something else");
    if (Error error = receiveFiles(socket->get(), offer->count,
                                   to.neighbours[m].files, to.deadline))
      return error;
  }
  std::vector<FileDescriptor> pidfds;
  if (Error error = receiveFiles(socket->get(), to.members.size() - 1, pidfds,
                                 to.deadline))
    return error;
  for (size_t m = 0, next = 0; m < to.members.size(); ++m)
    if (to.members[m] != to.process)
      to.neighbours[m].pidfd = std::move(pidfds[next++]);
  return Error::success();
}

Expected<std::vector<Neighbour>> exchangeArenas(Control &control,
                                                ArrayRef<unsigned> members,
                                                ArrayRef<int> own,
                                                double seconds) {
  Exchange exchange{members, control.process(), own, Deadline::in(seconds), {}};
  exchange.neighbours.resize(members.size());
  if (control.processes() == 1)
    return std::move(exchange.neighbours);
  bool listens = members.size() > 1 && members.front() == control.process();
  Invitation mine;
  Expected<FileDescriptor> listener =
      listens ? listenFor(mine, members.size()) : FileDescriptor();
  bool tells = listens && listener;
  Expected<std::vector<std::string>> told =
      control.gather(tells ? mine.text() : StringRef(), seconds);
  if (!told) {
    consumeError(listener.takeError());
    return told.takeError();
  }
  if (!listener)
    return listener.takeError();
  if (members.size() == 1)
    return std::move(exchange.neighbours);
  exchange.deadline = Deadline::in(seconds);
  Expected<Invitation> invitation = Invitation::of((*told)[members.front()]);
  if (!invitation)
    return invitation.takeError();
  if (Error error = listens ? serve(exchange, listener->get(), *invitation)
                            : join(exchange, *invitation))
    return failure("the processes of this machine cannot share memory: {0}",
                   toString(std::move(error)));
  return std::move(exchange.neighbours);
}

} // namespace colrow::runtime
