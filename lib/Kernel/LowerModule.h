// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of compilation: a module of kernels, its LLVM IR, its object, and
// the shared object of several.

#ifndef COLROW_LIB_KERNEL_LOWERMODULE_H
#define COLROW_LIB_KERNEL_LOWERMODULE_H

#include "colrow/Kernel/Compile.h"
#include "mlir/IR/BuiltinOps.h"

namespace colrow::kernel {

/// Registers what emission and translation need.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Turns a module of emitted kernels into the llvm dialect.
llvm::Error lowerModule(mlir::ModuleOp module);

/// Translates, optimises and assembles a lowered module.
llvm::Expected<llvm::SmallVector<char, 0>> assembleObject(mlir::ModuleOp module,
                                                          const Target &target);

/// Links objects to a shared object; undefined symbols are errors.
llvm::Expected<llvm::SmallVector<char, 0>>
linkSharedObject(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects);

} // namespace colrow::kernel

#endif // COLROW_LIB_KERNEL_LOWERMODULE_H
