// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instruction of a program surely runs before which: by their streams,
// and by waits for what other streams recorded.

#ifndef COLROW_PLAN_STREAMORDER_H
#define COLROW_PLAN_STREAMORDER_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace colrow::planir {

/// An instruction as far as order goes.
struct StreamItem {
  enum Kind : uint8_t { Plain, Record, Wait } kind = Plain;
  unsigned stream = 0;
  int64_t event = 0; ///< of Record and Wait
};

class StreamOrder {
public:
  /// `items` in the order of issue; a wait stands behind its record.
  explicit StreamOrder(llvm::ArrayRef<StreamItem> items);

  /// Whether item `a` has ended before item `b` starts.
  bool isBefore(unsigned a, unsigned b) const;
  /// The last item that may start before item `a` has ended; `a` itself if all
  /// behind it wait.
  unsigned lastUnordered(unsigned a) const;

private:
  bool isSingle() const { return streams < 2; }
  /// How many items of `stream` have surely ended before item `i` starts.
  uint32_t clock(unsigned i, unsigned stream) const {
    return clocks[size_t(i) * streams + stream];
  }

  unsigned streams = 0;
  std::vector<unsigned> streamOf; // dense number, of each item
  std::vector<uint32_t> timeOf;   // of each item in its stream, from 1
  std::vector<uint32_t> clocks;   // per item, per stream
  std::vector<std::vector<unsigned>> itemsOf; // of each stream
};

} // namespace colrow::planir

#endif // COLROW_PLAN_STREAMORDER_H
