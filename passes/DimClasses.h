// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of dimensions that are split together, because some op has the same
// factor in them. A class knows into how many units it can be cut (heads, for
// a dimension of heads times head size) and whether it is a feature factor: a
// dimension of a parameter of rank >= 2, directly or by propagation.

#ifndef COLROW_PASSES_DIMCLASSES_H
#define COLROW_PASSES_DIMCLASSES_H

#include "colrow/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace colrow::passes {

class DimClasses {
public:
  /// Reads all ops of `step`; `rules` has one for each Shardable op.
  DimClasses(
      mlir::func::FuncOp step,
      const llvm::MapVector<mlir::Operation *, layout::FactorRule> &rules,
      llvm::function_ref<int64_t(mlir::Operation *param)> checkpointRank);

  /// Units into which dimension `dim` of `value` can be cut.
  int64_t units(mlir::Value value, unsigned dim);
  bool isFeature(mlir::Value value, unsigned dim);

private:
  unsigned index(mlir::Value value, unsigned dim);
  unsigned find(unsigned i);
  void merge(unsigned a, unsigned b);

  llvm::DenseMap<mlir::Value, unsigned> first;
  llvm::SmallVector<unsigned> parent;
  llvm::SmallVector<int64_t> unit;
  llvm::SmallVector<bool> feature;
};

} // namespace colrow::passes

#endif // COLROW_PASSES_DIMCLASSES_H
