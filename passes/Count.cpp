// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-count: what a partitioned step does, op by op, against what was predicted.

#include "colrow/Sharding/StepWork.h"
#include "colrow/Sharding/TopologyAttr.h"
#include "colrow/passes/Passes.h"

namespace colrow::passes {
#define GEN_PASS_DEF_COUNT
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using sharding::StepTotals;

/// The work of `op`, of a partitioned step.
static std::optional<sharding::NamedItem> workOf(Operation *op,
                                                 const layout::Mesh &mesh) {
  if (auto item = tp::workOf(op, mesh))
    return sharding::NamedItem{op->getName().getStringRef(), *item};
  return std::nullopt;
}

static StepTotals countStep(func::FuncOp step, const layout::Mesh &mesh,
                            const cost::CostModel &model) {
  StepTotals totals;
  sharding::WorkSum sum(totals, model);
  llvm::DenseSet<Value> forward, saved;
  for (auto [phase, block] : llvm::enumerate(step.getBody()))
    for (Operation &op : block.without_terminator()) {
      if (auto named = workOf(&op, mesh))
        sum.add(*named);
      if (isa<tp::OutputOp, tp::ParamOp>(op))
        continue;
      if (tp::Phase(phase) == tp::Phase::Forward) {
        forward.insert(op.result_begin(), op.result_end());
        continue;
      }
      for (Value operand : op.getOperands())
        if (forward.contains(operand) && saved.insert(operand).second)
          totals.savedBytes += tp::localBytes(operand.getType());
    }
  return totals;
}

/// The difference is an error at the first op that was not predicted, or names
/// the first prediction that no op is, at the function.
static LogicalResult reject(func::FuncOp step, const layout::Mesh &mesh,
                            const StepTotals &counted,
                            const StepTotals &predicted) {
  std::map<std::string, int64_t> seen;
  for (Operation &op : step.getBody().getOps())
    if (auto named = workOf(&op, mesh)) {
      std::string work = named->str();
      if (++seen[work] > predicted.times(work))
        return op.emitOpError("tp-count: internal error: this ")
               << work << " is done " << counted.times(work)
               << " times in the step, predicted were "
               << predicted.times(work);
    }
  for (auto &[work, times] : predicted.work)
    if (counted.times(work) != times)
      return step.emitError("tp-count: internal error: ")
             << work << " was predicted " << times << " times, and is done "
             << counted.times(work) << " times in the step";
  if (counted.savedBytes != predicted.savedBytes)
    return step.emitError("tp-count: internal error: the backward reads ")
           << counted.savedBytes << " bytes of forward values, predicted were "
           << predicted.savedBytes;
  return step.emitError("tp-count: internal error: the totals differ, though "
                        "their parts are equal");
}

namespace {
struct CountPass : passes::impl::CountBase<CountPass> {
  void runOnOperation() override {
    if (failed(run()))
      return signalPassFailure();
    markAllAnalysesPreserved(); // no op changes, so none is verified again
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    auto functions = getStepFunctions(module);
    if (failed(functions))
      return failure();
    auto mesh = module->getAttrOfType<tp::MeshAttr>(tp::getMeshAttrName());
    if (!mesh)
      return module.emitError("tp-count: the module has no tp.mesh; run "
                              "tp-shard to tp-partition first");
    auto model = sharding::getCostModel(module);
    if (failed(model))
      return failure();
    layout::Mesh plain = mesh.getMesh();
    for (func::FuncOp step : functions->all)
      if (failed(count(step, plain, *model)))
        return failure();
    return success();
  }

  LogicalResult count(func::FuncOp step, const layout::Mesh &mesh,
                      const cost::CostModel &model) {
    Attribute said = step->getAttr(tp::getPredictedAttrName());
    auto predicted = StepTotals::fromAttr(said);
    if (said && !predicted)
      return step.emitError("has a ")
             << tp::getPredictedAttrName()
             << " that is not what tp-shard writes; run tp-shard again";
    StepTotals counted = countStep(step, mesh, model);
    DictionaryAttr attr = counted.toAttr(&getContext());
    step->setAttr(tp::getCountedAttrName(), attr);
    if (!predicted || predicted->toAttr(&getContext()) == attr)
      return success();
    return reject(step, mesh, counted, *predicted);
  }
};
} // namespace
