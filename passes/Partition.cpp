// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-partition: local shapes, collectives, and masks where padding would count.

#include "colrow/Layout/FactorRule.h"
#include "colrow/Sharding/StepWork.h"
#include "colrow/passes/Passes.h"
#include <cmath>

namespace colrow::passes {
#define GEN_PASS_DEF_PARTITION
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using layout::FactorRule;

namespace {

/// What the padding of each value holds along each padded dimension, and masks
/// where an op needs a neutral value and does not have it.
class PaddingAnalysis {
public:
  PaddingAnalysis(func::FuncOp step) : step(step), builder(step.getContext()) {}

  LogicalResult run() {
    SmallVector<Operation *> ops;
    step.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(visit(op)))
        return failure();
    return success();
  }

  ArrayRef<Operation *> getMasks() const { return masks; }

private:
  using Known = std::optional<double>;

  static bool padded(Value value, unsigned dim) {
    tp::LayoutAttr attr = tp::getLayoutAttr(value);
    return attr && attr.getLayout().isPadded(dim);
  }

  Known lookup(Value value, unsigned dim) {
    auto it = holds.find({value, dim});
    return it == holds.end() ? std::nullopt : it->second;
  }

  LogicalResult visit(Operation *op) {
    if (isa<tp::ParamOp>(op)) { // loaders and updates keep it zero
      forPaddedDims(op->getResult(0),
                    [&](unsigned d) { holds[{op->getResult(0), d}] = 0.0; });
      return success();
    }
    if (isa<tp::LayoutChangeOpInterface>(op)) {
      // Sums of zeros are zero; reduce-scatter and slice write zeros.
      forPaddedDims(op->getResult(0), [&](unsigned d) {
        bool made = !padded(op->getOperand(0), d);
        holds[{op->getResult(0), d}] =
            made ? Known(0.0) : lookup(op->getOperand(0), d);
      });
      return success();
    }
    if (auto update = dyn_cast<tp::UpdateOp>(op)) {
      forPaddedDims(update.getValue(),
                    [&](unsigned d) { require(op->getOpOperand(0), d, 0.0); });
      return success();
    }
    if (auto shardable = dyn_cast<tp::ShardableOpInterface>(op))
      return visitShardable(shardable);
    return success();
  }

  LogicalResult visitShardable(tp::ShardableOpInterface op) {
    auto rule = tp::getRule(op);
    if (!rule)
      return op->emitOpError() << llvm::toString(rule.takeError());
    for (unsigned f = 0; f < rule->factors.size(); ++f)
      if (isPadded(op, *rule, f))
        visitFactor(op, *rule, f);
    return success();
  }

  static bool isPadded(Operation *op, const FactorRule &rule, unsigned f) {
    auto any = [&](ValueRange values, ArrayRef<FactorRule::Dims> dims) {
      for (auto [value, list] : llvm::zip(values, dims))
        if (auto d = FactorRule::majorDim(list, f); d && padded(value, *d))
          return true;
      return false;
    };
    return any(op->getOperands(), rule.operands) ||
           any(op->getResults(), rule.results);
  }

  /// Masks operands that must be neutral along padded factor `f`, then notes
  /// what the results hold.
  void visitFactor(tp::ShardableOpInterface op, const FactorRule &rule,
                   unsigned f) {
    bool summed = rule.isSummed(f);
    SmallVector<Known> operands;
    for (OpOperand &use : op->getOpOperands()) {
      unsigned i = use.getOperandNumber();
      auto d = FactorRule::majorDim(rule.operands[i], f);
      if (!d || !padded(use.get(), *d)) {
        operands.push_back(std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      double neutral = op.getNeutralPadding(i, summed);
      if (!std::isnan(neutral))
        require(use, *d, neutral);
      operands.push_back(lookup(use.get(), *d));
    }
    for (auto [i, value] : llvm::enumerate(op->getResults()))
      if (auto d = FactorRule::majorDim(rule.results[i], f);
          d && padded(value, *d))
        holds[{value, *d}] = op.getPaddingValue(i, operands);
  }

  /// A mask of its own for each use, so that it fuses with its consumer.
  void require(OpOperand &use, unsigned dim, double fill) {
    Value value = use.get();
    if (lookup(value, dim) == fill)
      return;
    builder.setInsertionPoint(use.getOwner());
    Value masked = tp::MaskPaddingOp::create(
        builder, value.getLoc(), value.getType(), value,
        builder.getF64FloatAttr(fill), tp::getLayoutAttr(value));
    forPaddedDims(masked, [&](unsigned d) { holds[{masked, d}] = fill; });
    use.set(masked);
    masks.push_back(masked.getDefiningOp());
  }

  static void forPaddedDims(Value value, llvm::function_ref<void(unsigned)> f) {
    auto type = cast<RankedTensorType>(value.getType());
    for (unsigned d = 0; d < type.getRank(); ++d)
      if (padded(value, d))
        f(d);
  }

  func::FuncOp step;
  OpBuilder builder;
  llvm::DenseMap<std::pair<Value, unsigned>, Known> holds;
  SmallVector<Operation *> masks;
};

RankedTensorType localType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tp::localShape(type), tensor.getElementType());
}

/// Rewrites types and changes of layout.
class Localizer {
public:
  Localizer(func::FuncOp step) : step(step), builder(step.getContext()) {}

