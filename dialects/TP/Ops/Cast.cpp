// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp.cast: the same numbers in another float type.

#include "colrow/dialects/TP/RowLowering.h"
#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

Value tp::castTo(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type ? value : CastOp::create(b, loc, type, value);
}

static bool narrows(CastOp op) {
  return elementBytes(op.getY().getType()) < elementBytes(op.getX().getType());
}

llvm::Expected<layout::FactorRule> CastOp::getFactorRule() {
  layout::RuleText text;
  text.factors = "x: * -> y: *";
  text.linear = narrows(*this) ? "" : "x";
  auto rule = colrow::tp::detail::bindRule(*this, text, "x", "y",
                                           [](unsigned) { return 1; });
  if (rule)
    rule->copied = narrows(*this);
  return rule;
}

std::optional<double>
CastOp::getPaddingValue(unsigned, ArrayRef<std::optional<double>> operands) {
  return operands[0];
}

std::optional<cost::WorkItem> CastOp::getWork(const layout::Mesh &) {
  return std::nullopt;
}

SmallVector<Value> CastOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                          ArrayRef<bool>) {
  return {castTo(b, getLoc(), gradients[0],
                 withElementsOf(gradients[0].getType(), getX().getType()))};
}

void CastOp::lowerToRows(RowLowering &rows) {
  // A kernel's values are float32: loads and stores are what converts.
  if (cast<RankedTensorType>(getY().getType()).getRank() == 0)
    rows.setScalar(getY(), rows.scalar(getX()));
  else
    rows.setFull(getY(), rows.full(getX()));
}
