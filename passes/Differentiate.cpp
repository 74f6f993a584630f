// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-differentiate: the backward graph, op by op from the loss.

#include "colrow/Sharding/StepWork.h"
#include "colrow/passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace colrow::passes {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

namespace {
class Differentiator {
public:
  Differentiator(ModuleOp module, func::FuncOp step)
      : step(step), builder(module.getContext()), withGradient(module, step) {}

  LogicalResult run() {
    std::optional<unsigned> lossIndex = sharding::findLoss(step);
    if (!lossIndex)
      return step.emitError(
          "tp-differentiate: no result has the role \"loss\"; "
          "mark it by {tp.role = \"loss\"}, or the function by tp.forward if "
          "it "
          "is only evaluated");
    Value loss = step.getBody().front().getTerminator()->getOperand(*lossIndex);
    if (cast<RankedTensorType>(loss.getType()).getRank() != 0)
      return step.emitError("tp-differentiate: the loss must be a scalar");
    if (!withGradient.reach(loss))
      return step.emitError(
          "tp-differentiate: the loss depends on no parameter "
          "that is trained");
    Block &forward = step.getBody().front();
    // Before backward ops use the forward's values: flows are the graph's.
    for (Operation &op : llvm::reverse(forward.without_terminator()))
      if (failed(checkFlow(&op)))
        return failure();
    emitResults(loss);
    tp::addPhases(step);
    builder.setInsertionPoint(forward.getNextNode()->getTerminator());
    gradients[loss] = tp::SeedOp::create(builder, loss.getLoc(),
                                         tp::dualType(loss.getType()));
    for (Operation &op : llvm::reverse(forward.without_terminator()))
      if (failed(visit(&op)))
        return failure();
    emitGradients();
    foldCasts();
    return checkRoundings();
  }

private:
  LogicalResult visit(Operation *op) {
    SmallVector<Value> incoming;
    for (Value result : op->getResults())
      incoming.push_back(finish(gradients.lookup(result), result));
    if (llvm::none_of(incoming, [](Value v) { return bool(v); }))
      return success();
    if (auto param = dyn_cast<tp::ParamOp>(op)) {
      accumulate(parameterGradients[param.getSymbol()], incoming[0], param,
                 param.getLoc());
      return success();
    }
    ArrayRef<bool> wanted = wantedOperands.find(op)->second;
    SmallVector<Value> outgoing =
        cast<tp::DifferentiableOpInterface>(op).buildGradients(
            builder, incoming, wanted);
    for (auto [operand, gradient, want] :
         llvm::zip(op->getOpOperands(), outgoing, wanted)) {
      if (!want)
        continue;
      if (!gradient)
        return op->emitOpError("built no gradient of its operand ")
               << operand.getOperandNumber();
      accumulate(gradients[operand.get()], gradient, operand.get(),
                 op->getLoc());
    }
    return success();
  }

  /// Notes which operands of `op` want a gradient; refuses what would leave one
  /// out.
  LogicalResult checkFlow(Operation *op) {
    if (llvm::none_of(op->getResults(),
                      [&](Value result) { return withGradient.reach(result); }))
      return success();
    ArrayRef<bool> wanted = wantedOperands[op] =
        llvm::map_to_vector(op->getOpOperands(), [&](OpOperand &operand) {
          return withGradient.pass(operand);
        });
    if (!isa<tp::ParamOp, tp::DifferentiableOpInterface>(op))
      return op->emitOpError("has no gradient, but the loss depends on it");
    for (OpResult result : op->getResults())
      for (OpOperand &operand : op->getOpOperands())
        if (wanted[operand.getOperandNumber()] && withGradient.reach(result) &&
            tp::getGradientFlow(result, operand) == tp::GradientFlow::Missing)
          return op->emitOpError("has no gradient of its result ")
                 << result.getResultNumber() << " in its operand "
                 << operand.getOperandNumber()
                 << ", but the loss depends on a trained parameter through "
                    "them; if it is meant as a constant, put "
                    "tp.stop_gradient on the operand";
    return success();
  }

  /// Whether ranks' shares of the gradient of `value` are rounded, each by
  /// itself, as its parameter says.
  static bool roundsShares(Value value) {
    return !getElementTypeOrSelf(tp::gradientType(value)).isF32() &&
           tp::findParam(value);
  }

  /// Sums of gradients of `value`: one state, so partial meets partial only,
  /// and one type, whatever that of the op's sum is. Shares that will be
  /// rounded are summed in float32 first.
  void accumulate(Value &sum, Value gradient, Value value, Location loc) {
    Type type = tp::gradientType(value);
    if (roundsShares(value)) {
      if (!sum) {
        sum = gradient;
        return;
      }
      type = tp::inFloat32(type);
      sum = tp::castTo(builder, loc, sum,
                       tp::withElementsOf(sum.getType(), type));
    }
    gradient = tp::castTo(builder, loc, gradient,
                          tp::withElementsOf(gradient.getType(), type));
    valueOf.try_emplace(gradient.getDefiningOp(), value);
    sum = sum ? tp::AccumulateOp::create(builder, loc, sum.getType(), sum,
                                         gradient)
                    .getResult()
              : gradient;
  }

