// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bf16 operands are converted into the workspace, without gaps between rows; a
// bf16 result is rounded once, from float32.

#include "Gemm.h"
#include <cblas.h>

namespace colrow::runtime {

namespace {
struct Matrix {
  int64_t rows, columns, ld;
  plan::DType type;

  int64_t roomFloats() const {
    return type == plan::DType::f32 ? 0 : rows * columns;
  }
};
} // namespace

GemmShape::GemmShape(const plan::Gemm &g)
    : m(int(g.m())), n(int(g.n())), k(int(g.k())), lda(int(g.lda())),
      ldb(int(g.ldb())), ldc(int(g.ldc())), transA(g.trans_a()),
      transB(g.trans_b()), alpha(g.alpha()), beta(g.beta()), aType(g.a_type()),
      bType(g.b_type()), cType(g.c_type()) {}

static Matrix matrixA(const GemmShape &s) {
  return {s.transA ? s.k : s.m, s.transA ? s.m : s.k, s.lda, s.aType};
}
static Matrix matrixB(const GemmShape &s) {
  return {s.transB ? s.n : s.k, s.transB ? s.k : s.n, s.ldb, s.bType};
}
static Matrix matrixC(const GemmShape &s) { return {s.m, s.n, s.ldc, s.cType}; }

int64_t GemmShape::workspaceFloats() const {
  return matrixA(*this).roomFloats() + matrixB(*this).roomFloats() +
         matrixC(*this).roomFloats();
}

static void widen(const Matrix &matrix, const void *from, float *to) {
  auto *rows = static_cast<const uint16_t *>(from);
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j)
      to[i * matrix.columns + j] = fromBf16(rows[i * matrix.ld + j]);
}

static void narrow(const Matrix &matrix, const float *from, void *to) {
  auto *rows = static_cast<uint16_t *>(to);
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j)
      rows[i * matrix.ld + j] = toBf16(from[i * matrix.columns + j]);
}

static void product(const GemmShape &s, const float *a, int lda, const float *b,
                    int ldb, float *c, int ldc) {
  cblas_sgemm(CblasRowMajor, s.transA ? CblasTrans : CblasNoTrans,
              s.transB ? CblasTrans : CblasNoTrans, s.m, s.n, s.k, s.alpha, a,
              lda, b, ldb, s.beta, c, ldc);
}

void runGemm(const GemmShape &s, const void *a, const void *b, void *c,
             float *workspace) {
  if (s.isFloat32())
    return product(s, static_cast<const float *>(a), s.lda,
                   static_cast<const float *>(b), s.ldb,
                   static_cast<float *>(c), s.ldc);
  auto operand = [&](const Matrix &matrix, const void *from, int &ld) {
    if (matrix.type == plan::DType::f32)
      return static_cast<const float *>(from);
    float *to = workspace;
    workspace += matrix.roomFloats();
    widen(matrix, from, to);
    ld = int(matrix.columns);
    return static_cast<const float *>(to);
  };
  int lda = s.lda, ldb = s.ldb;
  const float *wideA = operand(matrixA(s), a, lda);
  const float *wideB = operand(matrixB(s), b, ldb);
  Matrix result = matrixC(s);
  if (result.type == plan::DType::f32)
    return product(s, wideA, lda, wideB, ldb, static_cast<float *>(c), s.ldc);
  if (s.beta != 0)
    widen(result, c, workspace);
  product(s, wideA, lda, wideB, ldb, workspace, s.n);
  narrow(result, workspace, c);
}

} // namespace colrow::runtime
