// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan dialect (docs/plan.md): buffers, programs, instructions.

#ifndef COLROW_DIALECTS_PLAN_PLAN_H
#define COLROW_DIALECTS_PLAN_PLAN_H

#include "colrow/dialects/Plan/Affine.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "colrow/dialects/Plan/PlanDialect.h.inc"
#include "colrow/dialects/Plan/PlanEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "colrow/dialects/Plan/PlanTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "colrow/dialects/Plan/PlanAttributes.h.inc"

namespace colrow::planir {

/// What an instruction does at one of its operands.
struct BufferAccess {
  unsigned operand = 0;
  uint64_t bytes = 0; ///< upward from the address, in each iteration
  Access access = Access::read;
};

/// An address in a buffer.
struct Place {
  mlir::Value buffer;
  Affine at;
};

/// The addresses of some places.
AffineList startsOf(llvm::ArrayRef<Place> places);

/// C = alpha op(A) op(B) + beta C, row-major; op(A) is m x k, op(B) k x n; ld*
/// in elements.
struct GemmShape {
  GemmShape(int64_t m, int64_t n, int64_t k) : m(m), n(n), k(k) {}

  int64_t m = 0, n = 0, k = 0;
  bool transA = false, transB = false;
  int64_t lda = 0, ldb = 0, ldc = 0;
  float alpha = 1, beta = 0;
};

/// Bytes of one element of a buffer: f32 4, i1 1, i8 1.
unsigned elementBytes(mlir::Type element);

/// Name of the attribute of a placed parameter or state: bytes from the start
/// of region `persistent`.
inline llvm::StringRef getOffsetAttrName() { return "plan.offset"; }

namespace detail {
llvm::LogicalResult verifyInstruction(mlir::Operation *op);
} // namespace detail
} // namespace colrow::planir

#include "colrow/dialects/Plan/PlanInterfaces.h.inc"

#define GET_OP_CLASSES
#include "colrow/dialects/Plan/PlanOps.h.inc"

namespace colrow::planir {

/// Appends the accesses of `op`, or, where it is a loop, of its body's
/// instructions, as (buffer, access): what `op` does as a whole.
void getBodyAccesses(
    mlir::Operation *op, mlir::SymbolTable &symbols,
    llvm::SmallVectorImpl<std::pair<mlir::Value, BufferAccess>> &accesses);

} // namespace colrow::planir

#endif // COLROW_DIALECTS_PLAN_PLAN_H
