// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread for each of a process' ranks, and work that all of them do at once.

#ifndef COLROW_RUNTIME_CORE_RANKTHREADS_H
#define COLROW_RUNTIME_CORE_RANKTHREADS_H

#include "colrow/runtime/CPU/Barrier.h"
#include "colrow/runtime/Job/Job.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace colrow::runtime {

class RankThreads {
public:
  explicit RankThreads(RankRange ranks);
  ~RankThreads();
  RankThreads(const RankThreads &) = delete;
  RankThreads &operator=(const RankThreads &) = delete;

  /// Starts threads for all ranks but the first. Error: the system has no more.
  llvm::Error start();

  /// Calls f(rank) for every rank at once, the first on the caller's thread;
  /// returns when all have.
  void run(llvm::function_ref<void(unsigned)> f);

private:
  struct Thread {
    RankThreads *all;
    unsigned rank;
    pthread_t handle;
  };
  static void *enter(void *thread);
  void serve(unsigned rank);
  void release(bool all);

  RankRange ranks;
  BarrierWords gateWords{};
  Barrier gate; // passed when a job starts and when it ends
  const llvm::function_ref<void(unsigned)> *job = nullptr; // null: end
  std::vector<Thread> threads;                             // started ones
  std::mutex mutex;
  std::condition_variable started;
  enum class State { starting, running, ending } state = State::starting;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_RANKTHREADS_H
