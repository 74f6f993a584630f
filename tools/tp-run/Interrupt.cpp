// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals that end training after a step.

#include "Interrupt.h"
#include <csignal>
#include <ctime>

namespace colrow::tprun {

static volatile std::sig_atomic_t interrupted = 0;

static void onInterrupt(int signal) {
  static std::time_t first = 0;
  std::time_t now = ::time(nullptr);
  if (interrupted && now > first + 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  if (!interrupted)
    first = now;
  interrupted = 1;
}

void catchInterrupts() {
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
}

bool isInterrupted() { return interrupted; }

} // namespace colrow::tprun
