// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp.matmul and its gradients: GEMMs on weights stored [out, in].

#include "colrow/TP/PlanLowering.h"
#include "colrow/TP/TP.h"

using namespace mlir;
using namespace colrow::tp;
using Shapes = ArrayRef<SmallVector<int64_t>>;

static int64_t product(ArrayRef<int64_t> dims) {
  int64_t n = 1;
  for (int64_t dim : dims)
    n *= dim;
  return n;
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

SmallVector<Value> MatmulOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                            ArrayRef<bool> wanted) {
  SmallVector<Value> result(2);
  Value dy = gradients[0];
  if (wanted[0])
    result[0] = MatmulDgradOp::create(b, getLoc(), dualType(getX().getType()),
                                      dy, getW());
  if (wanted[1])
    result[1] = MatmulWgradOp::create(b, getLoc(), dualType(getW().getType()),
                                      dy, getX());
  return result;
}

int64_t MatmulOp::getFlops(Shapes operands, Shapes results) {
  return 2 * product(operands[0]) * results[0].back();
}

int64_t MatmulOp::getGradientFlops(Shapes operands, Shapes results,
                                   ArrayRef<bool> wanted) {
  return getFlops(operands, results) * (wanted[0] + wanted[1]);
}

SmallVector<unsigned> MatmulOp::getSavedOperands(ArrayRef<bool> wanted) {
  SmallVector<unsigned> saved;
  if (wanted[1])
    saved.push_back(0);
  if (wanted[0])
    saved.push_back(1);
  return saved;
}

int64_t MatmulDgradOp::getFlops(Shapes operands, Shapes results) {
  return 2 * product(operands[0]) * results[0].back();
}

int64_t MatmulWgradOp::getFlops(Shapes operands, Shapes results) {
  return 2 * product(operands[0]) * operands[1].back();
}

void MatmulOp::lowerToPlan(PlanLowering &plan) {
  int64_t h = shapeOf(getX()).back(), k = shapeOf(getY()).back();
  GemmShape gemm{product(shapeOf(getX())) / h, k, h};
  gemm.transB = true;
  gemm.lda = gemm.ldb = h;
  gemm.ldc = k;
  plan.gemm(gemm, plan.ref(getX()), plan.ref(getW()), plan.ref(getY()));
}

void MatmulDgradOp::lowerToPlan(PlanLowering &plan) {
  int64_t k = shapeOf(getDy()).back(), h = shapeOf(getDx()).back();
  GemmShape gemm{product(shapeOf(getDy())) / k, h, k};
  gemm.lda = k;
  gemm.ldb = gemm.ldc = h;
  plan.gemm(gemm, plan.ref(getDy()), plan.ref(getW()), plan.ref(getDx()));
}

void MatmulWgradOp::lowerToPlan(PlanLowering &plan) {
  int64_t k = shapeOf(getDy()).back(), h = shapeOf(getX()).back();
  GemmShape gemm{k, h, product(shapeOf(getX())) / h};
  gemm.transA = true;
  gemm.lda = k;
  gemm.ldb = gemm.ldc = h;
  plan.gemm(gemm, plan.ref(getDy()), plan.ref(getX()), plan.ref(getDw()));
}
