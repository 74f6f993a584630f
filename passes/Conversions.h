// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The changes of layout that are offered between the states of one value on one
// axis, and what they cost in both directions. tp-shard prices with them,
// tp-insert-conjugates builds from them.

#ifndef COLROW_PASSES_CONVERSIONS_H
#define COLROW_PASSES_CONVERSIONS_H

#include "colrow/Cost/CostModel.h"
#include "colrow/Layout/Layout.h"
#include "colrow/Solver/Conversions.h"
#include "mlir/IR/Value.h"

namespace colrow::passes {

/// What decides the changes of a value and their costs.
struct ConversionQuery {
  llvm::SmallVector<layout::State, 6> states;
  /// Per state: the split dimension holds padding (no local slice of it).
  llvm::SmallVector<bool, 6> padded;
  int64_t bytes = 0; ///< of the whole tensor
  unsigned ranks = 1;
  unsigned stride = 1; ///< between neighbours on the axis
  bool isParameter = false;
  bool needsGradient = true;
};

/// Direct changes between `query.states`, priced by `model`: time, collectives
/// and bytes sent in forward and backward. Pairs that are not offered on a
/// feature axis (design: no scatter or slice of activations) are infinite.
solver::ConversionTable makeConversions(const ConversionQuery &query,
                                        const cost::CostModel &model);

/// The query for a value that is produced in the state of its type on `axis`:
/// state 0. R and C follow, through which others are reached, and what is
/// `wanted` besides.
ConversionQuery makeQuery(mlir::Value value, unsigned axis,
                          const layout::Mesh &mesh,
                          llvm::ArrayRef<layout::State> wanted);

} // namespace colrow::passes

#endif // COLROW_PASSES_CONVERSIONS_H
