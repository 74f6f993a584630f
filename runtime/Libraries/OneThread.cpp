// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OneThread.h"
#include <array>
#include <atomic>
#include <mutex>

using namespace llvm;

namespace colrow::runtime {

using SetNumThreads = void(int);

// Those of BLAS and oneDNN, each at most once. Grows only.
static std::array<SetNumThreads *, 8> runtimes;
static std::atomic<size_t> known{0};

void addOpenMpOf(Library &library) {
  static std::mutex adding;
  std::lock_guard<std::mutex> lock(adding);
  size_t count = known;
  SetNumThreads *set;
  if (!library.find("omp_set_num_threads", set) || count == runtimes.size() ||
      is_contained(ArrayRef(runtimes).take_front(count), set))
    return;
  runtimes[count] = set;
  known.store(count + 1, std::memory_order_release);
}

void useOneThread() {
  thread_local size_t done = 0;
  for (size_t count = known.load(std::memory_order_acquire); done < count;)
    runtimes[done++](1);
}

} // namespace colrow::runtime
