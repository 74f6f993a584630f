// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reusable barrier for threads that spins for a while, then sleeps in the
// kernel, so more ranks than cores still make progress.

#ifndef COLROW_RUNTIME_CPU_BARRIER_H
#define COLROW_RUNTIME_CPU_BARRIER_H

#include <atomic>
#include <cstdint>

namespace colrow::runtime {

class Barrier {
public:
  /// `spins`: rounds of busy waiting before a thread sleeps; 0 where there are
  /// more threads than cores. See spinsFor().
  Barrier(unsigned threads, unsigned spins) : threads(threads), spins(spins) {}

  /// Returns when all threads have called. What each wrote before is visible
  /// to all after.
  void wait();

  /// A good number of spins for `threads` threads on this machine.
  static unsigned spinsFor(unsigned threads);

private:
  const unsigned threads, spins;
  alignas(64) std::atomic<uint32_t> arrived{0};
  alignas(64) std::atomic<uint32_t> generation{0};
  std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> spinning{true}; // the last spin in full was worth it
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_BARRIER_H
