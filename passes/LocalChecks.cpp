// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Effects and masks of a partitioned step.

#include "LocalChecks.h"
#include "colrow/Layout/FactorRule.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using layout::FactorRule;

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

static LogicalResult checkOutputs(ModuleOp module, func::FuncOp step) {
  llvm::StringSet<> names;
  WalkResult walk = step.walk([&](tp::OutputOp output) {
    StringRef name = output.getParameter().value_or(output.getName());
    if (names.insert(name).second)
      return WalkResult::advance();
    output.emitOpError("lets a second value leave as \"")
        << name << "\"; give it a name of its own";
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  if (module->hasAttr(tp::getOptimizerAttrName()) && !tp::isForwardOnly(step))
    for (StringRef name : {"loss", "grad_norm"})
      if (!names.contains(name))
        return step.emitError("has an optimizer, but no tp.output \"")
               << name << "\"";
  return success();
}

/// An output that is a symbol's memory would be read after the update.
static LogicalResult
checkOutputOfSymbol(tp::OutputOp output,
                    const llvm::StringMap<tp::UpdateOp> &updates) {
  Value value = output.getValue();
  while (auto reshape = value.getDefiningOp<tp::ReshapeOp>())
    value = reshape.getX();
  auto param = value.getDefiningOp<tp::ParamOp>();
  if (!param || !updates.contains(param.getSymbol()))
    return success();
  return output.emitOpError("lets the memory of @")
         << param.getSymbol()
         << " leave, which the step updates; a copy (tp.scale by 1) keeps the "
            "value at the start";
}

LogicalResult passes::checkEffects(ModuleOp module, func::FuncOp step) {
  if (failed(checkOutputs(module, step)))
    return failure();
  llvm::StringMap<tp::UpdateOp> updates;
  SymbolTable symbols(module);
  WalkResult walk = step.walk([&](tp::UpdateOp update) {
    StringRef name = update.getSymbol();
    if (tp::isForwardOnly(step)) {
      update.emitOpError("updates @")
          << name << ", but '" << step.getSymName() << "' is forward only";
      return WalkResult::interrupt();
    }
    auto parameter = symbols.lookup<tp::ParameterOp>(name);
    if (updates.try_emplace(name, update).second &&
        !(parameter && parameter.getFrozen()))
      return WalkResult::advance();
    update.emitOpError("updates @")
        << name
        << (parameter && parameter.getFrozen() ? ", which is frozen"
                                               : " a second time");
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  walk = step.walk([&](tp::OutputOp output) {
    return failed(checkOutputOfSymbol(output, updates))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult passes::checkStates(ModuleOp module, func::FuncOp trained) {
  llvm::StringSet<> updated;
  if (trained)
    trained.walk([&](tp::UpdateOp op) { updated.insert(op.getSymbol()); });
  llvm::StringSet<> withMaster;
  for (auto state : module.getOps<tp::StateOp>()) {
    if (state.getMaster() && !withMaster.insert(state.getParameter()).second)
      return state.emitOpError("is the second master of @")
             << state.getParameter();
    for (StringRef name : {state.getSymName(), state.getParameter()})
      if (!updated.contains(name))
        return state.emitOpError(
                   "is kept for training, but no tp.update sets @")
               << name;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// What the consumer wants in the padding of dimension `dim`; NaN: anything.
static double neutralPadding(OpOperand &use, unsigned dim) {
  if (isa<tp::UpdateOp>(use.getOwner()))
    return 0;
  double none = std::numeric_limits<double>::quiet_NaN();
  auto shardable = dyn_cast<tp::ShardableOpInterface>(use.getOwner());
  if (!shardable)
    return none;
  unsigned operand = use.getOperandNumber();
  const FactorRule &rule = llvm::cantFail(tp::getRule(shardable));
  unsigned factor = rule.operands[operand][dim].front();
  return shardable.getNeutralPadding(operand, rule.isSummed(factor));
}

LogicalResult passes::checkMasks(func::FuncOp step) {
  WalkResult walk = step.walk([](tp::MaskPaddingOp mask) {
    auto fail = [&](const Twine &why) {
      mask.emitOpError() << why;
      return WalkResult::interrupt();
    };
    if (!mask->hasOneUse())
      return fail("has another number of uses than one; each op that needs a "
                  "mask has its own");
    OpOperand &use = *mask->use_begin();
    double fill = mask.getFill().convertToDouble();
    layout::Layout layout = mask.getLayout().getLayout();
    bool needed = false;
    for (unsigned d = 0; d < layout.dims.size(); ++d) {
      if (!layout.isPadded(d))
        continue;
      double neutral = neutralPadding(use, d);
      if (std::isnan(neutral))
        continue;
      if (neutral != fill)
        return fail("sets padding to " + Twine(std::to_string(fill)) +
                    ", but '" + use.getOwner()->getName().getStringRef() +
                    "' needs " + Twine(std::to_string(neutral)));
      needed = true;
    }
    if (!needed)
      return fail("is needed by nothing: '" +
                  use.getOwner()->getName().getStringRef() +
                  "' takes any padding");
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

LogicalResult passes::checkOrder(func::FuncOp step) {
  llvm::DenseSet<Value> made;
  for (Block &phase : step.getBody()) {
    made.insert_range(phase.getArguments());
    for (Operation &op : phase) {
      for (auto [i, operand] : llvm::enumerate(op.getOperands()))
        if (!made.contains(operand))
          return op.emitOpError("uses operand ") << i << " before it is made";
      made.insert_range(op.getResults());
    }
  }
  return success();
}

LogicalResult passes::checkKernels(func::FuncOp step) {
  int64_t last = -1;
  for (Block &phase : step.getBody()) {
    bool together = false;
    for (Operation &op : phase) {
      auto number = op.getAttrOfType<IntegerAttr>(tp::getKernelAttrName());
      if (number &&
          (number.getInt() < last || (number.getInt() == last && !together)))
        return op.emitOpError("is of kernel ")
               << number.getInt() << ", but stands behind one of kernel "
               << last << " and not next to it; numbers rise, and members of a "
               << "kernel stand together";
      together = bool(number);
      if (number)
        last = number.getInt();
    }
  }
  return success();
}
