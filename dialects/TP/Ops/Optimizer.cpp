// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradient norm, clipping and AdamW.

#include "colrow/TP/RowLowering.h"
#include "colrow/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using kernel::Expr;

void SumSquaresOp::lowerToRows(RowLowering &rows) {
  Expr x = rows.full(getX());
  rows.setScalarSum(getY(), x * x);
}

void ClipOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr norm = b.sqrt(rows.scalar(getSquares()));
  rows.setScalar(getNorm(), norm);
  Expr scale = b.constF32(1);
  if (getMaxNorm())
    scale =
        b.min(scale, float(getMaxNorm()->convertToDouble()) / (norm + 1e-6f));
  // A norm that is not finite passes itself on, and tp.adamw keeps all values.
  rows.setScalar(getScale(), b.select(b.isFinite(norm), scale, norm));
}

void AdamWOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  double beta1 = getBeta1().convertToDouble();
  double beta2 = getBeta2().convertToDouble();
  double decay = getDecay().convertToDouble();
  Expr scale = rows.scalar(getScale());
  Expr keep = b.logicalNot(b.isFinite(scale));
  Expr p = rows.full(getP()), m = rows.full(getM()), v = rows.full(getV());
  Expr g = rows.full(getG()) * scale;
  Expr lr = rows.learningRate();
  Expr newM = m * float(beta1) + g * float(1 - beta1);
  Expr newV = v * float(beta2) + g * g * float(1 - beta2);
  Expr denominator =
      b.sqrt(newV * rows.biasCorrection2()) + float(getEps().convertToDouble());
  Expr decayed = decay == 0 ? p : p * (1.0f - lr * float(decay));
  Expr newP = decayed - lr * (newM * rows.biasCorrection1()) / denominator;
  rows.setFull(getNewP(), b.select(keep, p, newP));
  rows.setFull(getNewM(), b.select(keep, m, newM));
  rows.setFull(getNewV(), b.select(keep, v, newV));
}
