// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products by the libraries that this machine has. They are found when a
// plan is loaded, not linked: float32 by BLAS; bf16 by oneDNN where the CPU
// multiplies bf16 (AVX512_BF16), elsewhere converted and by BLAS.
//
// Each rank computes with one thread, so a product is equal to the bit in every
// run and on every rank, as long as description() is equal.

#ifndef COLROW_RUNTIME_LIBRARIES_GEMMLIBRARIES_H
#define COLROW_RUNTIME_LIBRARIES_GEMMLIBRARIES_H

#include "colrow/runtime/Plan/PlanSchema.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace colrow::runtime {

/// plan.Gemm without its addresses: C = alpha * op(A) op(B) + beta * C,
/// row-major, types f32 or bf16, sums in float32.
struct GemmShape {
  int m, n, k, lda, ldb, ldc;
  bool transA, transB;
  float alpha, beta;
  plan::DType aType, bType, cType;

  bool hasBf16Operands() const {
    return aType == plan::DType::bf16 && bType == plan::DType::bf16;
  }
};

/// Of a checked plan: sizes fit into int.
GemmShape shapeOf(const plan::Gemm &gemm);

/// A product of one shape, ready to run on one thread at a time. Invariant:
/// nothing of ours is allocated or looked up in run(). oneDNN itself allocates
/// at each call: lists of arguments (300 bytes), and for matrices whose rows
/// have gaps the memory that it packs them into.
class PreparedGemm {
public:
  virtual ~PreparedGemm() = default;

  size_t workspaceBytes() const { return workspace; }

  /// A, B and C as the shape says; C overlaps neither operand. With beta 0 it
  /// is written, whatever it held. `workspace`: 64-byte aligned.
  void run(const void *a, const void *b, void *c, char *workspace);

protected:
  virtual void compute(const void *a, const void *b, void *c,
                       char *workspace) = 0;

  size_t workspace = 0;
};

/// Which products there are.
struct GemmTypes {
  bool bf16 = false;    // of two bf16 operands
  bool float32 = false; // all others
};
GemmTypes gemmTypesOf(const plan::Plan &plan);

class GemmLibraries {
public:
  /// Opens what products of these types need, for `ranks` threads. The
  /// environment may name other libraries: COLROW_BLAS=PATH,
  /// COLROW_ONEDNN=PATH, or COLROW_ONEDNN=none to convert instead. Errors:
  /// a library is missing or of no use, no memory for it.
  static llvm::Expected<std::unique_ptr<GemmLibraries>> open(GemmTypes types,
                                                             unsigned ranks);
  ~GemmLibraries();

  /// Names, versions and the code paths chosen for this CPU, in one line; empty
  /// when nothing was needed.
  const std::string &description() const { return text; }

  /// A product of the types that were asked for. Made on any thread, run on
  /// any; must not outlive this. Error: the library refuses it.
  llvm::Expected<std::unique_ptr<PreparedGemm>>
  prepare(const GemmShape &shape) const;

private:
  GemmLibraries();
  struct Opened;
  std::unique_ptr<Opened> opened;
  std::string text;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_LIBRARIES_GEMMLIBRARIES_H
