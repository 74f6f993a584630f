// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ends a program by a fault of its own is left where others find it.

#ifndef COLROW_RUNTIME_SUPPORT_FATALSIGNALS_H
#define COLROW_RUNTIME_SUPPORT_FATALSIGNALS_H

#include <atomic>
#include <cstdint>

namespace colrow::runtime {

/// From now on SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGTRAP put their
/// number into `word` and then end the program as they would have, unless they
/// are taken or ignored already. Null: not any more.
void noteFatalSignals(std::atomic<int32_t> *word);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_FATALSIGNALS_H
