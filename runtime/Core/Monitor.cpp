// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tick looks at everything that can fail; what happens between ticks wakes
// it. A machine's processes are ended through handles (pidfd), never by number.

#include "colrow/runtime/Core/Monitor.h"
#include "KnownProcesses.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/FatalSignals.h"
#include "colrow/runtime/Support/LastWord.h"
#include "colrow/runtime/Support/ShownText.h"
#include "colrow/runtime/Support/Thread.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

/// How long the process that ends a machine's part waits for leave to speak.
static constexpr double claimSeconds = 0.5;
/// A wait that only the monitor ends.
static constexpr double noLimit = 1e9;
/// For how long a process that was stopped may still be hearing old news.
static constexpr std::chrono::seconds backTime(1);

using Clock = std::chrono::steady_clock;

struct Monitor::Impl {
  Impl(StarControl &star, double limit, const char *tool)
      : star(star), limit(limit), tool(tool),
        tick(std::clamp(limit / 20, 0.005, 0.1)),
        wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), known(star, limit) {
    if (Error error = thread.start([this] { run(); }))
      end(star.nameOf(star.process()) + ": " + toString(std::move(error)));
  }
  ~Impl();

  void run();
  double wait();
  void beat(double passed);
  std::optional<std::string> findFailure() const;
  double grace() const;
  Claim claim();
  bool mayTell(bool wasAway);
  double awaySeconds() const;
  [[noreturn]] void end(StringRef text);
  void endNeighbours();

  StarControl &star;
  const double limit;
  const char *tool;
  const double tick;
  FileDescriptor wake;
  /// Of the thread that calls gather().
  std::atomic<uint64_t> hostProgress{0};
  std::atomic<bool> isGathering{false};
  std::mutex mutex; // of all below
  std::condition_variable hasLooked;
  Clock::time_point lastLook = Clock::now(), wasAwayUntil = lastLook;
  KnownProcesses known;
  std::optional<pid_t> parent;
  bool isLeaving = false, isStopping = false;
  double sinceBeat = 0;
  Thread thread;
};

Monitor::Impl::~Impl() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isStopping = true;
  }
  (void)::eventfd_write(wake.get(), 1);
  thread.join();
  useLastWord(nullptr, 0);
  noteFatalSignals(nullptr);
}

std::optional<std::string> Monitor::Impl::findFailure() const {
  if (parent && ::getppid() != *parent)
    return "the launcher of this process is gone";
  return known.findFailure();
}

/// Until something happens, or a tick has passed. Returns how long.
double Monitor::Impl::wait() {
  std::vector<pollfd> files = {{wake.get(), POLLIN, 0},
                               {star.eventDescriptor(), POLLIN, 0}};
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (known.watched.machine && !isLeaving)
      for (unsigned process : known.watched.machine->processes())
        if (process != star.process())
          files.push_back({known.watched.machine->pidfd(process), POLLIN, 0});
  }
  auto begin = Clock::now();
  (void)::poll(files.data(), files.size(), int(tick * 1e3));
  std::chrono::duration<double> passed = Clock::now() - begin;
  return passed.count();
}

void Monitor::Impl::beat(double passed) {
  const Beat &own = known.tell(hostProgress.load(), isGathering.load());
  sinceBeat += passed;
  if (sinceBeat < beatSeconds(limit))
    return;
  sinceBeat = 0;
  star.beat(own.text());
}

double Monitor::Impl::awaySeconds() const {
  return std::chrono::duration<double>(Clock::now() - lastLook).count();
}

void Monitor::Impl::run() {
  for (;;) {
    double passed = wait();
    // Stopped for so long that the others may have given up: what they have
    // said meanwhile comes first, and needs a moment to be read.
    bool wasAway = passed > limit;
    if (wasAway)
      ::usleep(useconds_t(tick * 1e6));
    std::lock_guard<std::mutex> lock(mutex);
    if (isStopping)
      return;
    star.clearEvents();
    if (wasAway)
      wasAwayUntil = Clock::now() + backTime;
    if (isLeaving) {
      lastLook = Clock::now();
      continue;
    }
    // A longer break is one of this process' own.
    passed = std::min(passed, 2 * tick);
    beat(passed);
    known.look(passed);
    if (std::optional<std::string> text = findFailure())
      end(*text);
    lastLook = Clock::now();
    hasLooked.notify_all();
  }
}

void Monitor::Impl::endNeighbours() {
  const Machine *machine = known.watched.machine.get();
  if (!machine)
    return;
  for (unsigned process : machine->processes())
    if (process != star.process())
      (void)::syscall(SYS_pidfd_send_signal, machine->pidfd(process), SIGKILL,
                      nullptr, 0);
}

/// For other machines to speak first, where process 0 cannot be asked.
double Monitor::Impl::grace() const {
  const Machine *machine = known.watched.machine.get();
  return machine ? graceSeconds(machine->placement(), star.process())
                 : graceSeconds(star.process());
}

