// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine's BLAS library, and products of all types by it.

#ifndef COLROW_RUNTIME_LIBRARIES_BLAS_H
#define COLROW_RUNTIME_LIBRARIES_BLAS_H

#include "Library.h"
#include "colrow/runtime/Libraries/GemmLibraries.h"

namespace colrow::runtime {

class Blas {
public:
  /// cblas_sgemm of the usual 32-bit interface; order and transposes are
  /// CBLAS's enums.
  using Sgemm = void(int order, int transA, int transB, int m, int n, int k,
                     float alpha, const float *a, int lda, const float *b,
                     int ldb, float beta, float *c, int ldc);

  /// For `ranks` threads that call it at once, each computing alone. Errors:
  /// there is none, it takes 64-bit sizes, no room for its work memory.
  static llvm::Expected<Blas> open(unsigned ranks);

  /// Name, version and code path.
  const std::string &description() const { return text; }

  /// bf16 operands are converted into the workspace, without gaps between rows;
  /// a bf16 result is rounded once, from float32.
  std::unique_ptr<PreparedGemm> prepare(const GemmShape &shape) const;

private:
  Blas(Sgemm *sgemm, std::string text) : sgemm(sgemm), text(std::move(text)) {}

  Sgemm *sgemm;
  std::string text;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_LIBRARIES_BLAS_H
