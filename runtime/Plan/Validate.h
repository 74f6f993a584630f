// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of validatePlan(). Each reports the first fault that it finds.

#ifndef COLROW_RUNTIME_PLAN_VALIDATE_H
#define COLROW_RUNTIME_PLAN_VALIDATE_H

#include "colrow/runtime/Errors.h"
#include "colrow/runtime/Mesh.h"
#include "colrow/runtime/PlanFile.h"

namespace colrow::runtime {

/// Product of positive numbers, or 0 when one is not positive or the product
/// exceeds maxRegionBytes.
inline int64_t checkedProduct(llvm::ArrayRef<int64_t> factors) {
  int64_t product = 1;
  for (int64_t factor : factors) {
    if (factor <= 0 || product > int64_t(maxRegionBytes) / factor)
      return 0;
    product *= factor;
  }
  return product;
}

/// "1e+30".
std::string numberText(double value);

/// "[2, 3]".
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Mesh, sizes, memory, numbers of the optimizer.
llvm::Error checkHead(const plan::Plan &plan);

/// Parameters: names, layouts, places in the persistent region, sources.
llvm::Error checkParameters(const plan::Plan &plan, const Mesh &mesh);

/// The layout `dims` of a tensor of `shape`; gives the elements stored on a
/// rank, padding included.
llvm::Expected<int64_t>
checkLayout(llvm::ArrayRef<int64_t> shape,
            const flatbuffers::Vector<flatbuffers::Offset<plan::Dim>> *dims,
            const Mesh &mesh);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_PLAN_VALIDATE_H
