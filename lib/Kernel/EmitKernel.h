// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a row kernel to loops over vectors.

#ifndef COLROW_LIB_KERNEL_EMITKERNEL_H
#define COLROW_LIB_KERNEL_EMITKERNEL_H

#include "KernelSupport.h"
#include "mlir/IR/Builders.h"

namespace colrow::kernel {

/// Adds to `module` the function `symbol` (see KernelFunction) that runs
/// `kernel`, as func, scf, arith, math, vector and memory ops of the llvm
/// dialect. `width` is the lanes of f32 in a vector register.
void emitKernel(mlir::ModuleOp module, llvm::StringRef symbol,
                const RowKernel &kernel, unsigned width);

} // namespace colrow::kernel

#endif // COLROW_LIB_KERNEL_EMITKERNEL_H
