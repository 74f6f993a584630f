// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values of a forward have a gradient.

#include "Gradients.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

std::optional<unsigned> passes::findLoss(func::FuncOp step) {
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    auto role = step.getResultAttrOfType<StringAttr>(i, tp::getRoleAttrName());
    if (role && role.getValue() == "loss")
      return i;
  }
  return std::nullopt;
}

/// True if `result` depends on `operand` of the same op.
static bool depends(OpResult result, OpOperand &operand) {
  return tp::getGradientFlow(result, operand) != tp::GradientFlow::Zero;
}

llvm::DenseSet<Value> passes::findValuesWithGradient(ModuleOp module,
                                                     func::FuncOp step) {
  std::optional<unsigned> loss = findLoss(step);
  if (!loss)
    return {};
  Block &forward = step.getBody().front();
  SymbolTable symbols(module);
  llvm::DenseSet<Value> trained; // a trained parameter reaches them
  for (Operation &op : forward.without_terminator()) {
    if (auto param = dyn_cast<tp::ParamOp>(op)) {
      auto parameter = symbols.lookup<tp::ParameterOp>(param.getSymbol());
      if (parameter && !parameter.getFrozen())
        trained.insert(param.getResult());
      continue;
    }
    for (OpResult result : op.getResults())
      if (llvm::any_of(op.getOpOperands(), [&](OpOperand &operand) {
            return trained.contains(operand.get()) && depends(result, operand);
          }))
        trained.insert(result);
  }
  llvm::DenseSet<Value> found; // those of them that reach the loss
  Value lossValue = forward.getTerminator()->getOperand(*loss);
  if (trained.contains(lossValue))
    found.insert(lossValue);
  for (Operation &op : llvm::reverse(forward.without_terminator()))
    for (OpResult result : op.getResults())
      for (OpOperand &operand : op.getOpOperands())
        if (found.contains(result) && trained.contains(operand.get()) &&
            depends(result, operand))
          found.insert(operand.get());
  return found;
}

SmallVector<bool>
passes::findWantedOperands(Operation *op,
                           const llvm::DenseSet<Value> &withGradient) {
  SmallVector<bool> wanted;
  for (OpOperand &operand : op->getOpOperands())
    wanted.push_back(withGradient.contains(operand.get()) &&
                     llvm::any_of(op->getResults(), [&](OpResult result) {
                       return withGradient.contains(result) &&
                              depends(result, operand);
                     }));
  return wanted;
}

void passes::separateSideUses(ModuleOp module, func::FuncOp step) {
  llvm::DenseSet<Value> withGradient = findValuesWithGradient(module, step);
  llvm::DenseMap<Value, Value> constants;
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (isa<tp::StopGradientOp>(op))
      continue;
    SmallVector<bool> wanted = findWantedOperands(&op, withGradient);
    for (OpOperand &operand : op.getOpOperands()) {
      Value value = operand.get();
      if (wanted[operand.getOperandNumber()] || !withGradient.contains(value))
        continue;
      Value &constant = constants[value];
      if (!constant) {
        OpBuilder builder(module.getContext());
        builder.setInsertionPointAfterValue(value);
        constant = tp::StopGradientOp::create(builder, value.getLoc(),
                                              value.getType(), value);
      }
      operand.set(constant);
    }
  }
}
