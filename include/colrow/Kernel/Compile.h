// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles row kernels to one ELF shared object without imports.

#ifndef COLROW_KERNEL_COMPILE_H
#define COLROW_KERNEL_COMPILE_H

#include "colrow/Kernel/RowKernel.h"
#include <string>
#include <utility>

namespace colrow::kernel {

/// The machine that code is generated for, in LLVM's words.
struct Target {
  std::string triple;
  std::string cpu;
  /// "+avx2,+fma,...", sorted; empty: what `cpu` implies.
  std::string features;
};

/// The machine this process runs on.
Target hostTarget();

/// Lanes of f32 that one vector register of the target holds: 4, 8 or 16.
unsigned vectorLanes(const Target &target);

/// Every symbol is a function
///   void symbol(void *const *pointers, const int64_t *ints)
/// with the arguments' base pointers in order (64-byte aligned) and the
/// kernel's `numInts` integers. It is reentrant and touches nothing else.
using KernelFunction = void (*)(void *const *pointers, const int64_t *ints);

/// Compiles each (symbol, kernel) and links them to a shared object that has
/// no undefined symbol. Symbols must be distinct C identifiers. `irDump`, when
/// given, receives the MLIR before lowering. The same input gives the same
/// bytes.
llvm::Expected<llvm::SmallVector<char, 0>>
compileSharedObject(llvm::ArrayRef<std::pair<std::string, RowKernel>> kernels,
                    const Target &target, llvm::raw_ostream *irDump = nullptr);

} // namespace colrow::kernel

#endif // COLROW_KERNEL_COMPILE_H
