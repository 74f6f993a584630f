// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rotary position embedding (Su et al., 2021) on pairs (i, i + d/2).

#include "colrow/dialects/TP/RowLowering.h"
#include "colrow/dialects/TP/TP.h"
#include <cmath>

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using kernel::Expr;

SmallVector<Value> RotaryOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                            ArrayRef<bool>) {
  return {RotaryOp::create(b, getLoc(), dualType(getX().getType()),
                           gradients[0], getFrequenciesAttr(), getScaleAttr(),
                           getInverse() ? UnitAttr() : b.getUnitAttr())};
}

LogicalResult RotaryOp::verify() {
  // C1
  int64_t d = cast<RankedTensorType>(getX().getType()).getShape().back();
  if (int64_t(getFrequencies().size()) * 2 != d)
    return emitOpError("C1: ")
           << getFrequencies().size() << " frequencies rotate "
           << 2 * getFrequencies().size() << " elements, but heads have " << d;
  // C2
  for (auto [i, frequency] : llvm::enumerate(getFrequencies()))
    if (!tp::detail::isFinite(frequency))
      return emitOpError("C2: frequency ") << i << " is not finite";
  return success();
}

SmallVector<int64_t> RotaryOp::getSpace() {
  SmallVector<int64_t> space(
      cast<RankedTensorType>(getX().getType()).getShape());
  space.back() /= 2;
  return space;
}

/// Table [positions, pairs] of `function` (cosine or sine) of the angles times
/// `scale`, computed in double.
static ConstantTable makeTable(RotaryOp op, StringRef name, int64_t positions,
                               double (*function)(double)) {
  Builder builder(op.getContext());
  ConstantTable table;
  table.name = name;
  table.key = builder.getArrayAttr(
      {builder.getStringAttr(name), op.getFrequenciesAttr(),
       builder.getI64IntegerAttr(positions), op.getScaleAttr()});
  auto frequencies = op.getFrequencies();
  double scale = op.getScale().convertToDouble();
  table.shape = {positions, int64_t(frequencies.size())};
  table.make = [=] {
    SmallVector<float> values;
    values.reserve(positions * frequencies.size());
    for (int64_t s = 0; s < positions; ++s)
      for (double f : frequencies)
        values.push_back(float(function(double(s) * f) * scale));
    return values;
  };
  return table;
}

void RotaryOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  ArrayRef<int64_t> space = rows.getSpace();
  int64_t half = space.back();
  kernel::Arg whole, table;
  whole.rowStrides.resize(space.size() - 1);
  table.rowStrides.assign(space.size() - 1, 0);
  table.rowStrides[1] = half; // dimension 1 is the position
  int64_t step = 2 * half;
  for (size_t d = space.size() - 1; d-- > 0; step *= space[d])
    whole.rowStrides[d] = step;

  int x = rows.argument(getX(), whole);
  int y = rows.argument(getY(), whole, /*written=*/true);
  Expr c = b.load(rows.constantTable(
      makeTable(*this, "rotary_cos", space[1], std::cos), table));
  Expr s = b.load(rows.constantTable(
      makeTable(*this, "rotary_sin", space[1], std::sin), table));
  if (getInverse())
    s = -s;
  Expr first = b.load(x), second = b.load(x, half);
  b.store(y, first * c - second * s);
  b.store(y, second * c + first * s, half);
}
