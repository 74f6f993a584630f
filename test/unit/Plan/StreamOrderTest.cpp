// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instruction surely runs before which.

#include "colrow/Plan/StreamOrder.h"
#include "gtest/gtest.h"
#include <random>

using namespace colrow::planir;

namespace {

StreamItem plain(unsigned stream) { return {StreamItem::Plain, stream, 0}; }
StreamItem record(unsigned stream, int64_t event) {
  return {StreamItem::Record, stream, event};
}
StreamItem wait(unsigned stream, int64_t event) {
  return {StreamItem::Wait, stream, event};
}

TEST(StreamOrder, OneStreamIsInOrder) {
  StreamOrder order({plain(3), plain(3), plain(3)});
  EXPECT_TRUE(order.isBefore(0, 2));
  EXPECT_FALSE(order.isBefore(2, 1));
  EXPECT_FALSE(order.isBefore(1, 1));
  EXPECT_EQ(order.lastUnordered(0), 0u);
}

TEST(StreamOrder, StreamsRunSideBySide) {
  StreamOrder order({plain(0), plain(1), plain(0), plain(1)});
  EXPECT_FALSE(order.isBefore(0, 1));
  EXPECT_FALSE(order.isBefore(0, 3));
  EXPECT_TRUE(order.isBefore(1, 3));
  EXPECT_EQ(order.lastUnordered(0), 3u);
  EXPECT_EQ(order.lastUnordered(3), 3u);
}

/// What stands behind a wait comes after what stood before the record; what
/// stands between record and wait does not.
TEST(StreamOrder, WaitsForWhatWasRecorded) {
  StreamOrder order(
      {plain(0), record(0, 5), plain(0), plain(1), wait(1, 5), plain(1)});
  EXPECT_TRUE(order.isBefore(0, 5));
  EXPECT_FALSE(order.isBefore(0, 3));
  EXPECT_FALSE(order.isBefore(2, 5));
  EXPECT_EQ(order.lastUnordered(0), 3u);
  EXPECT_EQ(order.lastUnordered(2), 5u);
}

/// By way of a third stream.
TEST(StreamOrder, OrderIsTransitive) {
  StreamOrder order({plain(0), record(0, 1), wait(1, 1), record(1, 2),
                     wait(2, 2), plain(2), plain(1)});
  EXPECT_TRUE(order.isBefore(0, 5));
  EXPECT_TRUE(order.isBefore(0, 6));
  EXPECT_FALSE(order.isBefore(5, 6));
}

/// Against reachability over the edges themselves.
TEST(StreamOrder, RandomPrograms) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<StreamItem> items;
    int64_t events = 0;
    for (int i = 0; i < 30; ++i) {
      unsigned stream = random() % 3, kind = random() % 3;
      if (kind == 1)
        items.push_back(record(stream, events++));
      else if (kind == 2 && events)
        items.push_back(wait(stream, random() % events));
      else
        items.push_back(plain(stream));
    }
    size_t n = items.size();
    std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
    for (size_t b = 0; b < n; ++b)
      for (size_t a = b; a-- > 0;) {
        bool edge = items[a].stream == items[b].stream ||
                    (items[a].kind == StreamItem::Record &&
                     items[b].kind == StreamItem::Wait &&
                     items[a].event == items[b].event);
        before[a][b] = edge;
        for (size_t c = a + 1; c < b && !before[a][b]; ++c)
          before[a][b] = before[a][c] && before[c][b];
      }
    StreamOrder order(items);
    for (size_t a = 0; a < n; ++a) {
      size_t last = a;
      for (size_t b = a + 1; b < n; ++b) {
        // A wait itself may start early; what stands behind it may not.
        bool isWait = items[b].kind == StreamItem::Wait &&
                      items[a].stream != items[b].stream;
        if (!isWait)
          EXPECT_EQ(order.isBefore(a, b), before[a][b]) << a << ' ' << b;
        if (!order.isBefore(a, b))
          last = b;
      }
      EXPECT_EQ(order.lastUnordered(a), last) << a;
    }
  }
}

} // namespace
