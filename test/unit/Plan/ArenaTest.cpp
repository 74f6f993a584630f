// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in an arena: no two that live at once overlap, and bytes are used
// again.

#include "colrow/Plan/Arena.h"
#include "gtest/gtest.h"
#include <random>

using namespace colrow::planir;

namespace {

TEST(Arena, TakesTheSmallestGapThatFits) {
  Arena arena;
  EXPECT_EQ(arena.take(100), 0u);
  EXPECT_EQ(arena.take(10), 100u);
  EXPECT_EQ(arena.take(30), 110u);
  EXPECT_EQ(arena.take(10), 140u);
  arena.give(0, 100);
  arena.give(110, 30);
  EXPECT_EQ(arena.take(20), 110u);
  EXPECT_EQ(arena.take(10), 130u);
  EXPECT_EQ(arena.take(40), 0u);
  EXPECT_EQ(arena.getEnd(), 150u);
}

TEST(Arena, NeighboursJoin) {
  Arena arena;
  for (int i = 0; i < 4; ++i)
    arena.take(10);
  arena.give(0, 10);
  arena.give(20, 10);
  arena.give(10, 10);
  EXPECT_EQ(arena.take(30), 0u);
  // The last gap grows with the arena.
  arena.give(30, 10);
  EXPECT_EQ(arena.take(25), 30u);
  EXPECT_EQ(arena.getEnd(), 55u);
}

TEST(Arena, LivesMeetInTheirLastMoment) {
  uint64_t bytes = 0;
  auto offsets = placeLives({{8, 0, 1}, {8, 1, 2}, {8, 2, 2}}, 64, bytes);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 64, 0}));
  EXPECT_EQ(bytes, 128u);
}

/// Overlapping lives never share bytes, and the arena is not much larger than
/// what lives at once.
TEST(Arena, RandomLives) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Life> lives(1 + random() % 40);
    for (Life &life : lives) {
      life.bytes = 1 + random() % 500;
      life.begin = random() % 50;
      life.end = life.begin + random() % 10;
    }
    uint64_t bytes = 0;
    auto offsets = placeLives(lives, 64, bytes);
    uint64_t most = 0;
    for (unsigned moment = 0; moment < 60; ++moment) {
      uint64_t sum = 0;
      for (const Life &life : lives)
        if (life.begin <= moment && moment <= life.end)
          sum += (life.bytes + 63) / 64 * 64;
      most = std::max(most, sum);
    }
    EXPECT_LE(most, bytes);
    EXPECT_LE(bytes, 2 * most);
    for (size_t i = 0; i < lives.size(); ++i) {
      EXPECT_EQ(offsets[i] % 64, 0u);
      EXPECT_LE(offsets[i] + lives[i].bytes, bytes);
      for (size_t j = 0; j < i; ++j) {
        bool meet =
            lives[i].begin <= lives[j].end && lives[j].begin <= lives[i].end;
        bool overlap = offsets[i] < offsets[j] + lives[j].bytes &&
                       offsets[j] < offsets[i] + lives[i].bytes;
        EXPECT_FALSE(meet && overlap) << i << " and " << j;
      }
    }
  }
}

} // namespace
