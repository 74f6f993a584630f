// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of dimensions that are split together, because some op has the same
// factor in them. A class knows into how many units it can be cut (heads, for
// a dimension of heads times head size) and whether it is a feature factor: a
// dimension of a parameter of rank >= 2, directly or by propagation. A
// parameter's dimensions are of one class in all functions that read it, so
// that one stored layout serves them all.

#ifndef COLROW_SHARDING_DIMCLASSES_H
#define COLROW_SHARDING_DIMCLASSES_H

#include "colrow/dialects/TP/TP.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

namespace colrow::sharding {

class DimClasses {
public:
  /// Reads the forwards of `functions`. Errors, at the op: one without a factor
  /// rule, a read of what is no parameter.
  static mlir::FailureOr<std::unique_ptr<DimClasses>>
  read(mlir::ModuleOp module, llvm::ArrayRef<mlir::func::FuncOp> functions);

  /// The rule of an op that is not tp.param.
  const layout::FactorRule &getRule(mlir::Operation *op) const {
    return *rules.find(op)->second;
  }

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

  mlir::LogicalResult readRules(mlir::SymbolTable &symbols,
                                mlir::Block &forward);
  void number(mlir::Value value);
  void joinReads(mlir::Block &forward);
  void join(const layout::FactorRule &rule, mlir::Operation *op);
  void fillInfos(mlir::SymbolTable &symbols);
  unsigned index(mlir::Value value, unsigned dim) const {
    return first.lookup(value) + dim;
  }

  llvm::MapVector<mlir::Operation *, const layout::FactorRule *> rules;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> reads; ///< first of a symbol
  llvm::DenseMap<mlir::Value, unsigned> first;
  unsigned count = 0; ///< of (value, dimension) pairs
  llvm::IntEqClasses classes;
  llvm::SmallVector<Info> infos;
};

} // namespace colrow::sharding

#endif // COLROW_SHARDING_DIMCLASSES_H
