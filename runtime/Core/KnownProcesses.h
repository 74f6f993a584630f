// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a process knows of all of its job: what each tells of itself, and for
// how long it has told nothing new.

#ifndef COLROW_RUNTIME_CORE_KNOWNPROCESSES_H
#define COLROW_RUNTIME_CORE_KNOWNPROCESSES_H

#include "colrow/runtime/Core/Monitor.h"
#include <algorithm>

namespace colrow::runtime {

/// For how long a number has stood still, counted in ticks of this process: a
/// job that was suspended as a whole has missed nothing.
class Stillness {
public:
  void see(uint64_t number, double tick) {
    seconds = number == last ? seconds + tick : 0;
    last = number;
  }
  double age() const { return seconds; }
  bool hasBegun() const { return last != 0; }

private:
  uint64_t last = 0;
  double seconds = 0;
};

/// Time between two beats. All times here are seconds.
inline double beatSeconds(double limit) { return std::min(limit / 10, 0.5); }

/// How long a process waits before it tells of a failure without process 0's
/// leave: the others of its machine, or those of the next one if there are
/// none, tell at once; each further machine waits longer.
double graceSeconds(const Placement &placement, unsigned process);
/// The same before it is known who runs where: process 1 tells at once.
double graceSeconds(unsigned process);

/// What a process tells of itself with each beat.
struct Beat {
  uint64_t serial = 0;
  uint64_t progress = 0;  // moves when it gets on
  bool isWaiting = false; // for others
  std::string place = ""; // of the rank that is furthest behind

  std::string text() const;
  static Beat read(llvm::StringRef text);
};

/// Of one thread at a time.
class KnownProcesses {
public:
  KnownProcesses(const StarControl &star, double limit)
      : star(star), limit(limit), known(star.processes()) {}

  /// The ranks of this machine, once there are any.
  Watched watched;

  /// The beat of this process, which then counts as told. `host`: progress of
  /// the thread that gathers, and whether it waits for others.
  const Beat &tell(uint64_t hostProgress, bool isGathering);
  /// Takes what the others have told since, `passed` seconds after the last
  /// look.
  void look(double passed);

  /// What ends the job, as text; nothing for as long as all is well.
  std::optional<std::string> findGone() const;
  std::optional<std::string> findFailure() const;
  /// False: process 0, of this machine, has ended or is stopped.
  bool canFirstAnswer() const;

private:
  struct Known {
    Beat beat;
    Stillness serial, progress;
    Stillness heartbeat; // on the machine's page
    /// What comes over the connection, while there are heartbeats.
    Stillness connection;
  };

  bool isNeighbour(unsigned process) const;
  bool isConnected(unsigned process) const;
  bool isByPage(unsigned process) const;
  bool isHeard(unsigned process) const;
  bool hasEnded(unsigned process) const;
  std::string endOf(unsigned process) const;
  std::optional<std::string> findSilent() const;
  std::optional<std::string> findCutOff() const;
  std::optional<std::string> findStuck() const;
  /// Of the ranks of a process of this machine.
  unsigned furthestBehind(unsigned process) const;
  std::string nameOf(unsigned process) const;

  const StarControl &star;
  const double limit;
  std::vector<Known> known; // of all processes
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_KNOWNPROCESSES_H
