// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a wait ends. Nothing waits without one.

#ifndef COLROW_RUNTIME_JOB_DEADLINE_H
#define COLROW_RUNTIME_JOB_DEADLINE_H

#include <algorithm>
#include <chrono>
#include <cmath>

namespace colrow::runtime {

class Deadline {
public:
  using Clock = std::chrono::steady_clock;

  static Deadline in(double seconds) {
    // A year is as good as any longer time, and does not overflow.
    seconds = std::isnan(seconds) ? 0 : std::clamp(seconds, 0.0, 3.2e7);
    return Deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(seconds)));
  }

  Clock::time_point time() const { return end; }
  bool hasPassed() const { return Clock::now() >= end; }
  double secondsLeft() const {
    return std::max(0.0,
                    std::chrono::duration<double>(end - Clock::now()).count());
  }
  /// For poll(): rounded up, so that it does not wake a moment too early.
  int millisecondsLeft() const {
    return int(std::min(1e9, std::ceil(secondsLeft() * 1e3)));
  }
  /// The earlier of this one and `seconds` from now.
  Deadline orIn(double seconds) const {
    return Deadline(std::min(end, in(seconds).end));
  }

private:
  explicit Deadline(Clock::time_point end) : end(end) {}

  Clock::time_point end;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_DEADLINE_H
