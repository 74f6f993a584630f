// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counter and generation; late threads sleep on a futex of the generation,
// which all mappings of its memory share.

#include "colrow/runtime/CPU/Barrier.h"
#include "colrow/runtime/Support/Clock.h"
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace colrow::runtime {

static_assert(sizeof(std::atomic<uint32_t>) == 4, "a futex is 4 bytes");

static void futex(std::atomic<uint32_t> *word, int operation, uint32_t value,
                  const timespec *limit = nullptr) {
  ::syscall(SYS_futex, word, operation, value, limit, nullptr, 0);
}

static void pauseOnce() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("" ::: "memory");
#endif
}

bool Barrier::wait(std::atomic<int64_t> *waitingSince) const {
  // Who has left this barrier before counts as one that has come.
  if (hasFailed())
    return false;
  uint32_t now = words->generation.load(std::memory_order_acquire);
  if (words->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
    words->arrived.store(0, std::memory_order_relaxed);
    // Sequentially consistent, with `sleepers`.
    words->generation.store(now + 1);
    if (words->sleepers.load() != 0)
      futex(&words->generation, FUTEX_WAKE, INT_MAX);
    return true;
  }
  // Spinning pays while the others run, and delays them when they have to wait
  // for this core: after a failure try briefly, and only now and then in full.
  bool full =
      !words->spinsFail.load(std::memory_order_relaxed) || now % 16 == 0;
  for (unsigned i = 0, n = full ? spins : spins / 64; i < n; ++i) {
    if (words->generation.load(std::memory_order_acquire) != now) {
      if (full)
        words->spinsFail.store(0, std::memory_order_relaxed);
      return true;
    }
    pauseOnce();
  }
  words->spinsFail.store(1, std::memory_order_relaxed);
  if (waitingSince)
    waitingSince->store(steadyNanoseconds(), std::memory_order_relaxed);
  bool met = sleep(now);
  if (waitingSince)
    waitingSince->store(0, std::memory_order_relaxed);
  return met;
}

/// Until all have met in generation `now`.
bool Barrier::sleep(uint32_t now) const {
  constexpr timespec limit = {0, wakeMilliseconds * 1000000l};
  bool met;
  words->sleepers.fetch_add(1);
  while (!(met = words->generation.load() != now)) {
    if (hasFailed())
      break;
    futex(&words->generation, FUTEX_WAIT, now, failed ? &limit : nullptr);
  }
  words->sleepers.fetch_sub(1);
  return met;
}

unsigned Barrier::spinsFor(unsigned processRanks, unsigned machineRanks) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  unsigned cores = 1;
  if (::sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
    cores = CPU_COUNT(&cpus);
  // A launcher may have bound each process to cores of its own.
  if (processRanks > cores || machineRanks > ::sysconf(_SC_NPROCESSORS_ONLN))
    return 0;
  // About a quarter of a millisecond, the cost of a few wake-ups.
  return 10000;
}

} // namespace colrow::runtime
