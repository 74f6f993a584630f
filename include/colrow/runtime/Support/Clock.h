// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clock of traces and of waits, the same for all processes of a machine.

#ifndef COLROW_RUNTIME_SUPPORT_CLOCK_H
#define COLROW_RUNTIME_SUPPORT_CLOCK_H

#include <chrono>
#include <cstdint>

namespace colrow::runtime {

/// Since some start that is the machine's.
inline int64_t steadyNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_CLOCK_H
