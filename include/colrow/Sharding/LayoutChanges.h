// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The changes of layout that are offered between the states of one value on one
// axis, and the work that they are in both directions. tp-shard prices with
// them, tp-insert-conjugates builds from them.

#ifndef COLROW_SHARDING_LAYOUTCHANGES_H
#define COLROW_SHARDING_LAYOUTCHANGES_H

#include "colrow/Cost/CostModel.h"
#include "colrow/Layout/Layout.h"
#include "colrow/Solver/Conversions.h"
#include "mlir/IR/Value.h"

namespace colrow::sharding {

/// A work item and the name of the op that does it in a partitioned step.
struct NamedItem {
  llvm::StringRef op;
  cost::WorkItem item;

  /// "tp.matmul gemm(...)".
  std::string str() const;
  bool operator==(const NamedItem &o) const {
    return op == o.op && item == o.item;
  }
};

/// A state, and whether a gradient comes back through what takes the value in
/// it. A value may be wanted in one state with and without: what is without
/// costs nothing backward.
struct ValueState {
  layout::State state;
  bool gradient = false;

  bool operator==(const ValueState &o) const {
    return state == o.state && gradient == o.gradient;
  }
};

/// Times the bytes that a value takes its gradient takes, and a rank's share of
/// it: more than once where a value in bf16 has a gradient in float32.
struct GradientFactors {
  int64_t whole = 1, share = 1;
};

/// Those of `value`.
GradientFactors gradientFactorsOf(mlir::Value value);

/// What decides the changes of a value.
struct ChangeQuery {
  llvm::SmallVector<ValueState, 6> states;
  /// Per state: the bytes that a rank holds, and whether the split dimension
  /// holds padding (no local slice of it).
  llvm::SmallVector<int64_t, 6> heldBytes;
  llvm::SmallVector<bool, 6> padded;
  unsigned ranks = 1, stride = 1; ///< of the axis
  bool isParameter = false;
  GradientFactors gradientFactors;
};

/// The state of `query` that equals `state`.
uint8_t indexOf(const ChangeQuery &query, const ValueState &state);

/// The work of the direct change between two states of `query`, forward and
/// backward; nullopt if it is not offered on a feature axis (design: no scatter
/// or slice of activations). Empty where it is none, as on one rank.
std::optional<llvm::SmallVector<NamedItem, 2>>
changeWork(const ChangeQuery &query, unsigned from, unsigned to);

/// The work of a change of layout between states of these kinds, in one
/// direction: of a value of which a rank holds `before` and `after` bytes.
std::optional<NamedItem> changeWork(layout::StateKind from,
                                    layout::StateKind to, int64_t before,
                                    int64_t after, unsigned ranks,
                                    unsigned stride);

/// Prices of all pairs of states.
solver::ConversionTable makeConversions(const ChangeQuery &query,
                                        const cost::CostModel &model);

/// Time, collectives and sent bytes of `items`.
solver::Cost priceOf(llvm::ArrayRef<NamedItem> items,
                     const cost::CostModel &model);

/// The query for a value that is produced in the state of its type on `axis`,
/// with a gradient coming back or not: state 0. R and C follow, through which
/// others are reached, and what is `wanted` besides.
ChangeQuery makeQuery(mlir::Value value, bool reached, unsigned axis,
                      const layout::Mesh &mesh,
                      llvm::ArrayRef<ValueState> wanted);

/// The cheapest changes that give all wanted states of a value.
struct ChangePlan {
  ChangeQuery query;
  /// Each after the one that makes its source.
  llvm::SmallVector<solver::Conversion, 4> edges;
};

/// nullopt if no changes lead to a wanted state. On one rank changes are free;
/// the same ones are made as on two.
std::optional<ChangePlan> planChanges(mlir::Value value, bool reached,
                                      unsigned axis, const layout::Mesh &mesh,
                                      llvm::ArrayRef<ValueState> wanted,
                                      const cost::CostModel &model);

} // namespace colrow::sharding

#endif // COLROW_SHARDING_LAYOUTCHANGES_H
