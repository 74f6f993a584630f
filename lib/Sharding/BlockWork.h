// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work of the ops of one block, with layouts and ways, and of the changes
// of layout between them.

#ifndef COLROW_LIB_SHARDING_BLOCKWORK_H
#define COLROW_LIB_SHARDING_BLOCKWORK_H

#include "colrow/Sharding/StepWork.h"

namespace colrow::sharding {

class BlockWork {
public:
  BlockWork(WorkTable &table, const Gradients &gradients)
      : table(table), gradients(gradients) {}

  /// Adds `op`, its gradient and what both want of its operands; an error at it
  /// if it has no way.
  mlir::LogicalResult add(mlir::Operation *op);
  void want(mlir::Value value, ValueState state);
  /// Adds the changes of those wanted values that count; an error at one that
  /// cannot be had as it is wanted.
  mlir::LogicalResult addChanges(llvm::function_ref<bool(mlir::Value)> counts);

  llvm::SmallVector<NamedItem, 0> items;
  /// Bytes of each form in which the backward reads a value.
  llvm::MapVector<mlir::Value,
                  llvm::SmallVector<std::pair<layout::State, int64_t>, 1>>
      saved;
  /// Saved bytes of values inside composite ops.
  int64_t insideBytes = 0;

private:
  void save(mlir::Value value, mlir::Type type);

  WorkTable &table;
  const Gradients &gradients;
  llvm::MapVector<mlir::Value, llvm::SmallVector<ValueState>> wanted;
};

} // namespace colrow::sharding

#endif // COLROW_LIB_SHARDING_BLOCKWORK_H
