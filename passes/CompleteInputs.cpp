// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-complete-inputs: every argument is a named input with all it says.

#include "colrow/dialects/TP/Inputs.h"
#include "colrow/passes/Passes.h"

namespace colrow::passes {
#define GEN_PASS_DEF_COMPLETEINPUTS
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

/// `input` of `argument` with its range: what it says, else what the values
/// index, else all that the type holds.
static tp::InputAttr complete(tp::InputAttr input, Value argument) {
  auto element = cast<RankedTensorType>(argument.getType()).getElementType();
  std::optional<int64_t> low = input.getLow(), high = input.getHigh();
  if (auto integer = dyn_cast<IntegerType>(element); integer && !low) {
    std::optional<int64_t> indexed = tp::getIndexedSize(argument);
    unsigned bits = std::min(integer.getWidth(), 63u);
    bool truth = integer.getWidth() == 1;
    low = indexed || truth ? 0 : llvm::minIntN(bits);
    high = indexed ? *indexed : truth ? 2 : llvm::maxIntN(bits);
  }
  return tp::InputAttr::get(argument.getContext(), input.getRole(),
                            input.getName(), input.getBatchDimension(), low,
                            high, input.getPaddingValue());
}

namespace {
struct CompleteInputsPass
    : passes::impl::CompleteInputsBase<CompleteInputsPass> {
  void runOnOperation() override {
    auto functions = getForwardFunctions(getOperation());
    if (failed(functions))
      return signalPassFailure();
    for (func::FuncOp step : functions->all) {
      if (failed(tp::verifyInputs(step)))
        return signalPassFailure();
      completeAll(step);
    }
  }

  void completeAll(func::FuncOp step) {
    for (BlockArgument argument : step.getArguments()) {
      unsigned i = argument.getArgNumber();
      tp::InputAttr input = complete(tp::getInput(step, i), argument);
      step.removeArgAttr(i, tp::getRoleAttrName());
      step.setArgAttr(i, tp::getInputAttrName(), input);
    }
  }
};
} // namespace
