// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of a module: equal ones are declared once.

#ifndef COLROW_DIALECTS_PLAN_KERNELTABLE_H
#define COLROW_DIALECTS_PLAN_KERNELTABLE_H

#include "colrow/Kernel/RowKernel.h"
#include "colrow/dialects/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include <unordered_map>

namespace colrow::planir {

class KernelTable {
public:
  /// Knows the kernels that `module` declares; new ones are declared at `at`.
  KernelTable(mlir::ModuleOp module, mlir::Block::iterator at);

  /// The `plan.kernel` that does what `kernel` says, declared at the first
  /// call.
  mlir::FlatSymbolRefAttr intern(const kernel::RowKernel &kernel);

private:
  struct Hash {
    size_t operator()(const kernel::RowKernel &kernel) const {
      return hash_value(kernel);
    }
  };

  mlir::OpBuilder builder;
  std::unordered_map<kernel::RowKernel, KernelOp, Hash> known;
  mlir::SymbolTable symbols;
};

/// The element type of a kernel's argument.
mlir::Type elementType(mlir::MLIRContext *context, kernel::Elem elem);
/// The arguments of a `plan.kernel` that does what `kernel` says.
mlir::ArrayAttr getKernelArgs(mlir::MLIRContext *context,
                              const kernel::RowKernel &kernel);

} // namespace colrow::planir

#endif // COLROW_DIALECTS_PLAN_KERNELTABLE_H
