// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-count: what a partitioned step costs, against what was predicted.

#include "Prediction.h"
#include "colrow/Cost/CostModel.h"

namespace colrow::passes {
#define GEN_PASS_DEF_COUNT
#include "colrow/Passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

/// Bytes that a rank sends in the collective `op`.
static int64_t sentBytes(Operation *op, const layout::Mesh &mesh) {
  int64_t ranks = 1;
  for (auto name :
       op->getAttrOfType<ArrayAttr>("axes").getAsRange<StringAttr>())
    ranks *= mesh.axes[*mesh.find(name)].size;
  auto bytes = [](Value value) {
    return 4 * cast<RankedTensorType>(value.getType()).getNumElements();
  };
  if (isa<tp::AllReduceOp>(op))
    return cost::allReduceBytes(bytes(op->getOperand(0)), ranks);
  if (isa<tp::AllGatherOp>(op))
    return cost::allGatherBytes(bytes(op->getResult(0)), ranks);
  return cost::reduceScatterBytes(bytes(op->getOperand(0)), ranks);
}

StepTotals passes::countStep(ModuleOp module, func::FuncOp step) {
  StepTotals totals;
  layout::Mesh mesh =
      module->getAttrOfType<tp::MeshAttr>(tp::getMeshAttrName()).getMesh();
  llvm::DenseSet<Value> forward;
  llvm::DenseSet<Value> saved;
  tp::forEachOp(step, [&](Operation &op) {
    bool isForward = tp::getPhase(&op) == tp::Phase::Forward;
    if (isa<tp::AllReduceOp, tp::AllGatherOp, tp::ReduceScatterOp>(op))
      totals.bytes += sentBytes(&op, mesh);
    auto shapes = [](ValueRange values) {
      return llvm::map_to_vector(values, [](Value v) {
        return SmallVector<int64_t>(
            cast<RankedTensorType>(v.getType()).getShape());
      });
    };
    if (auto costed = dyn_cast<tp::CostedOpInterface>(op))
      totals.flops +=
          costed.getFlops(shapes(op.getOperands()), shapes(op.getResults()));
    if (isa<tp::OutputOp, tp::ParamOp>(op))
      return;
    for (Value operand : op.getOperands())
      if (!isForward && forward.contains(operand) &&
          saved.insert(operand).second)
        totals.savedBytes +=
            4 * cast<RankedTensorType>(operand.getType()).getNumElements();
    if (isForward)
      forward.insert(op.result_begin(), op.result_end());
  });
  return totals;
}

namespace {
struct CountPass : passes::impl::CountBase<CountPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto step = getStepFunction(module);
    if (failed(step))
      return signalPassFailure();
    if (!module->hasAttr(tp::getMeshAttrName())) {
      module.emitError("tp-count: the module has no tp.mesh; run tp-shard to "
                       "tp-partition first");
      return signalPassFailure();
    }
    DictionaryAttr counted = countStep(module, *step).toAttr(&getContext());
    module->setAttr("tp.counted", counted);
    Attribute predicted = module->getAttr("tp.predicted");
    if (predicted && predicted != counted) {
      module.emitError("tp-count: counted ")
          << counted << ", but tp-shard predicted " << predicted;
      signalPassFailure();
    }
  }
};
} // namespace
