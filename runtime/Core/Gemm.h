// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products of all element types by the BLAS library's in float32.

#ifndef COLROW_RUNTIME_CORE_GEMM_H
#define COLROW_RUNTIME_CORE_GEMM_H

#include "colrow/runtime/Plan/DType.h"

namespace colrow::runtime {

/// plan.Gemm without its addresses.
struct GemmShape {
  int m, n, k, lda, ldb, ldc;
  bool transA, transB;
  float alpha, beta;
  plan::DType aType, bType, cType;

  explicit GemmShape(const plan::Gemm &gemm);
  bool isFloat32() const {
    return aType == plan::DType::f32 && bType == plan::DType::f32 &&
           cType == plan::DType::f32;
  }
  /// Room that runGemm() needs for operands in float32.
  int64_t workspaceFloats() const;
};

/// C = alpha * op(A) op(B) + beta * C.
void runGemm(const GemmShape &shape, const void *a, const void *b, void *c,
             float *workspace);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_GEMM_H
