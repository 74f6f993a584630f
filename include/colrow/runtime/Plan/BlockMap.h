// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which elements of a whole tensor a rank stores, and where.
//
// A dimension is a product of factors, major to minor; each factor may be
// padded and split over mesh axes. The rank with member index c on the axes of
// a factor holds the indices [c * b, (c + 1) * b), b = padded / ranks, of which
// those >= size are padding.

#ifndef COLROW_RUNTIME_PLAN_BLOCKMAP_H
#define COLROW_RUNTIME_PLAN_BLOCKMAP_H

#include "colrow/runtime/Plan/Mesh.h"
#include <vector>

namespace colrow::runtime {

using DimList = flatbuffers::Vector<flatbuffers::Offset<plan::Dim>>;

class BlockMap {
public:
  /// `dims` (null: nothing is split or padded) must have passed the checker
  /// against `shape` and `mesh`. `first`: the first of the ranks that have the
  /// tensor, a part of the mesh with its least coordinates there.
  BlockMap(llvm::ArrayRef<int64_t> shape, const DimList *dims, const Mesh &mesh,
           unsigned rank, unsigned first = 0);

  /// Elements that the rank stores, padding included.
  int64_t localElements() const;
  /// False when another rank, with smaller coordinates on the axes that split
  /// nothing here, stores the same elements.
  bool isFirstCopy() const { return firstCopy; }

  /// Calls f(local, whole, count) for consecutive elements: the rank stores
  /// whole[whole .. whole + count) at local[local ..). Row-major offsets.
  /// Padding is left out. Runs are as long as possible and in local order.
  template <typename F> void forEachRun(F f) const;

private:
  struct Run {
    int64_t local, whole, count;
  };
  struct Dimension {
    int64_t local = 1, whole = 1;
    std::vector<int64_t> wholeOfLocal; // -1: padding
  };
  std::vector<Dimension> dimensions; // at least one
  std::vector<Run> lastRuns;         // of the innermost dimension
  bool firstCopy = true;
};

template <typename F> void BlockMap::forEachRun(F f) const {
  size_t outer = dimensions.size() - 1;
  std::vector<int64_t> index(outer, 0);
  const Dimension &last = dimensions.back();
  Run pending{0, 0, 0};
  for (int64_t localRow = 0;; localRow += last.local) {
    int64_t wholeRow = 0;
    bool padded = false;
    for (size_t d = 0; d < outer; ++d) {
      int64_t whole = dimensions[d].wholeOfLocal[index[d]];
      padded |= whole < 0;
      wholeRow = wholeRow * dimensions[d].whole + whole;
    }
    for (const Run &run : lastRuns) {
      if (padded)
        break;
      int64_t local = localRow + run.local;
      int64_t whole = wholeRow * last.whole + run.whole;
      if (local == pending.local + pending.count &&
          whole == pending.whole + pending.count) {
        pending.count += run.count;
        continue;
      }
      if (pending.count)
        f(pending.local, pending.whole, pending.count);
      pending = {local, whole, run.count};
    }
    size_t d = outer;
    while (d > 0 && ++index[d - 1] == dimensions[d - 1].local)
      index[--d] = 0;
    if (d == 0)
      break;
  }
  if (pending.count)
    f(pending.local, pending.whole, pending.count);
}

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_PLAN_BLOCKMAP_H
