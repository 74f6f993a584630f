// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that are built to be asked and thrown away.

#ifndef COLROW_SHARDING_SCRATCH_H
#define COLROW_SHARDING_SCRATCH_H

#include "mlir/IR/Builders.h"

namespace colrow::sharding {

/// A block without a parent, and a builder at its end.
class Scratch {
public:
  explicit Scratch(mlir::MLIRContext *context) : builder(context) {
    builder.setInsertionPointToEnd(&block);
  }
  ~Scratch() {
    block.dropAllReferences();
    block.clear();
  }

  /// A copy of `op` of these types, whose operands are new arguments of the
  /// block.
  mlir::Operation *clone(mlir::Operation *op, mlir::TypeRange operandTypes,
                         mlir::TypeRange resultTypes);

  mlir::Block block;
  mlir::OpBuilder builder;
};

/// What of `op` decides its gradient and work: its name, attributes but for
/// discardable ones, and these types.
std::vector<const void *> signatureOf(mlir::Operation *op,
                                      mlir::TypeRange operandTypes,
                                      mlir::TypeRange resultTypes);

} // namespace colrow::sharding

#endif // COLROW_SHARDING_SCRATCH_H
