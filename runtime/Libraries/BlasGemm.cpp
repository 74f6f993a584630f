// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by cblas_sgemm.

#include "Blas.h"
#include "colrow/runtime/Plan/DType.h"

namespace colrow::runtime {

// As CBLAS's standard header numbers them.
enum : int { rowMajor = 101, noTranspose = 111, transpose = 112 };

namespace {
struct Matrix {
  int64_t rows, columns, ld;
  plan::DType type;

  bool isWide() const { return type == plan::DType::f32; }
  size_t roomBytes() const {
    return isWide() ? 0 : size_t(rows) * columns * sizeof(float);
  }
};

class BlasGemm : public PreparedGemm {
public:
  BlasGemm(const GemmShape &shape, Blas::Sgemm *sgemm)
      : s(shape), sgemm(sgemm),
        a{s.transA ? s.k : s.m, s.transA ? s.m : s.k, s.lda, s.aType},
        b{s.transB ? s.n : s.k, s.transB ? s.k : s.n, s.ldb, s.bType},
        c{s.m, s.n, s.ldc, s.cType} {
    workspace = a.roomBytes() + b.roomBytes() + c.roomBytes();
  }

private:
  void compute(const void *from, const void *by, void *to,
               char *workspace) override;

  GemmShape s;
  Blas::Sgemm *sgemm;
  Matrix a, b, c;
};
} // namespace

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

void BlasGemm::compute(const void *from, const void *by, void *to,
                       char *workspace) {
  auto room = [&](const Matrix &matrix) {
    auto *start = reinterpret_cast<float *>(workspace);
    workspace += matrix.roomBytes();
    return start;
  };
  auto operand = [&](const Matrix &matrix, const void *at) {
    if (matrix.isWide())
      return static_cast<const float *>(at);
    float *wide = room(matrix);
    widen(matrix, at, wide);
    return static_cast<const float *>(wide);
  };
  auto ld = [](const Matrix &matrix) {
    return int(matrix.isWide() ? matrix.ld : matrix.columns);
  };
  const float *wideA = operand(a, from), *wideB = operand(b, by);
  float *result = c.isWide() ? static_cast<float *>(to) : room(c);
  if (!c.isWide() && s.beta != 0)
    widen(c, to, result);
  sgemm(rowMajor, s.transA ? transpose : noTranspose,
        s.transB ? transpose : noTranspose, s.m, s.n, s.k, s.alpha, wideA,
        ld(a), wideB, ld(b), s.beta, result, ld(c));
  if (!c.isWide())
    narrow(c, result, to);
}

std::unique_ptr<PreparedGemm> Blas::prepare(const GemmShape &shape) const {
  return std::make_unique<BlasGemm>(shape, sgemm);
}

} // namespace colrow::runtime
