// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work of a step on one rank, predicted from a graph with layouts and ways
// before gradients and collectives exist: what tp-count finds in the
// partitioned step. An op's work is that of the ops it becomes, forward and
// backward: they are built on scratch and asked.

#ifndef COLROW_SHARDING_STEPWORK_H
#define COLROW_SHARDING_STEPWORK_H

#include "colrow/Sharding/Gradients.h"
#include "colrow/Sharding/LayoutChanges.h"
#include "colrow/dialects/TP/Step.h"
#include "llvm/ADT/MapVector.h"
#include <unordered_map>

namespace colrow::sharding {

class Scratch;

/// Work of one op and of its gradient.
struct OpWork {
  llvm::SmallVector<NamedItem, 4> items;
  /// Operands and results that the backward ops read, in the states of the way.
  llvm::SmallVector<unsigned, 2> savedOperands, savedResults;
  /// Bytes that they read besides, of values inside a composite op.
  int64_t savedInside = 0;
};

/// How an op is used: types of its operands as it sees them and of its results,
/// its way on the axis, and which of them have a gradient.
struct OpUse {
  llvm::SmallVector<mlir::Type, 4> operands, results;
  mlir::StringAttr way;
  /// Per result a gradient comes back; per operand one is wanted.
  llvm::SmallVector<bool, 4> incoming, wanted;
  /// Per operand the read of the parameter that it is (tp::findParam), or null,
  /// which decides the type of its gradient.
  llvm::SmallVector<tp::ParamOp, 4> parameters;
};

/// Works of ops; ops that are alike (layers of a model) are asked once.
class WorkTable {
public:
  WorkTable(tp::MeshAttr meshAttr, unsigned axis, cost::CostModel model)
      : meshAttr(meshAttr), mesh(meshAttr.getMesh()), axis(axis),
        model(std::move(model)) {}

  const OpWork &get(mlir::Operation *op, const OpUse &use);
  /// Work of the update of a trained parameter of `type`, its part of the
  /// gradient norm included.
  llvm::SmallVector<NamedItem, 2> getUpdate(mlir::RankedTensorType type);

  const cost::CostModel &getModel() const { return model; }
  const layout::Mesh &getMesh() const { return mesh; }
  mlir::StringAttr getAxisName() const { return meshAttr.getNames()[axis]; }
  unsigned getAxis() const { return axis; }
  tp::MeshAttr getMeshAttr() const { return meshAttr; }

private:
  OpWork compute(mlir::Operation *op, const OpUse &use);
  void addSimple(mlir::Operation *copy, Scratch &scratch, const OpUse &use,
                 OpWork &work);
  void addParts(mlir::Operation *copy, Scratch &scratch, const OpUse &use,
                OpWork &work);

  tp::MeshAttr meshAttr;
  layout::Mesh mesh;
  unsigned axis;
  cost::CostModel model;
  std::map<std::vector<const void *>, OpWork> known;
};

/// Totals of a step on one rank.
struct StepTotals {
  int64_t flops = 0;       ///< of contractions, forward and backward
  int64_t bytes = 0;       ///< sent by this rank in collectives (ring)
  int64_t collectives = 0; ///< that this rank takes part in
  int64_t picoseconds = 0; ///< of all work items
  int64_t savedBytes = 0;  ///< forward values that the backward reads
  /// How often each item is done, by "tp.matmul gemm(...)".
  std::map<std::string, int64_t> work;

  int64_t times(const std::string &item) const {
    auto it = work.find(item);
    return it == work.end() ? 0 : it->second;
  }
  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
  /// What toAttr gave, or nullopt if `attr` does not look like it.
  static std::optional<StepTotals> fromAttr(mlir::Attribute attr);
};

/// Adds items up. A deep model has many and few that differ, so each is worked
/// out once.
class WorkSum {
public:
  WorkSum(StepTotals &totals, const cost::CostModel &model)
      : totals(totals), model(model) {}

  void add(const NamedItem &named);

private:
  struct Hash {
    size_t operator()(const NamedItem &named) const {
      return llvm::hash_combine(named.op, cost::hashOf(named.item));
    }
  };
  struct Entry {
    int64_t flops = 0, bytes = 0, collectives = 0, picoseconds = 0;
    int64_t *times = nullptr; ///< in `totals`
  };
  Entry make(const NamedItem &named);

  StepTotals &totals;
  const cost::CostModel &model;
  std::unordered_map<NamedItem, Entry, Hash> known;
};

/// Predicts from layouts and ways on the axis of `table`, after tp-shard: the
/// step but for what tp-optimize makes once (norm, clipping) and for masks of
/// padding. Those passes add theirs.
mlir::FailureOr<StepTotals> predictStep(mlir::func::FuncOp step,
                                        const Gradients &gradients,
                                        WorkTable &table);

/// Adds the work of `ops`, which a later pass made, to the prediction of
/// `step`, if it has one.
void addToPrediction(mlir::func::FuncOp step,
                     llvm::ArrayRef<mlir::Operation *> ops);

/// The state on `axis` that the return of `step` wants `use` in; nullopt if it
/// takes the value as it is made.
std::optional<ValueState> wantedByReturn(mlir::func::FuncOp step,
                                         mlir::OpOperand &use,
                                         const Gradients &gradients,
                                         unsigned axis);

} // namespace colrow::sharding

#endif // COLROW_SHARDING_STEPWORK_H
