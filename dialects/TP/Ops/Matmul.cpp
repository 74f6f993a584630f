// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp.matmul and its gradients: GEMMs on weights stored [out, in].

#include "colrow/dialects/TP/PlanLowering.h"
#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using planir::GemmShape;

/// Product of all dimensions but the last.
static int64_t rowsOf(ArrayRef<int64_t> shape) {
  return ShapedType::getNumElements(shape.drop_back());
}

SmallVector<Value> MatmulOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                            ArrayRef<bool> wanted) {
  SmallVector<Value> result(2);
  // The products are of the operands' type, however y is kept.
  Value dy = castTo(b, getLoc(), gradients[0],
                    withElementsOf(gradients[0].getType(), getX().getType()));
  if (wanted[0])
    result[0] = MatmulDgradOp::create(b, getLoc(), dualType(getX().getType()),
                                      dy, getW());
  if (wanted[1])
    // Of a weight that is made, as every gradient, of its type.
    result[1] =
        MatmulWgradOp::create(b, getLoc(), gradientType(getW()), dy, getX());
  return result;
}

/// One product of local shapes: [m, k] by [k, n], m rows of all leading
/// dimensions.
static cost::WorkItem product(Value a, Value b, Value c, int64_t m, int64_t n,
                              int64_t k) {
  return cost::Gemm{1,
                    m,
                    n,
                    k,
                    elementBytes(a.getType()),
                    elementBytes(b.getType()),
                    elementBytes(c.getType())};
}

std::optional<cost::WorkItem> MatmulOp::getWork(const layout::Mesh &) {
  auto x = localShape(getX().getType());
  int64_t k = localShape(getY().getType()).back();
  return product(getX(), getW(), getY(), rowsOf(x), k, x.back());
}

std::optional<cost::WorkItem> MatmulDgradOp::getWork(const layout::Mesh &) {
  auto dy = localShape(getDy().getType());
  int64_t h = localShape(getDx().getType()).back();
  return product(getDy(), getW(), getDx(), rowsOf(dy), h, dy.back());
}

std::optional<cost::WorkItem> MatmulWgradOp::getWork(const layout::Mesh &) {
  auto dy = localShape(getDy().getType());
  int64_t h = localShape(getX().getType()).back();
  return product(getDy(), getX(), getDw(), dy.back(), h, rowsOf(dy));
}

static void createGemm(PlanLowering &plan, const GemmShape &shape, Value a,
                       Value b, Value c) {
  planir::GemmOp::create(plan.getBuilder(), c.getLoc(), shape, plan.place(a),
                         plan.place(b), plan.place(c), plan.getName());
}

void MatmulOp::lowerToPlan(PlanLowering &plan) {
  int64_t h = shapeOf(getX()).back(), k = shapeOf(getY()).back();
  GemmShape gemm{rowsOf(shapeOf(getX())), k, h};
  gemm.transB = true;
  gemm.lda = gemm.ldb = h;
  gemm.ldc = k;
  createGemm(plan, gemm, getX(), getW(), getY());
}

void MatmulDgradOp::lowerToPlan(PlanLowering &plan) {
  int64_t k = shapeOf(getDy()).back(), h = shapeOf(getDx()).back();
  GemmShape gemm{rowsOf(shapeOf(getDy())), h, k};
  gemm.lda = k;
  gemm.ldb = gemm.ldc = h;
  createGemm(plan, gemm, getDy(), getW(), getDx());
}

void MatmulWgradOp::lowerToPlan(PlanLowering &plan) {
  int64_t k = shapeOf(getDy()).back(), h = shapeOf(getX()).back();
  GemmShape gemm{k, h, rowsOf(shapeOf(getX()))};
  gemm.transA = true;
  gemm.lda = k;
  gemm.ldb = gemm.ldc = h;
  createGemm(plan, gemm, getDy(), getX(), getDw());
}
