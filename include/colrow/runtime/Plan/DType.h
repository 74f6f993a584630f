// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan's element types: their sizes.

#ifndef COLROW_RUNTIME_PLAN_DTYPE_H
#define COLROW_RUNTIME_PLAN_DTYPE_H

#include "colrow/runtime/Plan/PlanSchema.h"
#include "colrow/runtime/Support/Bf16.h"

namespace colrow::runtime {

/// Bytes of an element.
constexpr int64_t elementBytes(plan::DType type) {
  switch (type) {
  case plan::DType::i64:
    return 8;
  case plan::DType::f32:
  case plan::DType::i32:
    return 4;
  case plan::DType::bf16:
  case plan::DType::f16:
    return 2;
  case plan::DType::i1:
  case plan::DType::i8:
    return 1;
  }
  return 1;
}

constexpr bool isFloat(plan::DType type) {
  return type == plan::DType::f32 || type == plan::DType::bf16 ||
         type == plan::DType::f16;
}

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_PLAN_DTYPE_H
