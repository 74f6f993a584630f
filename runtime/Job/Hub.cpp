// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Letting the job's processes in, and nobody else.

#include "Address.h"
#include "FirstNames.h"
#include "HubImpl.h"
#include "Message.h"
#include "colrow/runtime/Job/Frames.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <arpa/inet.h>
#include <netinet/in.h>

using namespace llvm;

namespace colrow::runtime {

/// Where a name, such as that of the machine itself in Debian's /etc/hosts,
/// leads to addresses of this machine only.
static bool isNameOfLoopback(StringRef host,
                             ArrayRef<FileDescriptor> listeners) {
  char address[sizeof(in6_addr)];
  std::string text = host.str();
  if (host == "localhost" || ::inet_pton(AF_INET, text.c_str(), address) == 1 ||
      ::inet_pton(AF_INET6, text.c_str(), address) == 1)
    return false;
  return all_of(listeners, [](const FileDescriptor &listener) {
    return addressOf(listener).isLoopback();
  });
}

Hub::Hub(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Hub::~Hub() = default;

Expected<std::unique_ptr<Hub>> Hub::listen(const MeetingPlace &place,
                                           const JobDescription &job) {
  Expected<std::vector<FileDescriptor>> sockets = listenAt(place, job);
  if (!sockets)
    return sockets.takeError();
  uint16_t port = addressOf(sockets->front()).port();
  auto impl = std::make_unique<Impl>(job, shownAddress(place.host, port),
                                     place.pendingSeconds);
  impl->listeners = std::move(*sockets);
  impl->isNameOfLoopback = isNameOfLoopback(place.host, impl->listeners);
  return std::unique_ptr<Hub>(new Hub(std::move(impl)));
}

uint16_t Hub::port() const { return addressOf(impl->listeners.front()).port(); }

Expected<std::vector<FileDescriptor>> Hub::accept(double seconds) {
  Deadline deadline = Deadline::in(seconds);
  while (!impl->isComplete() && !deadline.hasPassed())
    impl->pollOnce(deadline);
  impl->listeners.clear();
  impl->pending.clear();
  if (!impl->isComplete())
    return impl->timeout(seconds);
  impl->members.erase(impl->members.begin());
  return std::move(impl->members);
}

bool Hub::Impl::isComplete() const {
  return all_of(drop_begin(members),
                [](const FileDescriptor &member) { return bool(member); });
}

/// A new connection takes a few hundred bytes at once, or is no matter.
static void sendNow(const FileDescriptor &socket, StringRef bytes) {
  (void)::send(socket.get(), bytes.data(), bytes.size(),
               MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Nobody loses its place so early that it could not have proved itself.
constexpr double shortestStay = 0.25;

double Hub::Impl::secondsUntilRoom() const {
  if (pending.size() < maxPending)
    return 0;
  std::chrono::duration<double> age =
      Deadline::Clock::now() - pending.front().since;
  return std::max(0.0, shortestStay - age.count());
}

bool Hub::Impl::makeRoom() {
  if (secondsUntilRoom() > 0)
    return false;
  if (pending.size() >= maxPending) {
    pending.pop_front();
    drop(Refusal::displaced);
  }
  return true;
}

void Hub::Impl::drop(Refusal why) { ++dropped[unsigned(why)]; }

/// Waits for the next thing that happens, and does what follows from it.
void Hub::Impl::pollOnce(Deadline deadline) {
  std::vector<pollfd> entries;
  // Those that have joined may have sent something: that is for later.
  for (const FileDescriptor &member : drop_begin(members))
    entries.push_back({member.get(), POLLRDHUP, 0});
  size_t firstPending = entries.size();
  for (const Pending &one : pending) {
    entries.push_back({one.socket.get(), POLLIN, 0});
    deadline = deadline.orIn(one.deadline.secondsLeft());
  }
  size_t firstListener = entries.size();
  double untilRoom = secondsUntilRoom();
  if (untilRoom > 0)
    deadline = deadline.orIn(untilRoom);
  else
    for (const FileDescriptor &listener : listeners)
      entries.push_back({listener.get(), POLLIN, 0});
  if (::poll(entries.data(), entries.size(), deadline.millisecondsLeft()) < 0)
    return; // a signal
  noticeEnds(ArrayRef(entries).take_front(firstPending));
  for (auto [one, entry] : zip(pending, ArrayRef(entries).slice(firstPending)))
    one.events = entry.revents;
  for (auto one = pending.begin(); one != pending.end();)
    one = advance(*one) ? pending.erase(one) : std::next(one);
  for (size_t i = firstListener; i < entries.size(); ++i)
    if (entries[i].revents)
      acceptAll(listeners[i - firstListener]);
}

/// A process that went may come again.
void Hub::Impl::noticeEnds(ArrayRef<pollfd> entries) {
  for (auto [i, entry] : enumerate(entries)) {
    if (entry.fd < 0 || entry.revents == 0)
      continue;
    members[i + 1].reset();
    if (!is_contained(left, unsigned(i + 1)))
      left.push_back(unsigned(i + 1));
  }
}

void Hub::Impl::acceptAll(const FileDescriptor &listener) {
  for (size_t i = 0; i < maxPending && makeRoom(); ++i) {
    FileDescriptor socket(::accept4(listener.get(), nullptr, nullptr,
                                    SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      pending.push_back({std::move(socket), HubHandshake(job, randomNonce()),
                         Deadline::Clock::now(), Deadline::in(pendingSeconds)});
      continue;
    }
    if (errno == EMFILE || errno == ENFILE) {
      // Too many open files: one that waits here makes room.
      if (!pending.empty())
        pending.pop_front();
      drop(Refusal::displaced);
      ::poll(nullptr, 0, /*timeout=*/10);
    }
    return;
  }
}

bool Hub::Impl::advance(Pending &one) {
  if (one.events) {
    char bytes[maxBytesBeforeProof + 1];
    ssize_t got = ::recv(one.socket.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
      drop(Refusal::ended);
      return true;
    }
    std::string reply;
    HubHandshake::State state = HubHandshake::State::open;
    if (got > 0)
      state = one.handshake.receive(StringRef(bytes, size_t(got)), reply);
    if (state == HubHandshake::State::proved)
      admit(one);
    sendNow(one.socket, reply);
    if (state != HubHandshake::State::open) {
      if (one.handshake.refusal() != Refusal::none)
        drop(one.handshake.refusal());
      return true;
    }
  }
  if (!one.deadline.hasPassed())
    return false;
  drop(Refusal::slow);
  return true;
}

/// Gives it its place among the members, unless that is taken.
void Hub::Impl::admit(Pending &one) {
  unsigned process = one.handshake.process();
  std::string reply;
  bool isFree = !members[process];
  if (isFree)
    reply = one.handshake.accept();
  else
    reply = one.handshake.refuse(
        Refusal::twice,
        formatv("process {0} has joined already: two processes were given the "
                "same number",
                process)
            .str());
  sendNow(one.socket, reply);
  if (isFree)
    members[process] = std::move(one.socket);
}

static std::string processesOf(ArrayRef<std::string> numbers) {
  return (numbers.size() == 1 ? "process " : "processes ") +
         firstNames(numbers);
}

/// The error of this process, and of those that have joined.
Error Hub::Impl::timeout(double seconds) {
  static constexpr StringLiteral kinds[refusalKinds] = {
      "",
      "that sent garbage",
      "that ended early",
      "that were too slow",
      "for which there was no room",
      "with a wrong token",
      "of another job",
      "with another number of processes",
      "of a process that had joined already"};
  std::vector<std::string> late, gone, notes;
  for (unsigned process = 1; process < members.size(); ++process)
    if (!members[process])
      late.push_back(std::to_string(process));
  for (unsigned process : left)
    gone.push_back(std::to_string(process));
  if (!gone.empty())
    notes.push_back(formatv("{0} joined, but left", processesOf(gone)));
  for (unsigned kind = 1; kind < refusalKinds; ++kind)
    if (dropped[kind] > 0)
      notes.push_back(formatv("{0} dropped {1}", dropped[kind], kinds[kind]));
  std::string text =
      formatv("{0} of {1} did not join at {2} for {3} s{4}{5}{6}",
              processesOf(late), members.size(), at, textOfNumber(seconds),
              isNameOfLoopback ? "; it listens on loopback only, where no "
                                 "other machine can reach it: give "
                                 "--rendezvous ADDRESS:PORT"
                               : "",
              notes.empty() ? "" : "; connections: ", join(notes, ", "));
  std::string frame =
      frameOf(MessageWriter(MessageKind::failed).rest(text).message());
  for (const FileDescriptor &member : members)
    if (member)
      sendNow(member, frame);
  return failure("{0}", text);
}

} // namespace colrow::runtime
