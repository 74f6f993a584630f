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

/// The range of integers: what they index, else all that the type holds.
static std::pair<int64_t, int64_t> rangeOf(Value argument, IntegerType type) {
  std::optional<int64_t> indexed = tp::getIndexedSize(argument);
  unsigned bits = std::min(type.getWidth(), 63u);
  bool truth = type.getWidth() == 1;
  return {indexed || truth ? 0 : llvm::minIntN(bits),
          indexed ? *indexed
          : truth ? 2
                  : llvm::maxIntN(bits)};
}

/// Integers beyond what they index would give zero rows, and padding that is
/// not ignored would be labels.
static LogicalResult check(tp::InputAttr input, Value argument,
                           ArrayRef<int64_t> ignored) {
  auto fail = [&] {
    return emitError(argument.getLoc())
           << "input \"" << input.getName() << "\" ";
  };
  std::optional<int64_t> indexed = tp::getIndexedSize(argument);
  if (indexed && (*input.getLow() < 0 || *input.getHigh() > *indexed))
    return fail() << "is said to hold " << *input.getLow() << " to "
                  << *input.getHigh() - 1 << ", but indexes " << *indexed
                  << " rows or columns; give it a range in 0 to " << *indexed;
  for (int64_t value : ignored)
    if (value != input.getPaddingValue())
      return fail() << "has " << input.getPaddingValue()
                    << " in rows without data, where the loss ignores " << value
                    << ": they would count; make the two equal";
  return success();
}

/// `input` of `argument` with its range, and with padding that is ignored.
static FailureOr<tp::InputAttr> complete(tp::InputAttr input, Value argument) {
  auto element = cast<RankedTensorType>(argument.getType()).getElementType();
  std::optional<int64_t> low = input.getLow(), high = input.getHigh();
  if (auto integer = dyn_cast<IntegerType>(element); integer && !low)
    std::tie(low, high) = rangeOf(argument, integer);
  SmallVector<int64_t> ignored;
  tp::addIgnored(argument, ignored);
  int64_t padding = input.getPadding() || ignored.empty()
                        ? input.getPaddingValue()
                        : ignored.front();
  auto completed = tp::InputAttr::get(
      argument.getContext(), input.getRole(), input.getName(),
      input.getBatchDimension(), low, high, padding);
  if (failed(check(completed, argument, ignored)))
    return failure();
  return completed;
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
      auto input = complete(tp::getInput(step, i), argument);
      if (failed(input))
        return signalPassFailure();
      step.removeArgAttr(i, tp::getRoleAttrName());
      step.setArgAttr(i, tp::getInputAttrName(), *input);
    }
  }
};
} // namespace
