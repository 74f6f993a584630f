// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise reductions of memory, in one order whatever their size.

#ifndef COLROW_RUNTIME_CPU_REDUCE_H
#define COLROW_RUNTIME_CPU_REDUCE_H

#include "colrow/runtime/Plan/DType.h"
#include "llvm/ADT/ArrayRef.h"

namespace colrow::runtime {

/// Every destination gets the sum or maximum of all sources, `count` elements;
/// types f32, i32, i64 and bf16, which is summed in float32 and rounded once.
/// Sources and destinations may be equal but not overlap otherwise.
///
/// `axes`: 1 to maxMeshAxes sizes whose product is the number of sources, which
/// are in the order of their indices on them, axes[0] running fastest. The
/// first axes[0] sources are added up one after the other, then the next as
/// many, and so on; then those sums over axes[1], and so on: axes {2, 2} is (s0
/// + s1) + (s2 + s3).
void reduceInOrder(plan::DType dtype, plan::Reduction reduction,
                   llvm::ArrayRef<unsigned> axes,
                   llvm::ArrayRef<const char *> sources,
                   llvm::ArrayRef<char *> destinations, int64_t count);

/// What sums of a type are taken in.
constexpr plan::DType sumType(plan::DType dtype) {
  return dtype == plan::DType::bf16 ? plan::DType::f32 : dtype;
}

/// A part of such a sum, or a sum of parts: sources and destinations are of
/// different types, one bf16 and one f32, or of the same.
void reduceParts(plan::DType from, plan::DType to, plan::Reduction reduction,
                 llvm::ArrayRef<unsigned> axes,
                 llvm::ArrayRef<const char *> sources,
                 llvm::ArrayRef<char *> destinations, int64_t count);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_REDUCE_H
