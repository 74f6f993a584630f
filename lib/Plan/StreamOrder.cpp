// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A clock a stream, which counts its items and knows how far it has waited for
// the others. Programs of one stream need none.

#include "colrow/Plan/StreamOrder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace colrow::planir;

StreamOrder::StreamOrder(ArrayRef<StreamItem> items) {
  DenseMap<unsigned, unsigned> numbers;
  for (const StreamItem &item : items)
    streamOf.push_back(
        numbers.try_emplace(item.stream, numbers.size()).first->second);
  streams = numbers.size();
  if (isSingle())
    return;
  itemsOf.resize(streams);
  clocks.resize(items.size() * streams);
  std::vector<std::vector<uint32_t>> now(streams,
                                         std::vector<uint32_t>(streams, 0));
  DenseMap<int64_t, std::vector<uint32_t>> events;
  for (auto [i, item] : enumerate(items)) {
    std::vector<uint32_t> &clock = now[streamOf[i]];
    if (item.kind == StreamItem::Wait)
      for (auto [mine, its] : zip(clock, events[item.event]))
        mine = std::max(mine, its);
    copy(clock, clocks.begin() + i * streams);
    timeOf.push_back(++clock[streamOf[i]]);
    itemsOf[streamOf[i]].push_back(i);
    if (item.kind == StreamItem::Record)
      events[item.event] = clock;
  }
}

bool StreamOrder::isBefore(unsigned a, unsigned b) const {
  if (isSingle())
    return a < b;
  return clock(b, streamOf[a]) >= timeOf[a];
}

unsigned StreamOrder::lastUnordered(unsigned a) const {
  unsigned last = a;
  if (isSingle())
    return last;
  for (ArrayRef<unsigned> items : itemsOf) {
    // Clocks only grow along a stream.
    auto ordered =
        partition_point(items, [&](unsigned i) { return !isBefore(a, i); });
    if (ordered != items.begin())
      last = std::max(last, *std::prev(ordered));
  }
  return last;
}
