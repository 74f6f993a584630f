// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The control plane as others see it: beginning, end, and what a monitor asks.

#include "colrow/runtime/Job/StarControl.h"
#include "StarImpl.h"
#include "colrow/runtime/Job/HostIdentity.h"
#include "colrow/runtime/Job/ToldByFirst.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include <cassert>
#include <csignal>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

using namespace llvm;

namespace colrow::runtime {

StarControl::Impl::Impl(unsigned process, unsigned processes,
                        std::vector<FileDescriptor> sockets, double limit)
    : process(process), processes(processes), limit(limit),
      events(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), states(processes),
      parts(processes) {
  if (isHub())
    links.push_back(nullptr);
  for (FileDescriptor &socket : sockets)
    links.push_back(std::make_unique<Link>(std::move(socket)));
}

StarControl::Impl::~Impl() { stop(); }

Error StarControl::Impl::start() {
  if (!events || !wake)
    return failure("cannot make an eventfd: {0}",
                   std::error_code(errno, std::generic_category()).message());
  // Signals are for the thread that has asked for them.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Error error = thread.start([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error ? prefixed(nameOf(process), std::move(error)) : Error::success();
}

void StarControl::Impl::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isStopping = true;
  }
  (void)::eventfd_write(wake.get(), 1);
  if (thread.joinable())
    thread.join();
  for (auto &link : links)
    if (link)
      link->close();
}

/// Process 0: what it has sent must have arrived before it closes, since the
/// kernel drops what is under way when something is left unread here.
void StarControl::Impl::waitForEnds() {
  Deadline deadline = Deadline::in(std::min(limit, 2.0));
  auto areAll = [this](auto predicate) {
    return all_of(links, [&](auto &link) { return !link || predicate(*link); });
  };
  Lock lock(mutex);
  while (!areAll([](Link &link) {
    return link.hasEnded() || !link.hasUnsent();
  }) && !deadline.hasPassed())
    changed.wait_until(lock, deadline.orIn(0.01).time());
  for (auto &link : links)
    if (link)
      link->shutdownWriting();
  while (!areAll([](Link &link) { return link.hasEnded(); }) &&
         !deadline.hasPassed())
    changed.wait_until(lock, deadline.time());
}