  LogicalResult run() {
    keepLayouts();
    SmallVector<Operation *> changes;
    step.walk([&](tp::LayoutChangeOpInterface op) { changes.push_back(op); });
    step.walk([](tp::StopGradientOp op) { op.replaceAllUsesWith(op.getX()); });
    for (Operation *op : changes)
      if (failed(lower(op)))
        return failure();
    eraseUnread(step); // gradients of inputs, gathered values
    localizeTypes();
    return success();
  }

private:
  /// Ops that index into the whole tensor keep its layout as an attribute.
  void keepLayouts() {
    step.walk([&](Operation *op) {
      Value indexed;
      if (auto shardable = dyn_cast<tp::ShardableOpInterface>(op))
        indexed = shardable.getIndexedValue();
      if (auto output = dyn_cast<tp::OutputOp>(op))
        indexed = output.getValue();
      if (!indexed)
        return;
      tp::LayoutAttr layout = tp::getLayoutAttr(indexed);
      bool split = layout && llvm::any_of(layout.getLayout().dims,
                                          [](auto &d) { return !d.empty(); });
      if (split || isa<tp::OutputOp>(op))
        op->setAttr("layout", layout);
      if (isa<tp::OutputOp>(op))
        op->setAttr("whole", TypeAttr::get(indexed.getType()));
    });
  }

  bool isTrivial(ArrayAttr names, const layout::Mesh &mesh) {
    SmallVector<unsigned> axes;
    for (StringRef name : names.getAsValueRange<StringAttr>())
      axes.push_back(*mesh.find(name));
    return mesh.groupSize(axes) == 1;
  }

  LogicalResult lower(Operation *op) {
    Value input = op->getOperand(0), result = op->getResult(0);
    tp::LayoutAttr from = tp::getLayoutAttr(input),
                   to = tp::getLayoutAttr(result);
    auto change = cast<tp::CollectiveOpInterface>(op);
    ArrayAttr axes = change.getAxes();
    StringAttr reason = change.getReasonAttr();
    builder.setInsertionPoint(op);
    Location loc = op->getLoc();
    Value made;
    if (isTrivial(axes, from.getMesh().getMesh()) || isa<tp::FOp>(op)) {
      made = input;
    } else if (isa<tp::GOp, tp::GMaxOp>(op)) {
      made = tp::AllReduceOp::create(builder, loc, result.getType(), input,
                                     axes, *change.getReductionKind(), reason);
    } else {
      std::optional<int64_t> dim = change.getDimension();
      if (!dim || isa<tp::AllToAllOp>(op))
        return op->emitOpError("tp-partition does not lower this change yet");
      auto dimAttr = builder.getI64IntegerAttr(*dim);
      if (isa<tp::GatherOp, tp::UnsliceOp>(op))
        made = tp::AllGatherOp::create(builder, loc, result.getType(), input,
                                       axes, dimAttr, reason);
      else if (isa<tp::ScatterOp>(op))
        made = tp::ReduceScatterOp::create(builder, loc, result.getType(),
                                           input, axes, dimAttr, reason);
      else
        made = tp::LocalSliceOp::create(builder, loc, result.getType(), input,
                                        axes, dimAttr, to, reason);
    }
    result.replaceAllUsesWith(made);
    op->erase();
    return success();
  }

  void localizeTypes() {
    step.walk([&](Operation *op) {
      for (Value result : op->getResults())
        result.setType(localType(result.getType()));
    });
    for (BlockArgument argument : step.getArguments())
      argument.setType(localType(argument.getType()));
    step.setFunctionType(
        builder.getFunctionType(step.getBody().getArgumentTypes(), {}));
  }

  func::FuncOp step;
  OpBuilder builder;
};

struct PartitionPass : passes::impl::PartitionBase<PartitionPass> {
  void runOnOperation() override {
    auto functions = getStepFunctions(getOperation());
    if (failed(functions))
      return signalPassFailure();
    if (!getOperation()->hasAttr(tp::getMeshAttrName())) {
      getOperation().emitError("tp-partition: the module has no tp.mesh; run "
                               "tp-shard first");
      return signalPassFailure();
    }
    for (func::FuncOp step : functions->all)
      if (failed(partition(step)))
        return signalPassFailure();
    localizeSymbols();
  }

  LogicalResult partition(func::FuncOp step) {
    if (step.getNumResults() != 0)
      return step.emitError("tp-partition: the step returns values; run "
                            "tp-differentiate first, which makes them "
                            "tp.output");
    PaddingAnalysis padding(step);
    if (failed(padding.run()))
      return failure();
    // Where one is needed is known only now.
    sharding::addToPrediction(step, padding.getMasks());
    numMasks += padding.getMasks().size();
    masks = numMasks;
    return Localizer(step).run();
  }

  unsigned numMasks = 0;

  void localizeSymbols() {
    auto localize = [](auto op) {
      op.setWholeAttr(TypeAttr::get(op.getType()));
      op.setType(localType(op.getType()));
    };
    llvm::for_each(getOperation().getOps<tp::ParameterOp>(), localize);
    llvm::for_each(getOperation().getOps<tp::StateOp>(), localize);
  }
};
} // namespace
