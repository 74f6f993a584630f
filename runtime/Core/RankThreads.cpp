// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads wait for the gate only when all of them exist: one that is missing
// would never come.

#include "RankThreads.h"
#include "colrow/runtime/Support/Errors.h"
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

RankThreads::RankThreads(RankRange ranks)
    : ranks(ranks), gate(gateWords, ranks.count,
                         Barrier::spinsFor(ranks.count, ranks.count)) {}

RankThreads::~RankThreads() {
  if (state == State::running && ranks.count > 1) {
    job = nullptr;
    gate.wait();
  } else {
    release(/*all=*/false);
  }
  for (Thread &thread : threads)
    ::pthread_join(thread.handle, nullptr);
}

void RankThreads::release(bool all) {
  std::lock_guard<std::mutex> lock(mutex);
  state = all ? State::running : State::ending;
  started.notify_all();
}

void *RankThreads::enter(void *thread) {
  auto *self = static_cast<Thread *>(thread);
  self->all->serve(self->rank);
  return nullptr;
}

void RankThreads::serve(unsigned rank) {
  {
    std::unique_lock<std::mutex> lock(mutex);
    started.wait(lock, [&] { return state != State::starting; });
    if (state == State::ending)
      return;
  }
  for (;;) {
    gate.wait();
    if (!job)
      return;
    (*job)(rank);
    gate.wait();
  }
}

Error RankThreads::start() {
  threads.reserve(ranks.count); // threads keep pointers into it
  for (unsigned rank = ranks.first + 1; rank < ranks.end(); ++rank) {
    threads.push_back({this, rank, {}});
    int code = ::pthread_create(&threads.back().handle, nullptr, enter,
                                &threads.back());
    if (code != 0) {
      threads.pop_back();
      return failure("cannot start a thread for rank {0} of {1}: {2}", rank,
                     ranks.end(), strerror(code));
    }
  }
  release(/*all=*/true);
  return Error::success();
}

void RankThreads::run(function_ref<void(unsigned)> f) {
  job = &f;
  gate.wait();
  f(ranks.first);
  gate.wait();
}

} // namespace colrow::runtime
