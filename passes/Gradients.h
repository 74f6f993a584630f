// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values of a forward have a gradient. Price, prediction, layouts and
// tp-differentiate ask the same functions.

#ifndef COLROW_PASSES_GRADIENTS_H
#define COLROW_PASSES_GRADIENTS_H

#include "colrow/Passes/Passes.h"

namespace colrow::passes {

/// Index of the first result of `step` with the role "loss".
std::optional<unsigned> findLoss(mlir::func::FuncOp step);

/// Values of the forward of `step` with a gradient: those that depend on a
/// trained parameter and on which the loss depends. None without a loss.
llvm::DenseSet<mlir::Value> findValuesWithGradient(mlir::ModuleOp module,
                                                   mlir::func::FuncOp step);

/// Operands of `op` that a gradient of its results flows into. An operand may
/// have a gradient by another use only.
llvm::SmallVector<bool>
findWantedOperands(mlir::Operation *op,
                   const llvm::DenseSet<mlir::Value> &withGradient);

/// Puts `tp.stop_gradient` before each use of a value with gradient by an op
/// into which no gradient flows: what a change of layout costs in the backward
/// is then a property of the value, not of its use.
void separateSideUses(mlir::ModuleOp module, mlir::func::FuncOp step);

} // namespace colrow::passes

#endif // COLROW_PASSES_GRADIENTS_H
