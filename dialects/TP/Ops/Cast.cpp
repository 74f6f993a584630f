// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp.cast: the same numbers in another float type, and tp.round_share.

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

/// A kernel's values are float32: loads and stores are what converts.
static void convert(RowLowering &rows, Value x, Value y) {
  if (shapeOf(y).empty())
    rows.setScalar(y, rows.scalar(x));
  else
    rows.setFull(y, rows.full(x));
}

void CastOp::lowerToRows(RowLowering &rows) { convert(rows, getX(), getY()); }

std::optional<cost::WorkItem> RoundShareOp::getWork(const layout::Mesh &) {
  return std::nullopt;
}

void RoundShareOp::lowerToRows(RowLowering &rows) {
  convert(rows, getX(), getY());
}
