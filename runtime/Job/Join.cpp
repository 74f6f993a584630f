// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joining process 0.

#include "Address.h"
#include "Trust.h"
#include "colrow/runtime/Job/Frames.h"
#include "colrow/runtime/Job/Rendezvous.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include <poll.h>
#include <thread>

using namespace llvm;

namespace colrow::runtime {

namespace {
/// One try. `isFinal`: others would end in the same way.
struct Attempt {
  FileDescriptor socket;
  std::string error;
  bool isFinal = false;
};
} // namespace

/// Some bytes, at most `most`; empty with `error` set when there are none.
static std::string receiveSome(const FileDescriptor &socket, size_t most,
                               Deadline deadline, std::string &error) {
  for (;;) {
    std::string bytes(most, '\0');
    ssize_t got = ::recv(socket.get(), bytes.data(), most, MSG_DONTWAIT);
    if (got > 0)
      return bytes.substr(0, size_t(got));
    if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
      error = "it closes the connection";
    else if (deadline.hasPassed())
      error = "it does not answer";
    if (!error.empty())
      return "";
    pollfd entry = {socket.get(), POLLIN, 0};
    (void)::poll(&entry, 1, deadline.millisecondsLeft());
  }
}

static Attempt shakeHands(FileDescriptor socket, const JobDescription &job,
                          unsigned process, Deadline deadline) {
  JoinHandshake handshake(job, process, randomNonce());
  std::string toSend = handshake.hello();
  Attempt attempt;
  for (auto state = JoinHandshake::State::open;
       state != JoinHandshake::State::joined;) {
    if (Error error = sendAll(socket.get(), toSend, deadline)) {
      attempt.error = toString(std::move(error));
      return attempt;
    }
    toSend.clear();
    std::string bytes =
        receiveSome(socket, handshake.wanted(), deadline, attempt.error);
    if (!attempt.error.empty())
      return attempt;
    state = handshake.receive(bytes, toSend);
    if (state == JoinHandshake::State::refused) {
      attempt.error = handshake.error();
      attempt.isFinal = true;
      return attempt;
    }
  }
  attempt.socket = std::move(socket);
  return attempt;
}

static Attempt tryAddresses(const MeetingPlace &place,
                            const JobDescription &job, unsigned process,
                            Deadline deadline) {
  Attempt attempt;
  bool isTemporary = false;
  auto addresses = resolve(place.host, place.port, isTemporary);
  if (!addresses) {
    attempt.error = toString(addresses.takeError());
    attempt.isFinal = !isTemporary;
    return attempt;
  }
  for (const Address &address : *addresses) {
    if (Error error = checkTrust(address, place, job)) {
      attempt.error = toString(std::move(error));
      attempt.isFinal = true;
      return attempt;
    }
    Deadline own = deadline.orIn(place.pendingSeconds);
    Expected<FileDescriptor> socket = connectTo(address, own);
    if (!socket) {
      attempt.error = toString(socket.takeError());
      continue;
    }
    attempt = shakeHands(std::move(*socket), job, process, own);
    if (attempt.socket || attempt.isFinal)
      return attempt;
  }
  return attempt;
}

Expected<FileDescriptor> joinHub(const MeetingPlace &place,
                                 const JobDescription &job, unsigned process,
                                 double seconds) {
  constexpr double firstPause = 0.02, longestPause = 0.5;
  Deadline deadline = Deadline::in(seconds);
  std::string at = shownAddress(place.host, place.port);
  for (double pause = firstPause;;
       pause = std::min(pause * 1.5, longestPause)) {
    Attempt attempt = tryAddresses(place, job, process, deadline);
    if (attempt.socket)
      return std::move(attempt.socket);
    if (attempt.isFinal)
      return failure("process {0} cannot join process 0 at {1}: {2}", process,
                     at, attempt.error);
    if (deadline.hasPassed())
      return failure("process {0} could not join process 0 at {1} for {2} s: "
                     "{3}",
                     process, at, textOfNumber(seconds), attempt.error);
    std::this_thread::sleep_until(deadline.orIn(pause).time());
  }
}

Expected<std::vector<FileDescriptor>> rendezvous(const MeetingPlace &place,
                                                 const JobDescription &job,
                                                 unsigned process,
                                                 double seconds) {
  if (process == 0) {
    Expected<std::unique_ptr<Hub>> hub = Hub::listen(place, job);
    if (!hub)
      return hub.takeError();
    return (*hub)->accept(seconds);
  }
  Expected<FileDescriptor> socket = joinHub(place, job, process, seconds);
  if (!socket)
    return socket.takeError();
  std::vector<FileDescriptor> sockets;
  sockets.push_back(std::move(*socket));
  return sockets;
}

} // namespace colrow::runtime
