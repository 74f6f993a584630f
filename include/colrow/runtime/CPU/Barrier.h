// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reusable barrier for threads of one or several processes that spins for a
// while, then sleeps in the kernel, so more ranks than cores still make
// progress.

#ifndef COLROW_RUNTIME_CPU_BARRIER_H
#define COLROW_RUNTIME_CPU_BARRIER_H

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace colrow::runtime {

/// What the members of a barrier share, in memory of any kind. Zero at first.
struct BarrierWords {
  alignas(64) std::atomic<uint32_t> arrived;
  alignas(64) std::atomic<uint32_t> generation;
  std::atomic<uint32_t> sleepers;
  std::atomic<uint32_t> spinsFail; // the last spin in full was not worth it
};
static_assert(std::is_standard_layout_v<BarrierWords> &&
              std::is_trivially_default_constructible_v<BarrierWords> &&
              std::atomic<uint32_t>::is_always_lock_free);

/// A member's view of a barrier.
class Barrier {
public:
  /// `spins`: rounds of busy waiting before a thread sleeps, see spinsFor().
  /// `failed`: set when members may be gone for good; null: they never are.
  Barrier(BarrierWords &words, unsigned members, unsigned spins,
          const std::atomic<uint32_t> *failed = nullptr)
      : words(&words), failed(failed), members(members), spins(spins) {}

  /// Returns when all members have called. What each wrote before is visible
  /// to all after. False, at most `wakeMilliseconds` later, when `failed` is
  /// set and not all had: the barrier is then of no more use.
  /// `waitingSince`: while this sleeps, the steady clock's nanoseconds since
  /// when; 0 otherwise.
  bool wait(std::atomic<int64_t> *waitingSince = nullptr) const;

  static constexpr int wakeMilliseconds = 100;

  /// A good number of spins for a process of so many ranks on a machine of so
  /// many; 0 where there are more than cores.
  static unsigned spinsFor(unsigned processRanks, unsigned machineRanks);

private:
  bool sleep(uint32_t now) const;
  bool hasFailed() const {
    return failed && failed->load(std::memory_order_relaxed);
  }

  BarrierWords *words;
  const std::atomic<uint32_t> *failed;
  unsigned members, spins;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_BARRIER_H
