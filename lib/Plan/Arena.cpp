// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Best-fit offsets in an arena.

#include "colrow/Plan/Arena.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace llvm;
using namespace colrow::planir;

uint64_t Arena::take(uint64_t bytes) {
  auto best = bySize.lower_bound({bytes, 0});
  if (best != bySize.end()) {
    auto [size, offset] = *best;
    bySize.erase(best);
    byOffset.erase(offset);
    if (size > bytes)
      insert(offset + bytes, size - bytes);
    return offset;
  }
  // Extend the last free interval if it touches the end.
  uint64_t offset = end;
  if (!byOffset.empty()) {
    auto last = std::prev(byOffset.end());
    if (last->first + last->second == end) {
      offset = last->first;
      bySize.erase({last->second, last->first});
      byOffset.erase(last);
    }
  }
  end = offset + bytes;
  return offset;
}

void Arena::give(uint64_t offset, uint64_t bytes) {
  auto next = byOffset.lower_bound(offset);
  if (next != byOffset.end() && offset + bytes == next->first) {
    bytes += next->second;
    bySize.erase({next->second, next->first});
    next = byOffset.erase(next);
  }
  if (next != byOffset.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      bytes += previous->second;
      bySize.erase({previous->second, previous->first});
      byOffset.erase(previous);
    }
  }
  insert(offset, bytes);
}

void Arena::insert(uint64_t offset, uint64_t bytes) {
  byOffset[offset] = bytes;
  bySize.insert({bytes, offset});
}

std::vector<uint64_t> colrow::planir::placeLives(ArrayRef<Life> lives,
                                                 uint64_t alignment,
                                                 uint64_t &arenaBytes) {
  std::vector<unsigned> order(lives.size());
  std::iota(order.begin(), order.end(), 0);
  sort(order, [&](unsigned a, unsigned b) {
    return std::pair(lives[a].begin, a) < std::pair(lives[b].begin, b);
  });
  Arena arena;
  std::vector<uint64_t> offsets(lives.size());
  std::multimap<unsigned, unsigned> alive; // end -> life
  for (unsigned i : order) {
    while (!alive.empty() && alive.begin()->first < lives[i].begin) {
      unsigned dead = alive.begin()->second;
      arena.give(offsets[dead], alignTo(lives[dead].bytes, alignment));
      alive.erase(alive.begin());
    }
    offsets[i] = arena.take(alignTo(lives[i].bytes, alignment));
    alive.insert({lives[i].end, i});
  }
  arenaBytes = arena.getEnd();
  return offsets;
}
