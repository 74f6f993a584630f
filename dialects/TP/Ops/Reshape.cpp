// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp.reshape: its rule follows from the shapes; in memory it does nothing.

#include "colrow/dialects/TP/PlanLowering.h"
#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

/// Ends of the shortest runs of dimensions of `a` and `b`, from (i, j) on,
/// whose products are equal; nullopt if there are none.
static std::optional<std::pair<size_t, size_t>>
nextRun(ArrayRef<int64_t> a, ArrayRef<int64_t> b, size_t i, size_t j) {
  int64_t left = a[i++], right = b[j++];
  while (left != right) {
    if (left < right) {
      if (i == a.size())
        return std::nullopt;
      left *= a[i++];
    } else {
      if (j == b.size())
        return std::nullopt;
      right *= b[j++];
    }
  }
  // A trailing 1 belongs to the run that it ends, unless both sides have one.
  while (i < a.size() && a[i] == 1 && (j == b.size() || b[j] != 1))
    ++i;
  while (j < b.size() && b[j] == 1 && (i == a.size() || a[i] != 1))
    ++j;
  return std::pair(i, j);
}

llvm::Expected<layout::FactorRule> ReshapeOp::getFactorRule() {
  ArrayRef<int64_t> from = shapeOf(getX()), to = shapeOf(getY());
  auto fail = [&](StringRef why) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), why);
  };
  layout::FactorRule rule;
  auto &in = rule.operands.emplace_back(from.size());
  auto &out = rule.results.emplace_back(to.size());
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    auto end = nextRun(from, to, i, j);
    if (!end)
      return fail("C1: operand and result hold different numbers of elements");
    bool joins = end->second - j == 1, splits = end->first - i == 1;
    if (!joins && !splits)
      return fail("C2: dimensions are split and joined at once; use two "
                  "reshapes");
    auto many =
        splits ? to.slice(j, end->second - j) : from.slice(i, end->first - i);
    for (auto [n, size] : llvm::enumerate(many)) {
      unsigned factor = rule.factors.size();
      rule.factors.push_back({llvm::formatv("f{0}", factor), size});
      in[splits ? i : i + n].push_back(factor);
      out[splits ? j + n : j].push_back(factor);
    }
    std::tie(i, j) = *end;
  }
  if (i != from.size() || j != to.size())
    return fail("C1: operand and result hold different numbers of elements");
  rule.operandNames = {"x"};
  rule.linear.push_back({0});
  rule.integerOperand.assign(1, false);
  return rule;
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  auto before = getX().getDefiningOp<ReshapeOp>();
  if (before && before.getX().getType() == getY().getType())
    return before.getX();
  return {};
}

std::optional<double>
ReshapeOp::getPaddingValue(unsigned, ArrayRef<std::optional<double>> operands) {
  return operands[0];
}

SmallVector<Value> ReshapeOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                             ArrayRef<bool>) {
  // A reshaped parameter's gradient is of the type that the parameter's is.
  return {ReshapeOp::create(
      b, getLoc(),
      withElementsOf(dualType(getX().getType()), gradients[0].getType()),
      gradients[0])};
}

void ReshapeOp::lowerToPlan(PlanLowering &plan) { plan.alias(getY(), getX()); }
