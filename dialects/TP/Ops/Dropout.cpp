// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp.dropout: a mask that depends on the place in the whole tensor, so it is
// the same on every mesh.

#include "colrow/dialects/TP/RowLowering.h"
#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using kernel::Expr;

SmallVector<Value> DropoutOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                             ArrayRef<bool>) {
  return {DropoutOp::create(b, getLoc(), dualType(getX().getType()),
                            gradients[0], getPAttr(), getIdAttr(),
                            LayoutAttr())};
}

void DropoutOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  ArrayRef<int64_t> local = rows.getSpace();
  Expr index = b.constI64(0);
  for (unsigned d = 0; d < local.size(); ++d) {
    Expr i = d + 1 == local.size() ? b.colIndex() : b.rowIndex(d);
    int64_t size = local[d];
    if (getLayout()) {
      size = wholeSize(*getLayout(), d, size);
      i = rows.globalIndex(*getLayout(), d, i);
    }
    index = index * b.constI64(size) + i;
  }
  double p = getP().convertToDouble();
  Expr u = b.philoxUniform(rows.seed(), uint32_t(getId()), rows.step(), index);
  Expr kept = rows.full(getX()) * float(1.0 / (1.0 - p));
  rows.setFull(getY(),
               b.select(b.ge(u, b.constF32(float(p))), kept, b.constF32(0)));
}
