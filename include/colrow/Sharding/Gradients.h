// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values of a forward have a gradient. Price, prediction, layouts and
// tp-differentiate ask the same class.

#ifndef COLROW_SHARDING_GRADIENTS_H
#define COLROW_SHARDING_GRADIENTS_H

#include "colrow/dialects/TP/Step.h"

namespace colrow::sharding {

/// Index of the first result of `step` with the role "loss".
std::optional<unsigned> findLoss(mlir::func::FuncOp step);

/// Values with a gradient: those that depend on a trained parameter and on
/// which the loss depends, by what ops say of the flow of gradients.
class Gradients {
public:
  /// Of the forward of `step`; none without a loss, or if it is forward only.
  Gradients(mlir::ModuleOp module, mlir::func::FuncOp step);
  /// Of the ops of `block`, from `seeds` back to `trained`.
  Gradients(mlir::Block &block, llvm::ArrayRef<mlir::Value> trained,
            llvm::ArrayRef<mlir::Value> seeds);

  /// `value` has a gradient.
  bool reach(mlir::Value value) const { return found.contains(value); }
  /// The op that owns `use` gives its operand a gradient. The operand may have
  /// one by another use only.
  bool pass(mlir::OpOperand &use) const;

private:
  void follow(mlir::Block &block, llvm::DenseSet<mlir::Value> trained,
              llvm::ArrayRef<mlir::Value> seeds);

  llvm::DenseSet<mlir::Value> found;
};

} // namespace colrow::sharding

#endif // COLROW_SHARDING_GRADIENTS_H
