// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses and numbers of plan instructions: what differs from one iteration
// to the next and from rank to rank.

#ifndef COLROW_DIALECTS_PLAN_AFFINE_H
#define COLROW_DIALECTS_PLAN_AFFINE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

namespace colrow::planir {

/// base + sum of loop index times loops[i], innermost loop first, + sum of the
/// rank's coordinate times coords[a], mesh axis 0 first. Missing entries are 0,
/// and neither list ends in one. An address is in bytes from its buffer's
/// start.
struct Affine {
  int64_t base = 0;
  llvm::SmallVector<int64_t, 0> loops, coords;

  Affine() = default;
  Affine(int64_t base) : base(base) {}
  Affine(int64_t base, llvm::ArrayRef<int64_t> loops,
         llvm::ArrayRef<int64_t> coords = {});

  bool isZero() const { return base == 0 && isConstant(); }
  bool isConstant() const { return loops.empty() && coords.empty(); }
  Affine operator+(const Affine &other) const;
  bool operator==(const Affine &other) const {
    return base == other.base && loops == other.loops && coords == other.coords;
  }
  bool operator!=(const Affine &other) const { return !(*this == other); }
};

using AffineList = llvm::SmallVector<Affine, 3>;

llvm::hash_code hash_value(const AffineList &list);

/// `[base, number of loops, loops..., coords...]` for each.
mlir::Attribute convertToAttribute(mlir::MLIRContext *context,
                                   const AffineList &list);
llvm::LogicalResult
convertFromAttribute(AffineList &list, mlir::Attribute attribute,
                     llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// `[128 + 64 * l0 + 16 * c1]`: l0 is the innermost loop's index, c1 the rank's
/// coordinate on mesh axis 1.
void printAffine(mlir::OpAsmPrinter &printer, const Affine &affine);
mlir::ParseResult parseAffine(mlir::OpAsmParser &parser, Affine &affine);
/// The same behind `[`.
mlir::ParseResult parseAffineBody(mlir::OpAsmParser &parser, Affine &affine);

} // namespace colrow::planir

#endif // COLROW_DIALECTS_PLAN_AFFINE_H
