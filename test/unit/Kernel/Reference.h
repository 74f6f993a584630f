// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slow interpreter of kernels on f32 arguments, in double: what compiled
// kernels must come close to.

#ifndef COLROW_TEST_UNIT_KERNEL_REFERENCE_H
#define COLROW_TEST_UNIT_KERNEL_REFERENCE_H

#include "colrow/Kernel/RowKernel.h"
#include <vector>

namespace colrow::kernel {

/// Runs `kernel` on `arrays`, one for each argument. Knows the nodes that
/// RandomTest draws: constants, loads, f32 arithmetic, comparisons, select,
/// reductions, store, colSum and totalSum.
void interpret(const RowKernel &kernel,
               std::vector<std::vector<double>> &arrays);

} // namespace colrow::kernel

#endif // COLROW_TEST_UNIT_KERNEL_REFERENCE_H
