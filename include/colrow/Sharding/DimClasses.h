// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of dimensions that are split together, because some op has the same
// factor in them. A class knows into how many units it can be cut (heads, for
// a dimension of heads times head size) and whether it is a feature factor: a
// dimension of a parameter of rank >= 2, directly or by propagation.

#ifndef COLROW_SHARDING_DIMCLASSES_H
#define COLROW_SHARDING_DIMCLASSES_H

#include "colrow/dialects/TP/TP.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

namespace colrow::sharding {

class DimClasses {
public:
  /// Reads all ops of `step`; `rules` has one for each Shardable op.
  DimClasses(
      mlir::func::FuncOp step,
      const llvm::MapVector<mlir::Operation *, layout::FactorRule> &rules,
      llvm::function_ref<int64_t(mlir::Operation *param)> checkpointRank);

  /// Units into which dimension `dim` of `value` can be cut.
  int64_t units(mlir::Value value, unsigned dim) const {
    return infos[classes[index(value, dim)]].units;
  }
  bool isFeature(mlir::Value value, unsigned dim) const {
    return infos[classes[index(value, dim)]].feature;
  }

private:
  struct Info {
    int64_t units = 0;
    bool feature = false;
  };

  void number(mlir::Value value);
  void join(const layout::FactorRule &rule, mlir::Operation *op);
  unsigned index(mlir::Value value, unsigned dim) const {
    return first.lookup(value) + dim;
  }

  llvm::DenseMap<mlir::Value, unsigned> first;
  unsigned count = 0; ///< of (value, dimension) pairs
  llvm::IntEqClasses classes;
  llvm::SmallVector<Info> infos;
};

} // namespace colrow::sharding

#endif // COLROW_SHARDING_DIMCLASSES_H
