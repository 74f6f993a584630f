// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradient norm, clipping and AdamW.

#include "colrow/dialects/TP/RowLowering.h"
#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using kernel::Expr;

/// Rows whose operands come from memory: gradients were made long before, and
/// parameters and state lie there.
static cost::WorkItem rowsFromMemory(Operation *op) {
  cost::Rows rows;
  for (Type type : op->getOperandTypes())
    rows.read += localBytes(type);
  for (Type type : op->getResultTypes())
    rows.written += localBytes(type);
  return rows;
}

std::optional<cost::WorkItem> SumSquaresOp::getWork(const layout::Mesh &) {
  return rowsFromMemory(*this);
}

std::optional<cost::WorkItem> AdamWOp::getWork(const layout::Mesh &) {
  return rowsFromMemory(*this);
}

// Squares by size, after J. Blue, "A portable Fortran program to find the
// Euclidean norm of a vector", TOMS 4 (1978), and E. Anderson, "Algorithm 978:
// safe scaling in the level 1 BLAS", TOMS 44 (2017). The bounds are such that
// the squares of 2^40 elements add up below 2^128, and that no square is
// smaller than 2^-126.
static constexpr float smallBelow = 0x1p-50f, largeFrom = 0x1p43f,
                       scaleUp = 0x1p90f, scaleDown = 0x1p-90f;
enum Squares : int64_t { Small, Middle, Large };

SmallVector<int64_t> SumSquaresOp::getSpace() {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(getX().getType()).getShape();
  return shape.empty() ? SmallVector<int64_t>{1} : SmallVector<int64_t>(shape);
}

void SumSquaresOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr x = rows.full(getX()), zero = b.constF32(0), size = b.abs(x);
  Expr isSmall = b.lt(size, b.constF32(smallBelow));
  // False for NaN, which so goes with the large ones.
  Expr isBelow = b.lt(size, b.constF32(largeFrom));
  Expr small = b.select(isSmall, x * scaleUp, zero);
  Expr middle = b.select(b.logicalAnd(isBelow, b.logicalNot(isSmall)), x, zero);
  Expr large = b.select(isBelow, zero, x * scaleDown);
  rows.setElementSum(getY(), Small, small * small);
  rows.setElementSum(getY(), Middle, middle * middle);
  rows.setElementSum(getY(), Large, large * large);
}

SmallVector<int64_t> ClipOp::getSpace() { return {1}; }

void ClipOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr small = rows.element(getSquares(), Small);
  Expr middle = rows.element(getSquares(), Middle);
  Expr large = rows.element(getSquares(), Large);
  // The sum next below still counts; 2^-180 is none that a float holds.
  auto below = [](Expr sum) { return sum * scaleDown * scaleDown; };
  Expr isZero = b.eq(middle, b.constF32(0));
  Expr norm = b.select(isZero, b.sqrt(small) * scaleDown,
                       b.sqrt(middle + below(small)));
  norm = b.select(b.eq(large, b.constF32(0)), norm,
                  b.sqrt(large + below(middle)) * scaleUp);
  rows.setScalar(getNorm(), norm);
  Expr scale = b.constF32(1);
  if (getMaxNorm())
    scale =
        b.min(scale, float(getMaxNorm()->convertToDouble()) / (norm + 1e-6f));
  // False for what is not finite, and where a square of tp.adamw would not be:
  // then tp.adamw keeps all values.
  Expr isUsable = b.lt(norm * scale, b.constF32(0x1p63f));
  rows.setScalar(getScale(),
                 b.select(isUsable, scale,
                          b.constF32(std::numeric_limits<float>::infinity())));
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
