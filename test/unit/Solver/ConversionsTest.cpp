// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion trees against an enumeration of all parent assignments.

#include "colrow/Solver/Conversions.h"

#include "gtest/gtest.h"

#include <random>

using namespace colrow::solver;

namespace {

constexpr unsigned kNone = ~0u;

/// The sum of the edges to the ancestors of `wanted`, or infinite if one does
/// not lead to `produced`.
Cost costOfParents(const ConversionTable &table, unsigned produced,
                   unsigned wanted, const std::vector<unsigned> &parent) {
  Cost sum;
  unsigned reached = 1u << produced;
  for (unsigned state = 0; state < table.numStates; ++state) {
    if (!(wanted >> state & 1))
      continue;
    unsigned steps = 0;
    for (unsigned at = state; !(reached >> at & 1); at = parent[at]) {
      if (parent[at] == kNone || ++steps > table.numStates)
        return Cost::infinite();
      sum += table.at(parent[at], at);
    }
    for (unsigned at = state; !(reached >> at & 1); at = parent[at])
      reached |= 1u << at;
  }
  return sum;
}

/// The least over all assignments of a parent (or none) to every state.
Cost cheapest(const ConversionTable &table, unsigned produced,
              unsigned wanted) {
  Cost best = Cost::infinite();
  unsigned n = table.numStates, total = 1;
  for (unsigned i = 0; i < n; ++i)
    total *= n;
  for (unsigned code = 0; code < total; ++code) {
    std::vector<unsigned> parent;
    for (unsigned state = 0, rest = code; state < n; ++state, rest /= n)
      parent.push_back(rest % n == state ? kNone : rest % n);
    best = std::min(best, costOfParents(table, produced, wanted, parent));
  }
  return best;
}

ConversionTable randomTable(std::mt19937 &random, unsigned states) {
  ConversionTable table{states, {}};
  for (unsigned from = 0; from < states; ++from)
    for (unsigned to = 0; to < states; ++to)
      table.cost.push_back(from == to          ? Cost{}
                           : random() % 4 == 0 ? Cost::infinite()
                                               : Cost{int64_t(random() % 9), 1,
                                                      int64_t(random() % 5)});
  return table;
}

/// That the edges of a tree are what cost() says and reach every wanted state.
void checkEdges(const ConversionTable &table, const ConversionTrees &trees,
                unsigned produced, unsigned wanted) {
  Cost sum;
  unsigned reached = 1u << produced;
  for (Conversion edge : trees.edges(produced, StateSet(wanted))) {
    EXPECT_TRUE(reached >> edge.from & 1);
    EXPECT_FALSE(reached >> edge.to & 1);
    reached |= 1u << edge.to;
    sum += table.at(edge.from, edge.to);
  }
  EXPECT_EQ(reached & wanted, wanted);
  EXPECT_TRUE(sum == trees.cost(produced, StateSet(wanted)));
}

TEST(Conversions, TreesAreTheCheapest) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 24; ++round) {
    ConversionTable table = randomTable(random, round < 22 ? 1 + round % 4 : 5);
    ConversionTrees trees(table);
    for (unsigned produced = 0; produced < table.numStates; ++produced) {
      for (unsigned wanted = 0; wanted < 1u << table.numStates; ++wanted) {
        Cost cost = trees.cost(produced, StateSet(wanted));
        ASSERT_TRUE(cost == cheapest(table, produced, wanted));
        if (cost.isInfinite())
          EXPECT_TRUE(trees.edges(produced, StateSet(wanted)).empty());
        else
          checkEdges(table, trees, produced, wanted);
      }
    }
  }
}

TEST(Conversions, EightStatesWork) {
  std::mt19937 random(2);
  ConversionTable table = randomTable(random, 8);
  ConversionTrees trees(table);
  for (unsigned wanted = 0; wanted < 256; ++wanted)
    if (!trees.cost(7, StateSet(wanted)).isInfinite())
      checkEdges(table, trees, 7, wanted);
}

