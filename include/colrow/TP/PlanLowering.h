// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an op sees when it appends its instructions to a plan: references into
// buffers, GEMMs, kernel launches, loops and collectives.

#ifndef COLROW_TP_PLANLOWERING_H
#define COLROW_TP_PLANLOWERING_H

#include "colrow/Kernel/RowKernel.h"
#include "colrow/TP/TP.h"

namespace colrow::tp {

/// An address: a buffer, an offset, and a stride for each enclosing loop (the
/// loops being built, outermost first; missing ones are 0). In elements of 4
/// bytes.
struct PlanRef {
  mlir::Value value;    ///< an operand or result of the op, or null:
  int64_t temp = -1;    ///< a temporary made by PlanLowering::temporary
  bool scalars = false; ///< the block that the host sets
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 4> strides;

  PlanRef at(int64_t elements) const {
    PlanRef moved = *this;
    moved.offset += elements;
    return moved;
  }
  PlanRef by(llvm::ArrayRef<int64_t> loopStrides) const {
    PlanRef moved = *this;
    moved.strides.assign(loopStrides.begin(), loopStrides.end());
    return moved;
  }
};

/// C = alpha op(A) op(B) + beta C, row-major; op(A) is m x k, op(B) k x n.
struct GemmShape {
  GemmShape(int64_t m, int64_t n, int64_t k) : m(m), n(n), k(k) {}

  int64_t m = 0, n = 0, k = 0;
  bool transA = false, transB = false;
  int64_t lda = 0, ldb = 0, ldc = 0;
  float alpha = 1, beta = 0;
};

/// An integer argument of a kernel: base + sum of loop index times stride.
struct PlanInt {
  int64_t base = 0;
  llvm::SmallVector<int64_t, 4> strides;
};

class PlanLowering {
public:
  virtual ~PlanLowering() = default;

  virtual void gemm(const GemmShape &shape, PlanRef a, PlanRef b,
                    PlanRef c) = 0;
  /// `args` in the kernel's order. A kernel that could not be built fails the
  /// whole lowering, with the first such error.
  virtual void launch(llvm::Expected<kernel::RowKernel> kernel,
                      llvm::ArrayRef<PlanRef> args,
                      llvm::ArrayRef<PlanInt> ints) = 0;
  virtual void fillZero(PlanRef ref, int64_t elements) = 0;
  virtual void loop(int64_t trips, llvm::function_ref<void()> body) = 0;
  /// Scratch that lives as long as the op's instructions run.
  virtual PlanRef temporary(int64_t elements) = 0;
  /// `result` is `source` under another shape: one buffer.
  virtual void alias(mlir::Value result, mlir::Value source) = 0;
  /// The collective of `op` (tp.all_reduce, tp.all_gather, tp.reduce_scatter)
  /// from its operand to its result.
  virtual void collective(mlir::Operation *op) = 0;

  static PlanRef ref(mlir::Value value) {
    PlanRef ref;
    ref.value = value;
    return ref;
  }
};

} // namespace colrow::tp

#endif // COLROW_TP_PLANLOWERING_H