StarControl::StarControl(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
StarControl::~StarControl() = default;

unsigned StarControl::process() const { return impl->process; }
unsigned StarControl::processes() const { return impl->processes; }

/// What a process says of itself when the star begins.
static Error checkHost(unsigned process, StringRef text) {
  if (text.empty() || text.size() > 256 || !all_of(text, isPrint))
    return failure("process {0} does not say which machine it is on", process);
  return Error::success();
}

Expected<std::unique_ptr<StarControl>>
StarControl::create(unsigned process, unsigned processes,
                    std::vector<FileDescriptor> sockets, double limit,
                    double meetSeconds) {
  assert(process < processes &&
         sockets.size() == (process == 0 ? processes - 1 : 1));
  std::unique_ptr<StarControl> star(new StarControl(
      std::make_unique<Impl>(process, processes, std::move(sockets), limit)));
  Impl &impl = *star->impl;
  if (Error error = impl.start())
    return std::move(error);
  Expected<std::vector<std::string>> all =
      star->gather(hostName(), meetSeconds);
  Impl::Lock lock(impl.mutex);
  if (!all && impl.isToldByHub) {
    consumeError(all.takeError());
    return make_error<ToldByFirst>();
  }
  if (!all)
    return all.takeError();
  for (auto [other, host] : enumerate(*all)) {
    if (Error error = checkHost(unsigned(other), host))
      return std::move(error);
    impl.hosts.push_back(std::move(host));
  }
  impl.hasSeveralHosts = !all_equal(impl.hosts);
  return star;
}

Expected<std::vector<std::string>> StarControl::gather(StringRef mine,
                                                       double seconds) {
  return impl->gather(gatherPurpose, mine, seconds);
}

Error StarControl::leave() {
  Expected<std::vector<std::string>> all = impl->gather(leavePurpose, "", 0);
  if (!all)
    return all.takeError();
  if (impl->isHub())
    impl->waitForEnds();
  impl->stop();
  return Error::success();
}

std::string StarControl::nameOf(unsigned process) const {
  return impl->nameOf(process);
}

/// What `to` does not know by itself, in as few messages as it fits.
static std::vector<MessageWriter>
beatsFor(unsigned to, ArrayRef<ProcessState> states, ArrayRef<unsigned> about) {
  std::vector<MessageWriter> messages;
  for (unsigned other : about) {
    const ProcessState &state = states[other];
    if (other == to || state.isGone)
      continue;
    if (messages.empty() ||
        messages.back().size() + 8 + state.lastBeat.size() > maxFrameBytes)
      messages.emplace_back(MessageKind::beat);
    messages.back().number(other).text(state.lastBeat);
  }
  return messages;
}

void StarControl::beat(StringRef progress) {
  progress = progress.take_front(maxBeatBytes);
  Impl::Lock lock(impl->mutex);
  impl->states[impl->process].lastBeat = progress.str();
  auto about = impl->isHub() ? to_vector(seq(0u, impl->processes))
                             : SmallVector<unsigned>{impl->process};
  for (auto [to, link] : enumerate(impl->links)) {
    if (!link)
      continue;
    for (const auto &message : beatsFor(unsigned(to), impl->states, about))
      if (link->postIfIdle(message.message()))
        (void)::eventfd_write(impl->wake.get(), 1);
  }
}

ProcessState StarControl::stateOf(unsigned process) const {
  Impl::Lock lock(impl->mutex);
  return impl->states[process];
}

void StarControl::sendFailure(StringRef text) {
  text = text.take_front(maxBeatBytes);
  Impl::Lock lock(impl->mutex);
  if (!impl->noticed)
    impl->noticed = text.str();
  MessageWriter message(MessageKind::notice);
  message.rest(text);
  if (impl->isHub())
    impl->postToOthers(0, message);
  else
    impl->post(0, message);
  impl->breakDown(text);
  impl->signalEvent();
}

std::optional<std::string> StarControl::failureNotice() const {
  Impl::Lock lock(impl->mutex);
  return impl->noticed;
}

Claim StarControl::claim(double seconds) {
  Impl::Lock lock(impl->mutex);
  if (impl->isHub())
    return std::exchange(impl->isClaimed, true) ? Claim::taken : Claim::granted;
  if (!std::exchange(impl->hasAsked, true))
    impl->post(0, MessageWriter(MessageKind::claim));
  Deadline deadline = Deadline::in(seconds);
  while (!impl->claimAnswer && !impl->states[0].isGone && !deadline.hasPassed())
    impl->changed.wait_until(lock, deadline.time());
  if (!impl->claimAnswer)
    return Claim::unknown;
  return *impl->claimAnswer ? Claim::granted : Claim::taken;
}

int StarControl::eventDescriptor() const { return impl->events.get(); }

void StarControl::clearEvents() {
  eventfd_t count;
  (void)::eventfd_read(impl->events.get(), &count);
}

Expected<std::vector<FileDescriptor>>
takeSockets(const std::vector<int> &descriptors) {
  for (auto [i, fd] : enumerate(descriptors)) {
    struct stat status;
    if (fd <= STDERR_FILENO || ::fstat(fd, &status) != 0 ||
        !S_ISSOCK(status.st_mode))
      return failure("COLROW_CONTROL_FDS: {0} is no socket that tp-run -n has "
                     "passed on",
                     fd);
    if (is_contained(ArrayRef(descriptors).take_front(i), fd))
      return failure("COLROW_CONTROL_FDS: {0} stands there twice", fd);
  }
  std::vector<FileDescriptor> sockets;
  for (int fd : descriptors) {
    (void)::fcntl(fd, F_SETFD, FD_CLOEXEC);
    sockets.emplace_back(fd);
  }
  return sockets;
}

} // namespace colrow::runtime
