// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work items: what one op of a step does on one rank, as integers. The price of
// whatever the compiler weighs is a list of items, and its time is the sum of
// theirs (CostModel::workPs); so solver, prediction and count agree if
// their lists do.

#ifndef COLROW_COST_WORKITEM_H
#define COLROW_COST_WORKITEM_H

#include "llvm/ADT/Hashing.h"

#include <cstdint>
#include <string>
#include <variant>

namespace colrow::cost {

/// `batch` products of [m, k] by [k, n]. Sizes of an element of the operands
/// and of the result are in bytes.
struct Gemm {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t aBytes = 4, bBytes = 4, cBytes = 4;
};

/// Attention of `heads` query heads of `s` positions and size d over `t` keys
/// of size d and values of size e in `groups`; or its gradient in q, k and v.
struct Attention {
  int64_t batch = 1, heads = 1, groups = 1, s = 0, t = 0, d = 0, e = 0;
  bool causal = false;
  int64_t window = 0; ///< keys that a position sees at most; 0: all
  bool gradient = false;
  int64_t bytes = 4; ///< of an element
};

/// Memory traffic of an op that is bound by it, in bytes.
struct Rows {
  int64_t read = 0, written = 0;
};

/// A collective of `ranks` ranks that are `stride` apart. `bytes` are what a
/// rank holds of the whole: the operand of all-reduce, reduce-scatter and
/// all-to-all, the result of all-gather.
enum class ChangeKind : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll
};
struct Change {
  ChangeKind kind = ChangeKind::AllReduce;
  int64_t bytes = 0;
  unsigned ranks = 1, stride = 1;
};

using WorkItem = std::variant<Gemm, Attention, Rows, Change>;

/// Floating-point operations, multiply-adds of contractions as two; other work
/// counts as bytes.
int64_t flopsOf(const WorkItem &item);
/// Bytes read from and written to memory; of a change none.
int64_t memoryBytesOf(const WorkItem &item);
/// Bytes that a rank sends: of a change, on a ring.
int64_t sentBytesOf(const WorkItem &item);
/// 1 for a change.
int64_t collectivesOf(const WorkItem &item);
/// "gemm(1, 6, 24, 16; 4, 4, 4)", the item's numbers in order; equal for equal
/// items only.
std::string toString(const WorkItem &item);
/// Equal for equal items.
llvm::hash_code hashOf(const WorkItem &item);

bool operator==(const Gemm &a, const Gemm &b);
bool operator==(const Attention &a, const Attention &b);
bool operator==(const Rows &a, const Rows &b);
bool operator==(const Change &a, const Change &b);

} // namespace colrow::cost

#endif // COLROW_COST_WORKITEM_H
