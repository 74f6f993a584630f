// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times and bytes against the formulas, worked by hand.

#include "colrow/Cost/CostModel.h"

#include "gtest/gtest.h"

using namespace colrow::cost;

namespace {

/// 100 GFLOP/s, 20 GB/s memory; 4 ranks at 10 GB/s and 1 us, then 16 ranks at
/// 1 GB/s and 10 us.
CostModel makeModel() {
  Topology topology;
  topology.name = "test";
  topology.flopsPerSecondF32 = 100e9;
  topology.memoryBytesPerSecond = 20e9;
  topology.memoryBytes = 1e9;
  topology.levels = {{"near", 4, 1e-6, 10e9}, {"far", 16, 10e-6, 1e9}};
  return CostModel(topology);
}

TEST(CostModel, BytesOfRingsAreExact) {
  EXPECT_EQ(allReduceBytes(1000, 2), 1000);
  EXPECT_EQ(allReduceBytes(1000, 4), 1500);
  EXPECT_EQ(allReduceBytes(1001, 4), 1501); // 1501.5
  EXPECT_EQ(allGatherBytes(1000, 4), 750);
  EXPECT_EQ(reduceScatterBytes(1000, 4), 750);
  EXPECT_EQ(allToAllBytes(1000, 4), 750);
  EXPECT_EQ(allReduceBytes(1000, 1), 0);
  EXPECT_EQ(allReduceBytes(0, 8), 0);
}

TEST(CostModel, BytesDoNotOverflow) {
  EXPECT_EQ(allGatherBytes(INT64_MAX, 2), INT64_MAX / 2);
  EXPECT_EQ(allReduceBytes(INT64_MAX, 1u << 31), INT64_MAX);
}

TEST(CostModel, ComputeIsTheSlowerOfFlopsAndMemory) {
  CostModel model = makeModel();
  EXPECT_EQ(model.computePs(100, 0), 1000);
  EXPECT_EQ(model.computePs(100, 10), 1000);
  EXPECT_EQ(model.computePs(100, 20), 1000);
  EXPECT_EQ(model.computePs(100, 40), 2000);
  EXPECT_EQ(model.computePs(0, 0), 0);
}

TEST(CostModel, ProductsOfBf16HaveARateOfTheirOwnWhereItIsKnown) {
  const Gemm narrow{1, 100, 10, 10, 2, 2, 4}, half{1, 100, 10, 10, 2, 4, 4};
  Attention attention;
  attention.s = attention.t = 100;
  attention.d = attention.e = 10;
  attention.bytes = 2;
  Topology topology = defaultTopology();
  topology.memoryBytesPerSecond = 1e15;
  for (double rate : {0.0, 4 * topology.flopsPerSecondF32}) {
    topology.flopsPerSecondBf16 = rate;
    CostModel model(topology);
    int64_t times = rate > 0 ? 4 : 1;
    EXPECT_EQ(model.workPs(narrow) * times, model.workPs(half));
    EXPECT_EQ(model.workPs(half), 200000);
    EXPECT_EQ(model.workPs(attention) * times, 4000000);
  }
}

TEST(CostModel, TimesRoundUp) {
  Topology topology = makeModel().topology();
  topology.flopsPerSecondF32 = 3e12;
  EXPECT_EQ(CostModel(topology).computePs(1, 0), 1);
  EXPECT_EQ(CostModel(topology).computePs(4, 0), 2);
}

TEST(CostModel, TimesSaturate) {
  CostModel model = makeModel();
  EXPECT_EQ(model.computePs(INT64_MAX, 0), INT64_MAX);
  EXPECT_EQ(model.computePs(0, INT64_MAX), INT64_MAX);
  EXPECT_EQ(model.allReducePs(INT64_MAX, 2), INT64_MAX);
}

TEST(CostModel, CollectivesAreAlphaBeta) {
  CostModel model = makeModel();
  // 2 (p - 1) messages of 1 us, and 1.5 MB at 10 GB/s.
  EXPECT_EQ(model.allReducePs(1'000'000, 4), 6'000'000 + 150'000'000);
  EXPECT_EQ(model.allGatherPs(1'000'000, 4), 3'000'000 + 75'000'000);
  EXPECT_EQ(model.reduceScatterPs(1'000'000, 4), 3'000'000 + 75'000'000);
  EXPECT_EQ(model.allToAllPs(1'000'000, 4), 3'000'000 + 75'000'000);
}

TEST(CostModel, OneRankCommunicatesForNothing) {
  CostModel model = makeModel();
  EXPECT_EQ(model.allReducePs(1'000'000, 1), 0);
  EXPECT_EQ(model.allGatherPs(1'000'000, 1, 8), 0);
}

/// Groups that do not fit the inner level use the outer one: too many ranks, or
/// few ranks that are far apart.
TEST(CostModel, LevelFollowsTheSpanOfTheGroup) {
  CostModel model = makeModel();
  EXPECT_EQ(model.allGatherPs(1000, 2), 1'000'000 + 50'000);
  EXPECT_EQ(model.allGatherPs(1000, 2, 2), 1'000'000 + 50'000);
  EXPECT_EQ(model.allGatherPs(1000, 2, 4), 10'000'000 + 500'000);
  EXPECT_EQ(model.allGatherPs(1000, 8), 70'000'000 + 875'000);
  EXPECT_EQ(model.allGatherPs(1000, 32), 310'000'000 + 968'000);
}

TEST(CostModel, MeshMustFitTheTopology) {
  CostModel model = makeModel();
  EXPECT_FALSE(llvm::errorToBool(model.checkRanks(16)));
  EXPECT_EQ(llvm::toString(model.checkRanks(17)),
            "the mesh has 17 ranks, but topology 'test' holds 16 (level "
            "'far'); use a smaller mesh or another topology");
}

} // namespace
