// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-count: what a partitioned step does, op by op, against what was predicted.

#include "colrow/Passes/Passes.h"
#include "colrow/Sharding/StepWork.h"
#include "colrow/Sharding/TopologyAttr.h"

namespace colrow::passes {
#define GEN_PASS_DEF_COUNT
#include "colrow/Passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using sharding::StepTotals;

namespace {
/// Adds up the ops of a step, and finds the first one that was not predicted.
class Counter {
public:
  Counter(layout::Mesh mesh, const cost::CostModel &model,
          const std::optional<StepTotals> &predicted)
      : mesh(std::move(mesh)), model(model), predicted(predicted) {}

  void count(func::FuncOp step) {
    llvm::DenseSet<Value> forward, saved;
    tp::forEachOp(step, [&](Operation &op) {
      if (auto item = tp::workOf(&op, mesh))
        add(&op, *item);
      if (isa<tp::OutputOp, tp::ParamOp>(op))
        return;
      if (tp::getPhase(&op) == tp::Phase::Forward) {
        forward.insert(op.result_begin(), op.result_end());
        return;
      }
      for (Value operand : op.getOperands())
        if (forward.contains(operand) && saved.insert(operand).second)
          totals.savedBytes += tp::localBytes(operand.getType());
    });
  }

  StepTotals totals;
  Operation *surplus = nullptr;
  std::string surplusWork;

private:
  void add(Operation *op, const cost::WorkItem &item) {
    sharding::NamedItem named{op->getName().getStringRef(), item};
    int64_t times = totals.add(named, model);
    if (surplus || !predicted)
      return;
    std::string work = named.str();
    if (times > predicted->times(work)) {
      surplus = op;
      surplusWork = work;
    }
  }

  layout::Mesh mesh;
  const cost::CostModel &model;
  const std::optional<StepTotals> &predicted;
};

struct CountPass : passes::impl::CountBase<CountPass> {
  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    auto step = getStepFunction(module);
    if (failed(step))
      return failure();
    auto mesh = module->getAttrOfType<tp::MeshAttr>(tp::getMeshAttrName());
    if (!mesh)
      return module.emitError("tp-count: the module has no tp.mesh; run "
                              "tp-shard to tp-partition first");
    auto model = sharding::getCostModel(module);
    if (failed(model))
      return failure();
    auto predicted =
        StepTotals::fromAttr(module->getAttr(sharding::getPredictedAttrName()));
    Counter counter(mesh.getMesh(), *model, predicted);
    counter.count(*step);
    module->setAttr("tp.counted", counter.totals.toAttr(&getContext()));
    return predicted ? compare(counter, *predicted) : success();
  }

  /// The difference is an error at the first op that was not predicted, or
  /// names the first prediction that no op is.
  LogicalResult compare(const Counter &counter, const StepTotals &predicted) {
    ModuleOp module = getOperation();
    if (Operation *op = counter.surplus)
      return op->emitOpError("tp-count: internal error: this ")
             << counter.surplusWork << " is done "
             << counter.totals.times(counter.surplusWork)
             << " times in the step, predicted were "
             << predicted.times(counter.surplusWork);
    for (auto &[work, times] : predicted.work)
      if (counter.totals.times(work) != times)
        return module.emitError("tp-count: internal error: ")
               << work << " was predicted " << times << " times, and is done "
               << counter.totals.times(work) << " times in the step";
    if (counter.totals.savedBytes != predicted.savedBytes)
      return module.emitError("tp-count: internal error: the backward reads ")
             << counter.totals.savedBytes
             << " bytes of forward values, predicted were "
             << predicted.savedBytes;
    if (counter.totals.toAttr(&getContext()) != predicted.toAttr(&getContext()))
      return module.emitError("tp-count: internal error: the totals differ, "
                              "though their parts are equal");
    return success();
  }
};
} // namespace