  /// The sum of all gradients of `value` as what made it takes it.
  Value finish(Value sum, Value value) {
    if (!sum || !roundsShares(value) || !getElementTypeOrSelf(sum).isF32())
      return sum;
    return tp::RoundShareOp::create(builder, sum.getLoc(),
                                    tp::gradientType(value), sum);
  }

  /// What is widened again need not be rounded before: a cast of a cast is its
  /// operand. (A sum over rows is in float32 when it is made.)
  void foldCasts() {
    for (Operation &op : llvm::make_early_inc_range(*builder.getBlock())) {
      auto cast = dyn_cast<tp::CastOp>(op);
      auto inner =
          cast ? cast.getX().getDefiningOp<tp::CastOp>() : tp::CastOp();
      if (inner && inner->getBlock() == builder.getBlock() &&
          inner.getX().getType() == cast.getY().getType())
        cast.getY().replaceAllUsesWith(inner.getX());
    }
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(*builder.getBlock())))
      if (isa<tp::CastOp>(op) && op.use_empty())
        op.erase();
  }

  /// Refuses what would round the ranks' summands of a gradient, each by
  /// itself.
  LogicalResult checkRoundings() {
    for (auto cast : builder.getBlock()->getOps<tp::CastOp>()) {
      tp::LayoutAttr layout = tp::getLayoutAttr(cast.getX());
      Value value = valueOf.lookup(cast);
      if (!value || !layout || layout.getLayout().partial.empty() ||
          getElementTypeOrSelf(cast.getY()).isF32())
        continue;
      return emitError(value.getLoc())
             << "tp-differentiate: the gradient of this value of "
             << value.getType()
             << " is a sum of rows, which each rank would round by itself; "
                "widen the value with tp.cast before it is broadcast";
    }
    return success();
  }

  /// What the loss is the mean of, where every rank has it whole; null for a
  /// loss that is no mean.
  static Value countOf(Value loss) {
    Operation *op = loss.getDefiningOp();
    while (isa_and_nonnull<tp::LayoutChangeOpInterface>(op))
      op = op->getOperand(0).getDefiningOp();
    auto mean = dyn_cast_or_null<tp::MeanOp>(op);
    if (!mean)
      return Value();
    tp::LayoutAttr layout = tp::getLayoutAttr(mean.getCount());
    for (unsigned axis = 0; layout && axis < layout.getMesh().getNames().size();
         ++axis)
      if (layout.getLayout().state(axis).kind != layout::StateKind::Replicated)
        return Value();
    return mean.getCount();
  }

  void emitOutput(StringRef name, FlatSymbolRefAttr parameter, Value value) {
    tp::OutputOp::create(builder, value.getLoc(), name, parameter, value,
                         tp::LayoutAttr(), TypeAttr());
  }

  /// True if `value` is a parameter's memory, perhaps under another type.
  static bool isParameter(Value value) {
    Operation *op = value.getDefiningOp();
    while (isa_and_nonnull<tp::ReshapeOp, tp::StopGradientOp,
                           tp::LayoutChangeOpInterface>(op))
      op = op->getOperand(0).getDefiningOp();
    return isa_and_nonnull<tp::ParamOp>(op);
  }

  /// Results leave the forward as tp.output, and so does the count that tells a
  /// step without labels from one that went wrong.
  void emitResults(Value loss) {
    builder.setInsertionPoint(step.getBody().front().getTerminator());
    // A parameter's memory is overwritten by its update; what leaves the step
    // is its value at the start.
    leaveResults(step, [&](Value value) -> Value {
      if (!isParameter(value))
        return value;
      auto copy = tp::ScaleOp::create(builder, value.getLoc(), value.getType(),
                                      value, builder.getF64FloatAttr(1.0));
      sharding::addToPrediction(step, copy.getOperation());
      return copy;
    });
    if (Value count = countOf(loss))
      emitOutput("token_count", FlatSymbolRefAttr(), count);
  }

  /// Parameters' gradients leave the backward as tp.output.
  void emitGradients() {
    for (auto &[symbol, gradient] : parameterGradients)
      emitOutput("gradient",
                 FlatSymbolRefAttr::get(builder.getContext(), symbol),
                 gradient);
  }

  func::FuncOp step;
  OpBuilder builder;
  sharding::Gradients withGradient;
  llvm::DenseMap<Operation *, SmallVector<bool>> wantedOperands;
  llvm::DenseMap<Value, Value> gradients;
  /// Of ops that make a gradient: the value that it is of.
  llvm::DenseMap<Operation *, Value> valueOf;
  llvm::MapVector<StringRef, Value> parameterGradients;
};

struct DifferentiatePass : passes::impl::DifferentiateBase<DifferentiatePass> {
  void runOnOperation() override {
    auto functions = getForwardFunctions(getOperation());
    if (failed(functions))
      return signalPassFailure();
    for (func::FuncOp step : functions->all)
      if (failed(step == functions->trained
                     ? Differentiator(getOperation(), step).run()
                     : evaluate(step)))
        return signalPassFailure();
  }

  static LogicalResult evaluate(func::FuncOp step) {
    if (step.getNumResults() == 0)
      return step.emitError("is forward only and returns nothing, so there is "
                            "nothing to run it for");
    leaveResults(step, [](Value value) { return value; });
    return success();
  }
};
} // namespace
