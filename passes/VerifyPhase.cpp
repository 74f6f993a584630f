// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-verify-phase: what holds where a phase ends.

#include "LocalChecks.h"
#include "mlir/IR/Verifier.h"

namespace colrow::passes {
#define GEN_PASS_DEF_VERIFYPHASE
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

namespace {
struct VerifyPhasePass : passes::impl::VerifyPhaseBase<VerifyPhasePass> {
  using VerifyPhaseBase::VerifyPhaseBase;

  void runOnOperation() override {
    auto functions = getStepFunctions(getOperation());
    if (failed(functions))
      return signalPassFailure();
    if (!llvm::is_contained({"graph", "sharded", "step", "local", "fused"},
                            StringRef(phase))) {
      getOperation().emitError("tp-verify-phase: no phase is called '")
          << phase << "'; wanted graph, sharded, step, local or fused";
      return signalPassFailure();
    }
    if (phase == "fused") {
      for (func::FuncOp step : functions->all)
        if (failed(checkOrder(step)) || failed(checkKernels(step)))
          return signalPassFailure();
      return;
    }
    // Factor rules, the four ways, changes of layout, symbols.
    if (failed(mlir::verify(getOperation())))
      return signalPassFailure();
    if (failed(checkParameters()))
      return signalPassFailure();
    for (func::FuncOp step : functions->all)
      if (failed(checkFunction(step)))
        return signalPassFailure();
    if (phase == "local" &&
        failed(checkStates(getOperation(), functions->trained)))
      signalPassFailure();
  }

  LogicalResult checkFunction(func::FuncOp step) {
    WalkResult result = step.walk([&](Operation *op) {
      return failed(check(op)) ? WalkResult::interrupt()
                               : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    return failure(phase == "local" &&
                   (failed(checkEffects(getOperation(), step)) ||
                    failed(checkMasks(step)) ||
                    failed(checkLocalStates(getOperation(), step))));
  }

  /// Ids key random draws, so they differ.
  LogicalResult checkParameters() {
    llvm::DenseMap<uint64_t, tp::ParameterOp> byId;
    for (auto parameter : getOperation().getOps<tp::ParameterOp>()) {
      auto [it, isNew] = byId.try_emplace(parameter.getId(), parameter);
      if (!isNew)
        return parameter.emitOpError("has the id ")
               << parameter.getId() << " of @" << it->second.getSymName()
               << "; both would be drawn alike, so give it another one";
    }
    return success();
  }

  /// Results, while the step has some, leave it as tp.outputs do.
  LogicalResult checkResults(func::ReturnOp op) {
    auto step = op->getParentOfType<func::FuncOp>();
    for (auto [i, value] : llvm::enumerate(op.getOperands())) {
      auto role =
          step.getResultAttrOfType<StringAttr>(i, tp::getRoleAttrName());
      std::string name =
          role ? role.getValue().str() : "result" + std::to_string(i);
      if (failed(tp::detail::verifyLeaving(
              op, name, cast<RankedTensorType>(value.getType()))))
        return failure();
    }
    return success();
  }

  LogicalResult check(Operation *op) {
    if (auto ret = dyn_cast<func::ReturnOp>(op);
        ret && phase == "step" && failed(checkResults(ret)))
      return failure();
    if (isa<func::FuncOp, func::ReturnOp>(op))
      return checkTypes(op);
    if (phase == "graph" && isa<tp::NextOp>(op))
      return op->emitOpError("ends a phase; a graph is forward only, and "
                             "tp-differentiate makes the other phases");
    if (isa<CallOpInterface>(op))
      return op->emitOpError(
          "calls a function, but every function is a program "
          "by itself; put the callee's ops in its place");
    if (!isa_and_nonnull<tp::TPDialect>(op->getDialect()))
      return op->emitOpError("is not a tp op; between import and the kernels "
                             "only tp ops touch tensors");
    if (phase != "sharded" && op->hasAttr(tp::getWaysAttrName()))
      return op->emitOpError("still has its ways; run tp-insert-conjugates");
    if (phase == "local" && !isa<tp::NextOp, tp::RowLowerableOpInterface,
                                 tp::PlanLowerableOpInterface, tp::ParamOp,
                                 tp::UpdateOp, tp::OutputOp>(op))
      return op->emitOpError("has no lowering to local code");
    return checkTypes(op);
  }

  LogicalResult checkTypes(Operation *op) {
    bool wanted = phase == "sharded" || phase == "step";
    auto check = [&](Value value) -> LogicalResult {
      auto tensor = dyn_cast<RankedTensorType>(value.getType());
      if (!tensor || !tensor.hasStaticShape())
        return op->emitOpError("touches ")
               << value.getType() << "; only tensors of static shape are known";
      if (bool(tp::getLayoutAttr(tensor)) != wanted)
        return op->emitOpError("has ")
               << (wanted ? "a tensor without a layout"
                          : "a tensor with a layout")
               << ", which phase '" << phase << "' must not have";
      return success();
    };
    for (Value value : op->getOperands())
      if (failed(check(value)))
        return failure();
    for (Value value : op->getResults())
      if (failed(check(value)))
        return failure();
    return success();
  }
};
} // namespace
