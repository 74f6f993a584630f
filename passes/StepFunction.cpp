// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function that passes work on, checked.

#include "colrow/passes/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace colrow;

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

FailureOr<func::FuncOp> passes::getStepFunction(ModuleOp module) {
  func::FuncOp found;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (found)
      return function.emitError("a module holds one step function, and '")
             << found.getSymName() << "' is another one";
    found = function;
  }
  if (!found)
    return module.emitError("the module has no function: no step");
  if (failed(tp::verifyPhases(found)) || failed(checkStaticTensors(found)))
    return failure();
  return found;
}

/// Results leave the step under their roles.
static LogicalResult checkResultRoles(func::FuncOp step) {
  llvm::StringSet<> roles;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    auto role = step.getResultAttrOfType<StringAttr>(i, tp::getRoleAttrName());
    if (!role)
      continue;
    if (llvm::is_contained({"grad_norm", "token_count"}, role.getValue()))
      return step.emitError("result ")
             << i << " has the role " << role
             << ", under which the step's own leaves; give it another one";
    if (!roles.insert(role.getValue()).second)
      return step.emitError("two results have the role ")
             << role << "; a value leaves the step under a name of its own";
  }
  return success();
}

FailureOr<func::FuncOp> passes::getForwardFunction(ModuleOp module) {
  auto step = getStepFunction(module);
  if (succeeded(step) && !llvm::hasSingleElement(step->getBody()))
    return step->emitError("has phases after the forward already; this pass "
                           "comes before tp-differentiate");
  if (succeeded(step) && failed(checkResultRoles(*step)))
    return failure();
  return step;
}

void passes::eraseUnread(func::FuncOp step) {
  for (Block &block : llvm::reverse(step.getBody()))
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op) || (isa<tp::ParamOp>(op) && op.use_empty()))
        op.erase();
}
