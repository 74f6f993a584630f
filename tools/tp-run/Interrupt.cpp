// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals that end training after a step.

#include "Interrupt.h"
#include "colrow/runtime/Support/AtomicFile.h"
#include <csignal>
#include <ctime>

namespace colrow::tprun {

/// The signal that came, or 0.
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
  interrupted = signal;
}

void catchInterrupts() {
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  runtime::AtomicFile::waitForReadersUntil(isInterrupted);
}

void releaseInterrupts() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (interrupted)
    std::raise(interrupted);
}

bool isInterrupted() { return interrupted != 0; }

} // namespace colrow::tprun
