// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that passes work on, checked.

#include "colrow/passes/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

/// Every pass relies on it: values are tensors of static shape whose elements
/// can be counted.
static LogicalResult checkStaticTensors(func::FuncOp step) {
  auto check = [&](Location loc, Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    bool fits = tensor && tensor.hasStaticShape();
    uint64_t elements = 1;
    for (int64_t size : fits ? tensor.getShape() : ArrayRef<int64_t>())
      if (size < 1 || (elements = llvm::SaturatingMultiply<uint64_t>(
                           elements, size)) > layout::maxElements)
        fits = false;
    if (fits)
      return success();
    return emitError(loc) << "a value has type " << type
                          << "; wanted a tensor of static shape, not empty "
                             "and of at most 2^46 elements";
  };
  for (BlockArgument argument : step.getArguments())
    if (failed(check(step.getLoc(), argument.getType())))
      return failure();
  for (Operation &op : step.getBody().getOps())
    for (Type type : op.getResultTypes())
      if (failed(check(op.getLoc(), type)))
        return failure();
  return success();
}

static LogicalResult checkFunction(func::FuncOp function) {
  if (function.isPrivate() && !function.isExternal())
    return function.emitError("'")
           << function.getSymName()
           << "' is private, but every function becomes a program and none is "
              "called; put its ops where they are needed";
  return failure(failed(tp::verifyPhases(function)) ||
                 failed(checkStaticTensors(function)));
}

FailureOr<StepFunctions> passes::getStepFunctions(ModuleOp module) {
  StepFunctions found;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (failed(checkFunction(function)))
      return failure();
    if (tp::isForwardOnly(function)) {
      found.all.push_back(function);
      continue;
    }
    if (found.trained)
      return function.emitError("'")
             << found.trained.getSymName() << "' and '" << function.getSymName()
             << "' are both trained, but one function of a module is; mark "
                "what "
                "is only evaluated: attributes {tp.forward}";
    found.trained = function;
    found.all.insert(found.all.begin(), function);
  }
  if (found.all.empty())
    return module.emitError("the module has no function: no step");
  return found;
}

/// Results leave the step under their roles.
static LogicalResult checkResultRoles(func::FuncOp step) {
  llvm::StringSet<> roles;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    auto role = step.getResultAttrOfType<StringAttr>(i, tp::getRoleAttrName());
    if (!role)
      continue;
    if (!tp::isForwardOnly(step) &&
        llvm::is_contained({"grad_norm", "token_count"}, role.getValue()))
      return step.emitError("result ")
             << i << " has the role " << role
             << ", under which the step's own leaves; give it another one";
    if (!roles.insert(role.getValue()).second)
      return step.emitError("two results have the role ")
             << role << "; a value leaves the step under a name of its own";
  }
  return success();
}

static LogicalResult checkForward(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError("has phases after the forward already; this pass "
                              "comes before tp-differentiate");
  return checkResultRoles(function);
}

FailureOr<StepFunctions> passes::getForwardFunctions(ModuleOp module) {
  auto functions = getStepFunctions(module);
  if (failed(functions) || llvm::any_of(functions->all, [](func::FuncOp step) {
        return failed(checkForward(step));
      }))
    return failure();
  return functions;
}

void passes::leaveResults(func::FuncOp step,
                          llvm::function_ref<Value(Value)> leaving) {
  Operation *ret = step.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
    auto role = step.getResultAttrOfType<StringAttr>(i, tp::getRoleAttrName());
    Value result = leaving(value);
    OpBuilder builder(ret);
    tp::OutputOp::create(
        builder, result.getLoc(),
        role ? role.getValue().str() : "result" + std::to_string(i),
        FlatSymbolRefAttr(), result, tp::LayoutAttr(), TypeAttr());
  }
  ret->setOperands({});
  (void)step.eraseResults(llvm::BitVector(step.getNumResults(), true));
}

void passes::eraseUnread(func::FuncOp step) {
  for (Block &block : llvm::reverse(step.getBody()))
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op) || (isa<tp::ParamOp>(op) && op.use_empty()))
        op.erase();
}
