// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Judgement on processes: gone, silent, or stuck while others wait.

#include "KnownProcesses.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <poll.h>

using namespace llvm;

namespace colrow::runtime {

std::string Beat::text() const {
  return formatv("{0} {1} {2} {3}", serial, progress, int(isWaiting), place);
}

Beat Beat::read(StringRef text) {
  Beat beat;
  int waits = 0;
  if (!text.consumeInteger(10, beat.serial) && text.consume_front(" ") &&
      !text.consumeInteger(10, beat.progress) && text.consume_front(" ") &&
      !text.consumeInteger(10, waits) && text.consume_front(" "))
    beat.place = text.str();
  beat.isWaiting = waits != 0;
  return beat;
}

bool KnownProcesses::isNeighbour(unsigned process) const {
  return watched.machine && process != star.process() &&
         is_contained(watched.machine->processes(), process);
}

/// Open MPI's launcher takes as long to end other machines' processes.
static constexpr double launcherSeconds = 3;
/// All are to be gone soon after the limit.
static constexpr double mostGrace = 4.5;

double graceSeconds(unsigned process) {
  return process <= 1 ? 0 : launcherSeconds;
}

double graceSeconds(const Placement &placement, unsigned process) {
  unsigned machine = placement.machines[process];
  bool isFirstAlone = llvm::count(placement.machines, 0u) == 1;
  return machine <= unsigned(isFirstAlone)
             ? 0
             : std::min(launcherSeconds + machine - isFirstAlone, mostGrace);
}

/// Whether what it says comes from itself. All else comes through process 0.
bool KnownProcesses::isConnected(unsigned process) const {
  return process != star.process() && (process == 0 || star.process() == 0);
}

/// Who has not come to the page yet tells of itself by messages.
bool KnownProcesses::isByPage(unsigned process) const {
  return isNeighbour(process) && known[process].heartbeat.hasBegun();
}

/// Nothing is known of one whose beats do not arrive: it may be another one,
/// process 0, that does not pass them on.
bool KnownProcesses::isHeard(unsigned process) const {
  auto isRecent = [&](unsigned other) {
    return other == star.process() || known[other].serial.age() < limit / 2;
  };
  return isRecent(process) && isRecent(0);
}

/// One that waits for no other, if there is one: programs of ranks differ, and
/// so do the numbers of instructions that they have executed.
unsigned KnownProcesses::furthestBehind(unsigned process) const {
  const JobPage &page = watched.machine->page();
  auto key = [&](unsigned r) {
    const RankStatus &status = page.status(r);
    bool isBusy = status.op.load() >= 0 && status.waitingSince.load() == 0;
    return std::pair(!isBusy, status.executed.load());
  };
  unsigned share = watched.mine.count, rank = process * share;
  auto least = key(rank);
  for (unsigned r = rank + 1; r < (process + 1) * share; ++r)
    if (auto other = key(r); other < least) {
      least = other;
      rank = r;
    }
  return rank;
}

/// Progress is that of the host and of all ranks; a process waits when its host
/// does, or when all ranks do that are running.
const Beat &KnownProcesses::tell(uint64_t hostProgress, bool isGathering) {
  Beat &beat = known[star.process()].beat;
  ++beat.serial;
  beat.progress = hostProgress;
  beat.isWaiting = isGathering;
  if (!watched.machine)
    return beat;
  bool isRunning = false, isBusy = false;
  const JobPage &page = watched.machine->page();
  for (unsigned r = watched.mine.first; r < watched.mine.end(); ++r) {
    RankStatus &status = page.status(r);
    status.heartbeat.fetch_add(1);
    beat.progress += status.executed.load();
    isRunning |= status.op.load() >= 0;
    isBusy |= status.op.load() >= 0 && status.waitingSince.load() == 0;
  }
  beat.isWaiting |= isRunning && !isBusy;
  beat.place = watched.place(furthestBehind(star.process()));
  return beat;
}

void KnownProcesses::look(double passed) {
  for (unsigned process = 0; process < known.size(); ++process) {
    Known &one = known[process];
    ProcessState state = star.stateOf(process);
    if (process != star.process())
      one.beat = Beat::read(state.lastBeat);
    // While process 0 is silent, nobody can be heard through it.
    bool counts =
        process == star.process() || isConnected(process) || isHeard(0);
    one.serial.see(one.beat.serial, counts ? passed : 0);
    one.progress.see(one.beat.progress, counts ? passed : 0);
    if (!isNeighbour(process))
      continue;
    const JobPage &page = watched.machine->page();
    const RankStatus &status = page.status(process * watched.mine.count);
    one.heartbeat.see(status.heartbeat.load(), passed);
    bool lives = one.heartbeat.hasBegun() && one.heartbeat.age() == 0;
    one.connection.see(state.messages, lives ? passed : 0);
  }
}

/// "rank 3 (process 3), last at step 5, ..."
std::string KnownProcesses::nameOf(unsigned process) const {
  const Machine *machine = watched.machine.get();
  if (!isNeighbour(process) && process != star.process()) {
    const std::string &place = known[process].beat.place;
    return star.nameOf(process) + (place.empty() ? "" : ", last at " + place);
  }
  if (!machine)
    return star.nameOf(process);
  unsigned rank = furthestBehind(process);
  return formatv("rank {0} ({1}), last at {2}", rank, star.nameOf(process),
                 watched.place(rank));
}

bool KnownProcesses::hasEnded(unsigned process) const {
  if (star.stateOf(process).isGone)
    return true;
  if (!isNeighbour(process))
    return false;
  pollfd ended = {watched.machine->pidfd(process), POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
}

/// A signal that it could not take is not known: it may also have ended itself.
std::string KnownProcesses::endOf(unsigned process) const {
  int signal = 0;
  if (isNeighbour(process))
    signal = watched.machine->page()
                 .status(process * watched.mine.count)
                 .signal.load();
  if (signal == 0)
    return "is gone";
  return formatv("was ended by signal {0} ({1})", signal, strsignal(signal));
}

std::optional<std::string> KnownProcesses::findGone() const {
  for (unsigned process = 0; process < star.processes(); ++process)
    if (process != star.process() && hasEnded(process))
      return nameOf(process) + ": " + endOf(process);
  return std::nullopt;
}

bool KnownProcesses::canFirstAnswer() const {
  return !isNeighbour(0) || !(hasEnded(0) || known[0].heartbeat.age() > limit);
}

/// Of process 0 its own machine is to know first: elsewhere its last beat may
/// be older than its last sign of life.
std::optional<std::string> KnownProcesses::findSilent() const {
  for (unsigned process = 0; process < star.processes(); ++process) {
    if (process == star.process())
      continue;
    bool isFarFirst = process == 0 && !isNeighbour(0);
    const Known &other = known[process];
    double age = isByPage(process) ? other.heartbeat.age() : other.serial.age();
    if (age > limit + (isFarFirst ? beatSeconds(limit) : 0))
      return formatv("{0}: does not answer for {1} s", nameOf(process),
                     textOfNumber(limit))
          .str();
  }
  return std::nullopt;
}

/// A connection that is open, but lets nothing through.
std::optional<std::string> KnownProcesses::findCutOff() const {
  for (unsigned process = 0; process < star.processes(); ++process)
    if (isConnected(process) && isByPage(process) &&
        known[process].connection.age() > limit)
      return formatv("{0}: nothing has come over its connection to process 0 "
                     "for {1} s, though both live",
                     nameOf(std::max(process, star.process())),
                     textOfNumber(limit))
          .str();
  return std::nullopt;
}

/// A process that lives, does not wait, and does not get on, while this one
/// waits.
std::optional<std::string> KnownProcesses::findStuck() const {
  const Known &own = known[star.process()];
  if (!own.beat.isWaiting || own.progress.age() <= limit)
    return std::nullopt;
  bool allWait = true;
  for (unsigned process = 0; process < star.processes(); ++process) {
    const Known &other = known[process];
    allWait &= isHeard(process) && other.beat.isWaiting &&
               other.progress.age() > 2 * limit;
    if (isHeard(process) && !other.beat.isWaiting &&
        other.progress.age() > limit)
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

std::optional<std::string> KnownProcesses::findFailure() const {
  if (auto gone = findGone())
    return gone;
  if (auto silent = findSilent())
    return silent;
  if (auto cutOff = findCutOff())
    return cutOff;
  if (auto stuck = findStuck())
    return stuck;
  return star.failureNotice();
}

} // namespace colrow::runtime
