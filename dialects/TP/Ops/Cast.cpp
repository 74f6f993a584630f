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

SmallVector<Value> CastOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                          ArrayRef<bool>) {
  return {
      CastOp::create(b, getLoc(), dualType(getX().getType()), gradients[0])};
}

void CastOp::lowerToRows(RowLowering &rows) {
  // A kernel's values are float32: loads and stores are what converts.
  if (cast<RankedTensorType>(getY().getType()).getRank() == 0)
    rows.setScalar(getY(), rows.scalar(getX()));
  else
    rows.setFull(getY(), rows.full(getX()));
}
