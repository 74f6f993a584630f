// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handler runs once and leaves the signal to the system.

#include "colrow/runtime/Support/FatalSignals.h"
#include <csignal>
#include <initializer_list>

namespace colrow::runtime {

static std::atomic<std::atomic<int32_t> *> noted{nullptr};

static void onFatal(int signal) {
  if (std::atomic<int32_t> *word = noted)
    word->store(signal);
  // Taken when the handler returns, by the default that is set again.
  (void)std::raise(signal);
}

void noteFatalSignals(std::atomic<int32_t> *word) {
  noted = word;
  if (!word)
    return;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP}) {
    struct sigaction old, action = {};
    action.sa_handler = onFatal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
    sigemptyset(&action.sa_mask);
    if (::sigaction(signal, nullptr, &old) == 0 &&
        !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
      (void)::sigaction(signal, &action, nullptr);
  }
}

} // namespace colrow::runtime
