// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flops, bytes and times of work items, worked by hand.

#include "colrow/Cost/CostModel.h"

#include "gtest/gtest.h"

using namespace colrow::cost;

namespace {

/// 1 FLOP a picosecond, 1 byte a picosecond of memory, 1 byte each 2 ps and
/// 100 ps to start on the network.
CostModel makeModel() {
  Topology topology;
  topology.name = "test";
  topology.flopsPerSecondF32 = 1e12;
  topology.memoryBytesPerSecond = 1e12;
  topology.memoryBytes = 1e9;
  topology.levels = {{"near", 4, 100e-12, 0.5e12}, {"far", 16, 100e-12, 1e10}};
  return CostModel(topology);
}

TEST(WorkItem, GemmCountsMultiplyAddsAndThreeMatrices) {
  WorkItem item = Gemm{2, 3, 5, 7, 4, 2, 8};
  EXPECT_EQ(flopsOf(item), 2 * 2 * 3 * 5 * 7);
  EXPECT_EQ(memoryBytesOf(item), 2 * (3 * 7 * 4 + 7 * 5 * 2 + 3 * 5 * 8));
  EXPECT_EQ(sentBytesOf(item), 0);
  EXPECT_EQ(collectivesOf(item), 0);
  EXPECT_EQ(toString(item), "gemm(2, 3, 5, 7; 4, 2, 8)");
  EXPECT_EQ(makeModel().workPs(item), 548); // memory is the slower part
}

Attention makeAttention() {
  Attention a;
  a.batch = 2;
  a.heads = 6;
  a.groups = 3;
  a.s = 4;
  a.t = 5;
  a.d = 7;
  a.e = 9;
  return a;
}

TEST(WorkItem, AttentionIsTwoProductsAndItsGradientFive) {
  Attention a = makeAttention();
  EXPECT_EQ(flopsOf(WorkItem(a)), 2 * 2 * 6 * (4 * 5) * (7 + 9));
  // q, k, v, the result, and a number a row.
  int64_t q = 2 * 6 * 4 * 7, k = 2 * 3 * 5 * 7, v = 2 * 3 * 5 * 9;
  int64_t y = 2 * 6 * 4 * 9, rows = 2 * 6 * 4;
  EXPECT_EQ(memoryBytesOf(WorkItem(a)), 4 * (q + k + v + y + rows));
  a.gradient = true;
  EXPECT_EQ(flopsOf(WorkItem(a)), 2 * 2 * 6 * (4 * 5) * (3 * 7 + 2 * 9));
  EXPECT_EQ(memoryBytesOf(WorkItem(a)), 4 * (2 * (q + k + v) + y + rows));
}

TEST(WorkItem, AttentionCountsThePairsThatAreSeen) {
  auto pairs = [](int64_t s, int64_t t, bool causal, int64_t window) {
    Attention a = makeAttention();
    a.s = s;
    a.t = t;
    a.causal = causal;
    a.window = window;
    return flopsOf(WorkItem(a)) / (2 * 2 * 6 * (7 + 9));
  };
  EXPECT_EQ(pairs(4, 4, true, 0), 1 + 2 + 3 + 4);
  EXPECT_EQ(pairs(4, 4, true, 2), 1 + 2 + 2 + 2);
  EXPECT_EQ(pairs(4, 2, true, 0), 1 + 2 + 2 + 2);
  EXPECT_EQ(pairs(2, 4, true, 0), 1 + 2);
  EXPECT_EQ(pairs(4, 5, false, 3), 4 * 3);
}

TEST(WorkItem, RowsAreTheirBytes) {
  WorkItem item = Rows{30, 70};
  EXPECT_EQ(flopsOf(item), 0);
  EXPECT_EQ(memoryBytesOf(item), 100);
  EXPECT_EQ(makeModel().workPs(item), 100);
  EXPECT_EQ(toString(item), "rows(30, 70)");
}

TEST(WorkItem, ChangesAreCollectivesOfTheirRanks) {
  CostModel model = makeModel();
  auto change = [](ChangeKind kind, unsigned stride = 1) {
    return WorkItem(Change{kind, 1000, 4, stride});
  };
  EXPECT_EQ(sentBytesOf(change(ChangeKind::AllReduce)), 1500);
  EXPECT_EQ(sentBytesOf(change(ChangeKind::AllGather)), 750);
  EXPECT_EQ(sentBytesOf(change(ChangeKind::ReduceScatter)), 750);
  EXPECT_EQ(sentBytesOf(change(ChangeKind::AllToAll)), 750);
  EXPECT_EQ(collectivesOf(change(ChangeKind::AllGather)), 1);
  EXPECT_EQ(flopsOf(change(ChangeKind::AllGather)), 0);
  EXPECT_EQ(memoryBytesOf(change(ChangeKind::AllGather)), 0);
  EXPECT_EQ(model.workPs(change(ChangeKind::AllReduce)), 6 * 100 + 3000);
  for (ChangeKind kind : {ChangeKind::AllGather, ChangeKind::ReduceScatter,
                          ChangeKind::AllToAll}) {
    EXPECT_EQ(model.workPs(change(kind)), 3 * 100 + 1500);
    EXPECT_EQ(model.workPs(change(kind, 4)), 3 * 100 + 75000);
  }
  // Farther apart they are on the outer level.
  EXPECT_EQ(model.workPs(change(ChangeKind::AllReduce, 4)), 6 * 100 + 150000);
  EXPECT_EQ(toString(change(ChangeKind::ReduceScatter, 2)),
            "reduce_scatter(1000, 4, 2)");
}

/// Items that differ in one field each: none equals another, and no two have
/// the same text or, here, the same hash.
TEST(WorkItem, EveryFieldCounts) {
  Attention attention{2, 3, 5, 7, 11, 13, 17, false, 0, false, 4};
  std::vector<WorkItem> items = {Gemm{}, attention, Rows{}, Change{}};
  for (auto field : {&Gemm::batch, &Gemm::m, &Gemm::n, &Gemm::k, &Gemm::aBytes,
                     &Gemm::bBytes, &Gemm::cBytes}) {
    Gemm gemm;
    gemm.*field = 9;
    items.push_back(gemm);
  }
  for (auto field : {&Attention::batch, &Attention::heads, &Attention::groups,
                     &Attention::s, &Attention::t, &Attention::d, &Attention::e,
                     &Attention::window, &Attention::bytes}) {
    Attention other = attention;
    other.*field = 19;
    items.push_back(other);
  }
  for (auto field : {&Attention::causal, &Attention::gradient}) {
    Attention other = attention;
    other.*field = true;
    items.push_back(other);
  }
  for (Rows rows : {Rows{1, 2}, Rows{2, 1}, Rows{1, 1}})
    items.push_back(rows);
  for (Change change : {Change{ChangeKind::AllGather, 0, 1, 1},
                        Change{ChangeKind::ReduceScatter, 0, 1, 1},
                        Change{ChangeKind::AllToAll, 0, 1, 1},
                        Change{ChangeKind::AllReduce, 8, 1, 1},
                        Change{ChangeKind::AllReduce, 0, 8, 1},
                        Change{ChangeKind::AllReduce, 0, 1, 8}})
    items.push_back(change);
  for (size_t i = 0; i < items.size(); ++i)
    for (size_t j = 0; j < items.size(); ++j) {
      SCOPED_TRACE(toString(items[i]) + " and " + toString(items[j]));
      EXPECT_EQ(items[i] == items[j], i == j);
      EXPECT_EQ(toString(items[i]) == toString(items[j]), i == j);
      EXPECT_EQ(hashOf(items[i]) == hashOf(items[j]), i == j);
    }
}

TEST(WorkItem, HugeShapesSaturate) {
  EXPECT_EQ(flopsOf(WorkItem(Gemm{1, int64_t(1) << 40, int64_t(1) << 40, 2})),
            INT64_MAX);
}

} // namespace
