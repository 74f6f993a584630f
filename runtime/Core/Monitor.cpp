// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tick looks at everything that can fail; what happens between ticks wakes
// it. A machine's processes are ended through handles (pidfd), never by number.

#include "colrow/runtime/Core/Monitor.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

/// How long the process that ends a machine's part waits for leave to speak.
static constexpr double claimSeconds = 0.5;
/// A wait that only the monitor ends.
static constexpr double noLimit = 1e9;

namespace {
/// For how long a number has stood still, counted in ticks of this process: a
/// job that was suspended as a whole has missed nothing.
class Stillness {
public:
  void see(uint64_t number, double tick) {
    seconds = number == last ? seconds + tick : 0;
    last = number;
  }
  double age() const { return seconds; }

private:
  uint64_t last = 0;
  double seconds = 0;
};

/// What a process tells of itself with each beat.
struct Beat {
  uint64_t serial = 0;
  uint64_t progress = 0;  // moves when it gets on
  bool isWaiting = false; // for others
  std::string place = ""; // of the rank that is furthest behind

  std::string text() const {
    return formatv("{0} {1} {2} {3}", serial, progress, int(isWaiting), place);
  }
  static Beat read(StringRef text) {
    Beat beat;
    int waits = 0;
    if (!text.consumeInteger(10, beat.serial) && text.consume_front(" ") &&
        !text.consumeInteger(10, beat.progress) && text.consume_front(" ") &&
        !text.consumeInteger(10, waits) && text.consume_front(" "))
      beat.place = text.str();
    beat.isWaiting = waits != 0;
    return beat;
  }
};

/// What is known of a process.
struct Known {
  Beat beat;
  Stillness serial, heartbeat, progress;
};
} // namespace

struct Monitor::Impl {
  Impl(StarControl &star, double limit, const char *tool)
      : star(star), limit(limit), tool(tool),
        tick(std::clamp(limit / 20, 0.005, 0.1)),
        wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), known(star.processes()),
        thread([this] { run(); }) {}
  ~Impl();

  void run();
  double wait();
  void beat(double passed);
  void look(double passed);
  Beat ownBeat() const;
  bool isNeighbour(unsigned process) const;
  std::optional<std::string> findFailure();
  std::optional<std::string> findGone();
  std::optional<std::string> findSilent();
  std::optional<std::string> findStuck();
  std::string nameOf(unsigned process);
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
  Watched watched;
  bool isLeaving = false, isStopping = false;
  std::vector<Known> known; // of all processes
  double sinceBeat = 0;
  std::thread thread;
};

Monitor::Impl::~Impl() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isStopping = true;
  }
  (void)::eventfd_write(wake.get(), 1);
  thread.join();
}

bool Monitor::Impl::isNeighbour(unsigned process) const {
  return watched.machine && process != star.process() &&
         is_contained(watched.machine->processes(), process);
}

/// Progress is that of the host and of all ranks; a process waits when its host
/// does, or when all ranks do that are running.
Beat Monitor::Impl::ownBeat() const {
  Beat beat;
  beat.serial = known[star.process()].beat.serial + 1;
  beat.progress = hostProgress.load();
  beat.isWaiting = isGathering.load();
  if (!watched.machine)
    return beat;
  bool isRunning = false, isBusy = false;
  unsigned last = watched.mine.first;
  for (unsigned r = watched.mine.first; r < watched.mine.end(); ++r) {
    const RankStatus &status = watched.machine->page().status(r);
    beat.progress += status.executed.load();
    isRunning |= status.op.load() >= 0;
    isBusy |= status.op.load() >= 0 && status.waitingSince.load() == 0;
    if (status.executed.load() <
        watched.machine->page().status(last).executed.load())
      last = r;
  }
  beat.isWaiting |= isRunning && !isBusy;
  beat.place = watched.place(last);
  return beat;
}

/// "rank 3 (process 3), last at step 5, ..."
std::string Monitor::Impl::nameOf(unsigned process) {
  const Machine *machine = watched.machine;
  if (!isNeighbour(process) && process != star.process()) {
    const std::string &place = known[process].beat.place;
    return star.nameOf(process) + (place.empty() ? "" : ", last at " + place);
  }
  if (!machine)
    return star.nameOf(process);
  // Of several ranks the one that is furthest behind.
  unsigned share = watched.mine.count, rank = process * share;
  auto executed = [&](unsigned r) {
    return machine->page().status(r).executed.load();
  };
  for (unsigned r = rank; r < (process + 1) * share; ++r)
    if (executed(r) < executed(rank))
      rank = r;
  return formatv("rank {0} ({1}), last at {2}", rank, star.nameOf(process),
                 watched.place(rank));
}

std::optional<std::string> Monitor::Impl::findGone() {
  for (unsigned process = 0; process < star.processes(); ++process) {
    if (process == star.process())
      continue;
    bool isGone = star.stateOf(process).isGone;
    if (!isGone && isNeighbour(process)) {
      pollfd ended = {watched.machine->pidfd(process), POLLIN, 0};
      isGone = ::poll(&ended, 1, 0) > 0;
    }
    if (isGone)
      return nameOf(process) + ": is gone";
  }
  return std::nullopt;
}

