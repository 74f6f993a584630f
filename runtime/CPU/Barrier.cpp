// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counter and generation; late threads sleep on a futex of the generation.

#include "colrow/runtime/CPU/Barrier.h"
#include <climits>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace colrow::runtime {

static_assert(sizeof(std::atomic<uint32_t>) == 4, "a futex is 4 bytes");

static void futex(std::atomic<uint32_t> *word, int operation, uint32_t value) {
  ::syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, nullptr,
            nullptr, 0);
}

static void pauseOnce() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("" ::: "memory");
#endif
}

void Barrier::wait() {
  uint32_t now = generation.load(std::memory_order_acquire);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
    arrived.store(0, std::memory_order_relaxed);
    generation.store(now + 1); // sequentially consistent, with `sleepers`
    if (sleepers.load() != 0)
      futex(&generation, FUTEX_WAKE, INT_MAX);
    return;
  }
  // Spinning pays while the others run, and delays them when they have to wait
  // for this core: after a failure try briefly, and only now and then in full.
  bool full = spinning.load(std::memory_order_relaxed) || now % 16 == 0;
  for (unsigned i = 0, n = full ? spins : spins / 64; i < n; ++i) {
    if (generation.load(std::memory_order_acquire) != now) {
      if (full)
        spinning.store(true, std::memory_order_relaxed);
      return;
    }
    pauseOnce();
  }
  spinning.store(false, std::memory_order_relaxed);
  sleepers.fetch_add(1);
  while (generation.load() == now)
    futex(&generation, FUTEX_WAIT, now);
  sleepers.fetch_sub(1);
}

unsigned Barrier::spinsFor(unsigned threads) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  unsigned cores = 1;
  if (::sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
    cores = CPU_COUNT(&cpus);
  // About a quarter of a millisecond, the cost of a few wake-ups.
  return threads <= cores ? 10000 : 0;
}

} // namespace colrow::runtime