/// P to C is f after g, and R on the way is free: states P=0, R=1, C=2.
TEST(Conversions, ChainsPassThroughStates) {
  const Cost no = Cost::infinite(), g{100, 1, 8}, f{90, 1, 8};
  ConversionTrees trees({3, {{}, g, no, no, {}, f, no, no, {}}});
  EXPECT_EQ(trees.cost(0, 0b100), (Cost{190, 2, 16}));
  EXPECT_EQ(trees.cost(0, 0b110), (Cost{190, 2, 16}));
  auto edges = trees.edges(0, 0b110);
  ASSERT_EQ(edges.size(), 2u);
  EXPECT_EQ(edges[0], (Conversion{0, 1}));
  EXPECT_EQ(edges[1], (Conversion{1, 2}));
  EXPECT_TRUE(trees.cost(2, 0b010).isInfinite());
}

/// Two wanted states may share a state that none of them is.
TEST(Conversions, TreesShareIntermediateStates) {
  const Cost no = Cost::infinite();
  // 0 -> 1 costs 10, 1 -> 2 and 1 -> 3 cost 1, directly 8 each.
  ConversionTrees trees(
      {4,
       {{}, {10}, {8}, {8}, no, {}, {1}, {1}, no, no, {}, no, no, no, no, {}}});
  EXPECT_EQ(trees.cost(0, 0b0100), Cost{8});
  EXPECT_EQ(trees.cost(0, 0b1100), Cost{12});
  EXPECT_EQ(trees.edges(0, 0b1100).size(), 3u);
}

/// Free detours are not taken.
TEST(Conversions, TiesTakeTheFewestStates) {
  ConversionTrees trees({3, std::vector<Cost>(9)});
  EXPECT_EQ(trees.edges(0, 0b100).size(), 1u);
  EXPECT_EQ(trees.edges(0, 0b001).size(), 0u);
}

/// 0 -> 1 -> 2 for nothing, 3 -> 0 too, and all else at a price.
TEST(Conversions, WhatComesForNothing) {
  const Cost no = Cost::infinite(), paid{0, 0, 1};
  ConversionTrees trees({4,
                         {{},
                          {},
                          paid,
                          paid,
                          no,
                          {},
                          {},
                          paid,
                          no,
                          paid,
                          {},
                          no,
                          {},
                          paid,
                          paid,
                          {}}});
  EXPECT_EQ(trees.closed(2, 0), 0b0100);
  EXPECT_EQ(trees.closed(1, 0), 0b0110);
  EXPECT_EQ(trees.closed(0, 0), 0b0111);
  EXPECT_EQ(trees.closed(3, 0), 0b1111);
  EXPECT_EQ(trees.closed(2, 0b0001), 0b0111);
  EXPECT_EQ(trees.closed(2, 0b1000), 0b1111);
  for (unsigned produced = 0; produced < 4; ++produced)
    for (unsigned wanted = 0; wanted < 16; ++wanted)
      for (unsigned more = 0; more < 16; ++more)
        EXPECT_EQ(trees.cost(produced, StateSet(wanted | more)),
                  trees.cost(produced,
                             StateSet(trees.closed(produced, wanted) | more)));
}

TEST(Cost, SumsSaturateAndInfinityAbsorbs) {
  Cost large{INT64_MAX - 1, 0, 0};
  EXPECT_TRUE((large + Cost{1}).isInfinite());
  EXPECT_TRUE((large + Cost{2}).isInfinite());
  EXPECT_TRUE((Cost{0, INT64_MAX, 0} + Cost{0, 1, 0}).isInfinite());
  EXPECT_TRUE((Cost::infinite() + Cost{-5}).isInfinite());
  EXPECT_TRUE((Cost::infinite() - Cost{5}).isInfinite());
  EXPECT_TRUE((Cost{0, 0, INT64_MAX} + Cost{0, 0, 1}).isInfinite());
  for (Cost least :
       {Cost{INT64_MIN, 0, 0}, Cost{0, INT64_MIN, 0}, Cost{0, 0, INT64_MIN}})
    EXPECT_TRUE((least - Cost{1, 1, 1}).isInfinite());
  EXPECT_EQ((Cost{3, 2, 1} - Cost{1, 5, 1}), (Cost{2, -3, 0}));
  EXPECT_TRUE((Cost{1, 9, 9} < Cost{2, 0, 0}));
  EXPECT_TRUE((Cost{1, 1, 9} < Cost{1, 2, 0}));
}

} // namespace
