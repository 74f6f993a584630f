// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layer norm and RMS norm over the last dimension. The gradients compute the
// statistics again from x rather than keep them.

#include "colrow/dialects/TP/RowLowering.h"
#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using kernel::Expr;

static float columns(const RowLowering &rows) {
  return float(rows.getSpace().back());
}

/// x minus its row's mean, and the reciprocal of its standard deviation.
static std::pair<Expr, Expr> centre(RowLowering &rows, Expr x, double eps) {
  kernel::RowKernelBuilder &b = rows.builder();
  float n = columns(rows);
  Expr centred = x - b.rowSum(x) * (1.0f / n);
  Expr variance = b.rowSum(centred * centred) * (1.0f / n);
  return {centred, b.rsqrt(variance + float(eps))};
}

SmallVector<Value> LayerNormOp::buildGradients(OpBuilder &b,
                                               ValueRange gradients,
                                               ArrayRef<bool>) {
  auto op =
      LayerNormGradOp::create(b, getLoc(), dualType(getX().getType()),
                              inFloat32(dualType(getGamma().getType())),
                              inFloat32(dualType(getBeta().getType())), getX(),
                              getGamma(), gradients[0], getEpsAttr());
  return {op.getDx(), op.getDgamma(), op.getDbeta()};
}

void LayerNormOp::lowerToRows(RowLowering &rows) {
  auto [centred, rstd] =
      centre(rows, rows.full(getX()), getEps().convertToDouble());
  rows.setFull(getY(), centred * rstd * rows.trailing(getGamma()) +
                           rows.trailing(getBeta()));
}

void LayerNormGradOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  float n = columns(rows);
  auto [centred, rstd] =
      centre(rows, rows.full(getX()), getEps().convertToDouble());
  Expr xhat = centred * rstd;
  Expr dy = rows.full(getDy());
  Expr scaled = dy * rows.trailing(getGamma());
  Expr meanScaled = b.rowSum(scaled) * (1.0f / n);
  Expr meanProduct = b.rowSum(scaled * xhat) * (1.0f / n);
  rows.setFull(getDx(), rstd * (scaled - meanScaled - xhat * meanProduct));
  rows.setTrailingSum(getDgamma(), dy * xhat);
  rows.setTrailingSum(getDbeta(), dy);
}

SmallVector<Value> RmsNormOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                             ArrayRef<bool>) {
  auto op =
      RmsNormGradOp::create(b, getLoc(), dualType(getX().getType()),
                            inFloat32(dualType(getGamma().getType())), getX(),
                            getGamma(), gradients[0], getEpsAttr());
  return {op.getDx(), op.getDgamma()};
}

void RmsNormOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr x = rows.full(getX());
  Expr r = b.rsqrt(b.rowSum(x * x) * (1.0f / columns(rows)) +
                   float(getEps().convertToDouble()));
  rows.setFull(getY(), x * r * rows.trailing(getGamma()));
}

void RmsNormGradOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  float n = columns(rows);
  Expr x = rows.full(getX());
  Expr r =
      b.rsqrt(b.rowSum(x * x) * (1.0f / n) + float(getEps().convertToDouble()));
  Expr dy = rows.full(getDy());
  Expr scaled = dy * rows.trailing(getGamma());
  Expr meanProduct = b.rowSum(scaled * x) * (1.0f / n);
  rows.setFull(getDx(), r * (scaled - x * r * r * meanProduct));
  rows.setTrailingSum(getDgamma(), dy * x * r);
}