/// What another machine's process says comes through process 0, which may be
/// the silent one: it is asked first.
std::optional<std::string> Monitor::Impl::findSilent() {
  for (unsigned process = 0; process < star.processes(); ++process) {
    if (process == star.process())
      continue;
    const Known &other = known[process];
    double age =
        isNeighbour(process) ? other.heartbeat.age() : other.serial.age();
    if (age > limit)
      return formatv("{0}: does not answer for {1} s", nameOf(process),
                     textOfNumber(limit))
          .str();
  }
  return std::nullopt;
}

/// A process that lives, does not wait, and does not get on, while this one
/// waits.
std::optional<std::string> Monitor::Impl::findStuck() {
  const Known &own = known[star.process()];
  if (!own.beat.isWaiting || own.progress.age() <= limit)
    return std::nullopt;
  bool allWait = true;
  for (unsigned process = 0; process < star.processes(); ++process) {
    const Known &other = known[process];
    allWait &= other.beat.isWaiting && other.progress.age() > 2 * limit;
    if (!other.beat.isWaiting && other.progress.age() > limit)
      return formatv("{0}: others wait for it, and it has not got on for {1} s",
                     nameOf(process), textOfNumber(limit))
          .str();
  }
  if (!allWait)
    return std::nullopt;
  return formatv("all processes wait for each other for {0} s; {1}",
                 textOfNumber(2 * limit), nameOf(star.process()))
      .str();
}

std::optional<std::string> Monitor::Impl::findFailure() {
  if (auto gone = findGone())
    return gone;
  if (auto silent = findSilent())
    return silent;
  if (auto stuck = findStuck())
    return stuck;
  return star.failureNotice();
}

/// Until something happens, or a tick has passed. Returns how long, at most two
/// ticks: a longer break is one of this process' own.
double Monitor::Impl::wait() {
  std::vector<pollfd> files = {{wake.get(), POLLIN, 0},
                               {star.eventDescriptor(), POLLIN, 0}};
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (watched.machine && !isLeaving)
      for (unsigned process : watched.machine->processes())
        if (process != star.process())
          files.push_back({watched.machine->pidfd(process), POLLIN, 0});
  }
  auto begin = std::chrono::steady_clock::now();
  (void)::poll(files.data(), files.size(), int(tick * 1e3));
  std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - begin;
  return std::min(passed.count(), 2 * tick);
}

void Monitor::Impl::beat(double passed) {
  if (watched.machine)
    for (unsigned r = watched.mine.first; r < watched.mine.end(); ++r)
      watched.machine->page().status(r).heartbeat.fetch_add(1);
  Known &own = known[star.process()];
  own.beat = ownBeat();
  sinceBeat += passed;
  if (sinceBeat < limit / 10)
    return;
  sinceBeat = 0;
  star.beat(own.beat.text());
}

void Monitor::Impl::look(double passed) {
  for (unsigned process = 0; process < known.size(); ++process) {
    Known &one = known[process];
    if (process != star.process())
      one.beat = Beat::read(star.stateOf(process).lastBeat);
    one.serial.see(one.beat.serial, passed);
    one.progress.see(one.beat.progress, passed);
    if (isNeighbour(process))
      one.heartbeat.see(watched.machine->page()
                            .status(process * watched.mine.count)
                            .heartbeat.load(),
                        passed);
  }
}

void Monitor::Impl::run() {
  for (;;) {
    double passed = wait();
    std::lock_guard<std::mutex> lock(mutex);
    if (isStopping)
      return;
    star.clearEvents();
    if (isLeaving)
      continue;
    beat(passed);
    look(passed);
    if (std::optional<std::string> text = findFailure())
      end(*text);
  }
}

void Monitor::Impl::endNeighbours() {
  if (!watched.machine)
    return;
  for (unsigned process : watched.machine->processes())
    if (process != star.process())
      (void)::syscall(SYS_pidfd_send_signal, watched.machine->pidfd(process),
                      SIGKILL, nullptr, 0);
}

/// The machine's first process to notice ends the others; of the machines the
/// first one speaks.
void Monitor::Impl::end(StringRef text) {
  if (watched.machine) {
    watched.machine->page().failed().store(1);
    if (!watched.machine->page().claim(star.process()))
      ::_exit(1);
  }
  if (star.claim(claimSeconds) != Claim::taken) {
    std::string line = (Twine(tool) + ": error: " + text + "\n").str();
    (void)!::write(STDERR_FILENO, line.data(), line.size());
  }
  star.sendFailure(text);
  endNeighbours();
  // Other machines are told by process 0, which needs a moment.
  ::usleep(100000);
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
  if (all || mine.size() > maxBytes)
    return all;
  // What is known of the process that did not come says more.
  std::string text = toString(all.takeError());
  std::unique_lock<std::mutex> lock(impl->mutex);
  impl->end(impl->findGone().value_or(text));
}

void Monitor::progress() { impl->hostProgress.fetch_add(1); }

bool Monitor::hasFailed() const {
  if (star->failureNotice())
    return true;
  std::lock_guard<std::mutex> lock(impl->mutex);
  const Machine *machine = impl->watched.machine;
  return machine && machine->page().failed().load() != 0;
}

void Monitor::watch(Watched watched) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  impl->watched = std::move(watched);
}

void Monitor::unwatch() { watch({}); }

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
