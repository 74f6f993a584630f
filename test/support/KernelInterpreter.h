// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slow interpreter of row kernels in double: what compiled kernels must come
// close to, and what differences of functions are taken in.

#ifndef COLROW_TEST_SUPPORT_KERNELINTERPRETER_H
#define COLROW_TEST_SUPPORT_KERNELINTERPRETER_H

#include "colrow/Kernel/RowKernel.h"

namespace colrow::kernel {

/// Where element `element` of argument `arg` is kept, whatever its type: each
/// integer below 2^53 is a double.
using ElementAt = llvm::function_ref<double &(unsigned arg, int64_t element)>;

/// Runs `kernel` with the integers `ints`. Values are double throughout: bf16
/// is not rounded, and long sums lose nothing that scratch would have to keep.
void interpret(const RowKernel &kernel, llvm::ArrayRef<int64_t> ints,
               ElementAt elementAt);

} // namespace colrow::kernel

#endif // COLROW_TEST_SUPPORT_KERNELINTERPRETER_H
