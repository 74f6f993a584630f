// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values of a forward have a gradient.

#include "colrow/Sharding/Gradients.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::sharding;

std::optional<unsigned> sharding::findLoss(func::FuncOp step) {
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

bool Gradients::pass(OpOperand &use) const {
  return reach(use.get()) &&
         llvm::any_of(use.getOwner()->getResults(), [&](OpResult result) {
           return reach(result) && depends(result, use);
         });
}

void Gradients::follow(Block &block, llvm::DenseSet<Value> trained,
                       ArrayRef<Value> seeds) {
  for (Operation &op : block)
    for (OpResult result : op.getResults())
      if (llvm::any_of(op.getOpOperands(), [&](OpOperand &operand) {
            return trained.contains(operand.get()) && depends(result, operand);
          }))
        trained.insert(result);
  for (Value seed : seeds)
    if (trained.contains(seed))
      found.insert(seed);
  for (Operation &op : llvm::reverse(block))
    for (OpResult result : op.getResults())
      for (OpOperand &operand : op.getOpOperands())
        if (found.contains(result) && trained.contains(operand.get()) &&
            depends(result, operand))
          found.insert(operand.get());
}

Gradients::Gradients(Block &block, ArrayRef<Value> trained,
                     ArrayRef<Value> seeds) {
  follow(block, llvm::DenseSet<Value>(trained.begin(), trained.end()), seeds);
}

Gradients::Gradients(ModuleOp module, func::FuncOp step) {
  std::optional<unsigned> loss = findLoss(step);
  if (!loss || tp::isForwardOnly(step))
    return;
  SymbolTable symbols(module);
  Block &forward = step.getBody().front();
  llvm::DenseSet<Value> trained;
  for (auto param : forward.getOps<tp::ParamOp>())
    if (auto parameter = symbols.lookup<tp::ParameterOp>(param.getSymbol());
        parameter && !parameter.getFrozen())
      trained.insert(param.getResult());
  follow(forward, std::move(trained),
         forward.getTerminator()->getOperand(*loss));
}
