// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening the port of the rendezvous, or saying who has it.

#include "Address.h"
#include "HubImpl.h"
#include "Trust.h"
#include "colrow/runtime/Job/Frames.h"
#include "colrow/runtime/Support/Errors.h"
#include <netinet/in.h>
#include <thread>

using namespace llvm;

namespace colrow::runtime {

/// What listens at an address says of its job; empty when it says nothing that
/// a job does. `isThere` becomes false when nobody listens.
static std::string askWho(const Address &address, bool &isThere) {
  Deadline deadline = Deadline::in(1);
  Expected<FileDescriptor> socket = connectTo(address, deadline);
  isThere = bool(socket);
  if (!socket) {
    consumeError(socket.takeError());
    return "";
  }
  if (Error error = sendAll(socket->get(), whoQuestion(), deadline)) {
    consumeError(std::move(error));
    return "";
  }
  std::string answer;
  while (whoAnswer(answer).empty() && answer.size() < maxBytesBeforeProof) {
    char byte;
    if (Error error = receiveAll(socket->get(), &byte, 1, deadline)) {
      consumeError(std::move(error));
      break;
    }
    answer += byte;
  }
  return whoAnswer(answer);
}

/// 0, or what errno says.
static int tryToListen(const Address &address, FileDescriptor &socket) {
  socket =
      FileDescriptor(::socket(address.storage.ss_family,
                              SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int fd = socket.get(), on = 1;
  if (fd < 0)
    return errno;
  (void)::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.storage.ss_family == AF_INET6)
    (void)::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  return ::bind(fd, address.get(), address.size) == 0 &&
                 ::listen(fd, SOMAXCONN) == 0
             ? 0
             : errno;
}

static Error whoHasIt(const Address &address, const std::string &at,
                      const JobDescription &job, const std::string &other) {
  if (other.empty())
    return failure("{0} cannot listen on {1}: another program has that port; "
                   "choose one with --rendezvous",
                   job.title(), at);
  return failure("{0} cannot listen on {1}: that is where {2} waits for its "
                 "processes; choose another port with --rendezvous",
                 job.title(), at, other);
}

/// A port whose owner has just gone is free in a moment.
static Expected<FileDescriptor> listenOn(const Address &address,
                                         const std::string &at,
                                         const JobDescription &job,
                                         int &number) {
  FileDescriptor socket;
  for (Deadline deadline = Deadline::in(2);;) {
    number = tryToListen(address, socket);
    if (number == 0)
      return socket;
    if (number != EADDRINUSE)
      return failure("{0} cannot listen on {1}: {2}{3}", job.title(), at,
                     errorText(number),
                     number == EADDRNOTAVAIL
                         ? "; it must be an address of process 0's machine"
                         : "");
    bool isThere = false;
    std::string other = askWho(address, isThere);
    if (isThere || deadline.hasPassed())
      return whoHasIt(address, at, job, other);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Expected<std::vector<FileDescriptor>> listenAt(const MeetingPlace &place,
                                               const JobDescription &job) {
  bool isTemporary = false;
  auto addresses = resolve(place.host, place.port, isTemporary);
  if (!addresses)
    return addresses.takeError();
  for (const Address &address : *addresses)
    if (Error error = checkTrust(address, place, job))
      return std::move(error);
  std::string at = shownAddress(place.host, place.port);
  std::vector<FileDescriptor> sockets;
  Error missing = Error::success();
  for (Address &address : *addresses) {
    if (!sockets.empty())
      address.setPort(addressOf(sockets.front()).port());
    int number = 0;
    Expected<FileDescriptor> socket = listenOn(address, at, job, number);
    if (socket) {
      sockets.push_back(std::move(*socket));
      continue;
    }
    // A name may stand for an address of a kind that this machine has not.
    bool isOptional = number == EADDRNOTAVAIL || number == EAFNOSUPPORT;
    if (!isOptional) {
      consumeError(std::move(missing));
      return socket.takeError();
    }
    missing = joinErrors(std::move(missing), socket.takeError());
  }
  if (sockets.empty())
    return std::move(missing);
  consumeError(std::move(missing));
  return sockets;
}

} // namespace colrow::runtime