/// Where it is for others to speak first: process 0 may answer late, and its
/// machine's processes end it, if they live, once they have spoken. Theirs
/// alone is to say that it is gone, whoever has ended it.
Claim Monitor::Impl::claim() {
  if (!known.canFirstAnswer())
    return Claim::unknown;
  double seconds = grace();
  Clock::time_point end =
      Clock::now() + std::chrono::milliseconds(int64_t(seconds * 1e3));
  Claim answer = star.claim(claimSeconds);
  while (answer == Claim::unknown && Clock::now() < end) {
    bool isGone = star.stateOf(0).isGone;
    ::usleep(useconds_t((isGone ? claimSeconds : tick) * 1e6));
    bool isTold = isGone || star.failureNotice();
    answer = isTold ? Claim::taken : star.claim(0);
  }
  return answer;
}

/// The first of a machine's processes has the right among them, but others may
/// not know their machine yet: process 0 is asked. Whoever sends a notice has
/// told the user; of a process that was away other machines may have told it
/// long ago.
bool Monitor::Impl::mayTell(bool wasAway) {
  const Machine *machine = known.watched.machine.get();
  if (star.failureNotice())
    return false;
  bool hasAll = machine && machine->processes().size() == star.processes();
  Claim answer = claim();
  if (answer == Claim::taken ||
      (answer == Claim::unknown && wasAway && !hasAll))
    return false;
  return takeLastWord();
}

/// The machine's first process to notice ends the others; of the machines the
/// first one speaks. The others stay until they are ended: process 0 has to
/// answer, and a launcher may kill all once one has gone.
void Monitor::Impl::end(StringRef text) {
  if (const Machine *machine = known.watched.machine.get()) {
    machine->page().failed().store(1);
    if (!machine->page().claim(star.process())) {
      ::usleep(useconds_t((2 * claimSeconds + grace()) * 1e6));
      ::_exit(1);
    }
  }
  // Also where the main thread is the first to run again.
  bool wasAway = Clock::now() < wasAwayUntil || awaySeconds() > limit;
  bool tells = mayTell(wasAway);
  if (tells)
    writeErrorLine(tool, text);
  if (tells || !wasAway)
    star.sendFailure(text);
  // Other machines are told by process 0, which needs a moment.
  ::usleep(100000);
  endNeighbours();
  ::_exit(1);
}

Monitor::Monitor(std::unique_ptr<StarControl> control, double limit,
                 const char *tool)
    : star(std::move(control)),
      impl(std::make_unique<Impl>(*star, limit, tool)) {}
Monitor::~Monitor() = default;

Expected<std::vector<std::string>> Monitor::gather(StringRef mine,
                                                   double seconds) {
  impl->hostProgress.fetch_add(1);
  impl->isGathering.store(true);
  auto all = star->gather(mine, seconds != 0 ? seconds : noLimit);
  impl->isGathering.store(false);
  if (mine.size() > maxBytes || (all && !hasFailed()))
    return all;
  // What is known of the process that did not come says more. After a failure
  // ranks compute anything, and so what they agree on is nothing.
  std::string text = all ? "the run has failed" : toString(all.takeError());
  std::unique_lock<std::mutex> lock(impl->mutex);
  impl->end(impl->known.findGone().value_or(text));
}

void Monitor::progress() { impl->hostProgress.fetch_add(1); }

/// Never by what was known before this process was stopped, if it was.
bool Monitor::hasFailed() const {
  std::unique_lock<std::mutex> lock(impl->mutex);
  impl->hasLooked.wait(lock, [&] {
    return impl->isLeaving || impl->awaySeconds() < impl->limit / 2;
  });
  const Machine *machine = impl->known.watched.machine.get();
  return star->failureNotice() ||
         (machine && machine->page().failed().load() != 0);
}

bool Monitor::mayTell() {
  std::lock_guard<std::mutex> lock(impl->mutex);
  return impl->mayTell(/*wasAway=*/false);
}

void Monitor::fail(StringRef text) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  impl->end(text);
}

void Monitor::watch(Watched watched) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  const JobPage &page = watched.machine->page();
  useLastWord(&page.claimed(), process() + 1);
  noteFatalSignals(&page.status(watched.mine.first).signal);
  impl->known.watched = std::move(watched);
}

void Monitor::unwatch() {
  std::lock_guard<std::mutex> lock(impl->mutex);
  impl->known.watched.place = [](unsigned) { return "the end"; };
}

void Monitor::endWith(pid_t parent) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  impl->parent = parent;
}

void Monitor::leave() {
  {
    std::lock_guard<std::mutex> lock(impl->mutex);
    impl->isLeaving = true;
  }
  Error error = star->leave();
  if (!error)
    return;
  std::lock_guard<std::mutex> lock(impl->mutex);
  impl->end(toString(std::move(error)));
}

} // namespace colrow::runtime
