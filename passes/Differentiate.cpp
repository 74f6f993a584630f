// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-differentiate: the backward graph, op by op from the loss.

#include "colrow/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace colrow::passes {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "colrow/Passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

namespace {
class Differentiator {
public:
  Differentiator(ModuleOp module, func::FuncOp step)
      : step(step), symbols(module), builder(module.getContext()) {}

  LogicalResult run() {
    std::optional<unsigned> lossIndex;
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      auto role =
          step.getResultAttrOfType<StringAttr>(i, tp::getRoleAttrName());
      if (role && role.getValue() == "loss")
        lossIndex = i;
    }
    if (!lossIndex)
      return step.emitError(
          "tp-differentiate: no result has the role \"loss\"; "
          "mark it by {tp.role = \"loss\"}");
    Value loss = step.getBody().front().getTerminator()->getOperand(*lossIndex);
    if (cast<RankedTensorType>(loss.getType()).getRank() != 0)
      return step.emitError("tp-differentiate: the loss must be a scalar");
    findDependents();
    if (!needsGradient.contains(loss))
      return step.emitError(
          "tp-differentiate: the loss depends on no parameter "
          "that is trained");
    emitResults(loss);
    tp::addPhases(step);
    Block &forward = step.getBody().front();
    builder.setInsertionPoint(forward.getNextNode()->getTerminator());
    gradients[loss] = tp::SeedOp::create(builder, loss.getLoc(),
                                         tp::dualType(loss.getType()));
    for (Operation &op : llvm::reverse(forward.without_terminator()))
      if (failed(visit(&op)))
        return failure();
    emitGradients();
    return success();
  }

private:
  void findDependents() {
    for (Operation &op : step.getBody().front().without_terminator()) {
      bool depends = llvm::any_of(
          op.getOperands(), [&](Value v) { return needsGradient.contains(v); });
      if (auto param = dyn_cast<tp::ParamOp>(op))
        depends =
            !symbols.lookup<tp::ParameterOp>(param.getSymbol()).getFrozen();
      if (!depends)
        continue;
      for (Value result : op.getResults())
        if (cast<RankedTensorType>(result.getType()).getElementType().isF32())
          needsGradient.insert(result);
    }
  }

  LogicalResult visit(Operation *op) {
    SmallVector<Value> incoming;
    for (Value result : op->getResults())
      incoming.push_back(gradients.lookup(result));
    if (llvm::none_of(incoming, [](Value v) { return bool(v); }))
      return success();
    if (auto param = dyn_cast<tp::ParamOp>(op)) {
      accumulate(parameterGradients[param.getSymbol()], incoming[0],
                 param.getLoc());
      return success();
    }
    SmallVector<bool> wanted;
    for (Value operand : op->getOperands())
      wanted.push_back(needsGradient.contains(operand));
    if (llvm::none_of(wanted, [](bool w) { return w; }))
      return success();
    auto differentiable = dyn_cast<tp::DifferentiableOpInterface>(op);
    if (!differentiable)
      return op->emitOpError("has no gradient, but the loss depends on it");
    SmallVector<Value> outgoing =
        differentiable.buildGradients(builder, incoming, wanted);
    for (auto [operand, gradient, want] :
         llvm::zip(op->getOperands(), outgoing, wanted))
      if (gradient && want)
        accumulate(gradients[operand], gradient, op->getLoc());
    return success();
  }

  /// Sums of gradients: one state, so partial meets partial only.
  void accumulate(Value &sum, Value gradient, Location loc) {
    sum = sum ? tp::AddOp::create(builder, loc, sum.getType(), sum, gradient)
                    .getResult()
              : gradient;
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

  /// Results leave the forward as tp.output, and so does the count that tells a
  /// step without labels from one that went wrong.
  void emitResults(Value loss) {
    Operation *ret = step.getBody().front().getTerminator();
    builder.setInsertionPoint(ret);
    for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
      auto role =
          step.getResultAttrOfType<StringAttr>(i, tp::getRoleAttrName());
      emitOutput(role ? role.getValue().str() : "result" + std::to_string(i),
                 FlatSymbolRefAttr(), value);
    }
    if (Value count = countOf(loss))
      emitOutput("token_count", FlatSymbolRefAttr(), count);
    ret->setOperands({});
    (void)step.eraseResults(llvm::BitVector(step.getNumResults(), true));
  }

  /// Parameters' gradients leave the backward as tp.output.
  void emitGradients() {
    for (auto &[symbol, gradient] : parameterGradients)
      emitOutput("gradient",
                 FlatSymbolRefAttr::get(builder.getContext(), symbol),
                 gradient);
  }

  func::FuncOp step;
  SymbolTable symbols;
  OpBuilder builder;
  llvm::DenseSet<Value> needsGradient;
  llvm::DenseMap<Value, Value> gradients;
  llvm::MapVector<StringRef, Value> parameterGradients;
};

struct DifferentiatePass : passes::impl::DifferentiateBase<DifferentiatePass> {
  void runOnOperation() override {
    auto step = getForwardFunction(getOperation());
    if (failed(step) || failed(Differentiator(getOperation(), *step).run()))
      signalPassFailure();
  }
};
} // namespace
