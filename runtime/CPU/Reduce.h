// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise reductions of memory, in the order of the sources.

#ifndef COLROW_RUNTIME_CPU_REDUCE_H
#define COLROW_RUNTIME_CPU_REDUCE_H

#include "colrow/runtime/Plan/DType.h"
#include "llvm/ADT/ArrayRef.h"

namespace colrow::runtime {

/// Every destination gets ((s0 op s1) op s2) ... of `count` elements; types
/// f32, i32, i64 and bf16, which is summed in float32 and rounded once. Sources
/// and destinations may be equal but not overlap otherwise.
void reduceInOrder(plan::DType dtype, plan::Reduction reduction,
                   llvm::ArrayRef<const char *> sources,
                   llvm::ArrayRef<char *> destinations, int64_t count);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_REDUCE_H
