// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in one stretch of memory for buffers that live for a while.

#ifndef COLROW_PLAN_ARENA_H
#define COLROW_PLAN_ARENA_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace colrow::planir {

/// Free intervals of memory that grows at its end: best fit, neighbours joined.
class Arena {
public:
  /// Offset of `bytes` bytes that are free.
  uint64_t take(uint64_t bytes);
  void give(uint64_t offset, uint64_t bytes);
  /// Bytes that were ever in use.
  uint64_t getEnd() const { return end; }

private:
  void insert(uint64_t offset, uint64_t bytes);

  std::map<uint64_t, uint64_t> byOffset;
  std::set<std::pair<uint64_t, uint64_t>> bySize;
  uint64_t end = 0;
};

/// A buffer is alive from moment `begin` to moment `end`, both included.
struct Life {
  uint64_t bytes = 0;
  unsigned begin = 0, end = 0;
};

/// An offset for each life, such that those alive at one moment do not overlap,
/// all multiples of `alignment`; `arenaBytes` receives the size of it all.
std::vector<uint64_t> placeLives(llvm::ArrayRef<Life> lives, uint64_t alignment,
                                 uint64_t &arenaBytes);

} // namespace colrow::planir

#endif // COLROW_PLAN_ARENA_H
