// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polling: at once for as long as a short message takes, or a few times where
// ranks share cores; then with short sleeps, so that others get the core. What
// blocks inside of an MPI library burns it.

#include "Messages.h"
#include "colrow/runtime/Support/Clock.h"
#include <ctime>

namespace colrow::runtime {

bool Messages::wait(size_t number) {
  constexpr unsigned pollsAtOnce = 50;
  constexpr int64_t nanosecondsAtOnce = 200000;
  constexpr timespec pause = {0, 20000};
  Message &message = requests[number];
  for (unsigned i = 0; i < pollsAtOnce; ++i)
    if (isDone(message))
      return true;
  if (hasCore)
    for (int64_t begin = steadyNanoseconds();
         steadyNanoseconds() - begin < nanosecondsAtOnce;)
      if (isDone(message))
        return true;
  status.waitingSince.store(steadyNanoseconds(), std::memory_order_relaxed);
  bool arrived;
  while (!(arrived = isDone(message)) &&
         failed.load(std::memory_order_relaxed) == 0)
    ::nanosleep(&pause, nullptr);
  status.waitingSince.store(0, std::memory_order_relaxed);
  return arrived;
}

bool Messages::finish() {
  for (size_t message = 0; message < requests.size(); ++message)
    if (!wait(message))
      return false;
  requests.clear();
  return true;
}

} // namespace colrow::runtime
