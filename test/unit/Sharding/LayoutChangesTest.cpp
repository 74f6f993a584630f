// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which changes are offered, and the work that they are.

#include "colrow/Sharding/LayoutChanges.h"
#include "colrow/Sharding/Scratch.h"
#include "colrow/dialects/TP/TP.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::sharding;
using layout::State;

namespace {

/// "tp.all_reduce all_reduce(96, 2, 4); ...", "none" if not offered.
std::string work(const ChangeQuery &query, unsigned from, unsigned to) {
  auto items = changeWork(query, from, to);
  if (!items)
    return "none";
  std::string text;
  for (const NamedItem &item : *items)
    text += (text.empty() ? "" : "; ") + item.str();
  return text;
}

/// R, C, P, S(1) with a gradient and then R, C without, of 96 bytes over 3
/// ranks that are 4 apart.
ChangeQuery makeQuery() {
  ChangeQuery query;
  query.states = {{State::R(), true},  {State::C(), true},
                  {State::P(), true},  {State::S(1), true},
                  {State::R(), false}, {State::C(), false}};
  query.heldBytes = {96, 96, 96, 32, 96, 96};
  query.padded.assign(6, false);
  query.ranks = 3;
  query.stride = 4;
  return query;
}

enum { R, C, P, S, RWithout, CWithout };

TEST(LayoutChanges, WorkInBothDirections) {
  ChangeQuery query = makeQuery();
  EXPECT_EQ(work(query, R, R), "");
  EXPECT_EQ(work(query, R, C), "tp.all_reduce all_reduce(96, 3, 4)");
  EXPECT_EQ(work(query, P, R), "tp.all_reduce all_reduce(96, 3, 4)");
  EXPECT_EQ(work(query, S, R), "tp.all_gather all_gather(96, 3, 4); "
                               "tp.local_slice rows(0, 32)");
  for (auto [from, to] :
       {std::pair(C, R), {S, C}, {R, S}, {R, P}, {P, S}, {P, C}, {C, S}})
    EXPECT_EQ(work(query, from, to), "none") << from << to;
}

TEST(LayoutChanges, AGradientMayBeWiderThanItsValue) {
  ChangeQuery query = makeQuery();
  query.gradientFactors = {2, 2};
  EXPECT_EQ(work(query, R, C), "tp.all_reduce all_reduce(192, 3, 4)");
  EXPECT_EQ(work(query, P, R), "tp.all_reduce all_reduce(96, 3, 4)");
  EXPECT_EQ(work(query, S, R), "tp.all_gather all_gather(96, 3, 4); "
                               "tp.local_slice rows(0, 64)");
  // Shares of it may be as narrow as the value.
  query.gradientFactors.share = 1;
  EXPECT_EQ(work(query, R, C), "tp.all_reduce all_reduce(96, 3, 4)");
  EXPECT_EQ(work(query, S, R), "tp.all_gather all_gather(96, 3, 4); "
                               "tp.local_slice rows(0, 64)");
}

TEST(LayoutChanges, WithoutAGradientNothingComesBack) {
  ChangeQuery query = makeQuery();
  EXPECT_EQ(work(query, R, RWithout), "");
  EXPECT_EQ(work(query, RWithout, R), "none");
  EXPECT_EQ(work(query, R, CWithout), "");
  EXPECT_EQ(work(query, RWithout, CWithout), "");
  EXPECT_EQ(work(query, S, RWithout), "tp.all_gather all_gather(96, 3, 4)");
  EXPECT_EQ(work(query, S, CWithout), "tp.all_gather all_gather(96, 3, 4)");
}

TEST(LayoutChanges, PaddedBlocksAreNotSlicedBack) {
  ChangeQuery query = makeQuery();
  query.padded[S] = true;
  EXPECT_EQ(work(query, S, R), "none");
  EXPECT_EQ(work(query, S, RWithout), "tp.all_gather all_gather(96, 3, 4)");
}

TEST(LayoutChanges, ParametersOnlyBecomeCopied) {
  ChangeQuery query = makeQuery();
  query.isParameter = true;
  EXPECT_EQ(work(query, R, C), "tp.all_reduce all_reduce(96, 3, 4)");
  EXPECT_EQ(work(query, S, R), "none");
}

TEST(LayoutChanges, OneRankDoesNothing) {
  ChangeQuery query = makeQuery();
  query.ranks = 1;
  for (auto [from, to] : {std::pair(R, C), {P, R}, {S, R}})
    EXPECT_EQ(work(query, from, to), "") << from << to;
}

/// From every kind of state to every other: a whole of 96 bytes, blocks of 32.
TEST(LayoutChanges, WorkOfOneChange) {
  using K = layout::StateKind;
  auto one = [](K from, K to) {
    auto held = [](K kind) { return kind == K::Split ? 32 : 96; };
    auto item = changeWork(from, to, held(from), held(to), 3, 4);
    return item ? item->str() : "";
  };
  for (K whole : {K::Replicated, K::Copied}) {
    EXPECT_EQ(one(K::Split, whole), "tp.all_gather all_gather(96, 3, 4)");
    EXPECT_EQ(one(whole, K::Split), "tp.local_slice rows(0, 32)");
    EXPECT_EQ(one(K::Partial, whole), "tp.all_reduce all_reduce(96, 3, 4)");
    EXPECT_EQ(one(K::PartialMax, whole), "tp.all_reduce all_reduce(96, 3, 4)");
  }
  EXPECT_EQ(one(K::Partial, K::Split),
            "tp.reduce_scatter reduce_scatter(96, 3, 4)");
  EXPECT_EQ(one(K::Split, K::Split), "tp.all_to_all all_to_all(32, 3, 4)");
  EXPECT_EQ(one(K::Replicated, K::Copied), "");
  EXPECT_FALSE(changeWork(K::Split, K::Replicated, 96, 96, 1, 1));
}

TEST(LayoutChanges, QueriesKnowTheStrideOfTheAxis) {
  MLIRContext context;
  context.loadDialect<tp::TPDialect>();
  layout::Mesh mesh = llvm::cantFail(layout::Mesh::parse("tp=3,inner=2"));
  auto meshAttr = tp::MeshAttr::get(&context, mesh);
  layout::Layout layout(2);
  layout.dims[1] = layout::splitDim(7, 7, /*axis=*/0, mesh);
  Scratch scratch(&context);
  Value value = scratch.block.addArgument(
      RankedTensorType::get({5, 7}, Builder(&context).getF32Type(),
                            tp::LayoutAttr::get(meshAttr, layout)),
      UnknownLoc::get(&context));
  ChangeQuery query = sharding::makeQuery(value, /*reached=*/true, 0, mesh,
                                          ValueState{State::R(), false});
  EXPECT_EQ(query.ranks, 3u);
  EXPECT_EQ(query.stride, 2u);
  EXPECT_TRUE(query.states[0] == (ValueState{State::S(1), true}));
  EXPECT_TRUE(query.padded[0]);
  EXPECT_EQ(query.heldBytes[0], 5 * 3 * 4);
  unsigned whole = indexOf(query, {State::R(), false});
  ASSERT_LT(whole, query.states.size());
  EXPECT_EQ(work(query, 0, whole), "tp.all_gather all_gather(140, 3, 2)");
}

/// A slow outer level decides what a change over it costs.
TEST(LayoutChanges, PricesAreThoseOfTheTopology) {
  cost::Topology topology = cost::defaultTopology();
  topology.levels = {{"near", 3, 0, 1e12}, {"far", 64, 0, 1e9}};
  ChangeQuery query = makeQuery();
  query.stride = 1;
  EXPECT_EQ(makeConversions(query, cost::CostModel(topology)).at(P, R),
            (solver::Cost{128, 1, 128}));
  query.stride = 4;
  EXPECT_EQ(makeConversions(query, cost::CostModel(topology)).at(P, R),
            (solver::Cost{128000, 1, 128}));
}

} // namespace
