// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives between threads, against sums taken in rank order by the test.

#include "SharedRanks.h"
#include "TestPlan.h"
#include "colrow/runtime/Core/Statistics.h"
#include "colrow/runtime/Plan/DType.h"
#include <array>
#include <cmath>
#include <limits>
#include <thread>

namespace colrow::runtime::test {
namespace {

/// Runs f(rank, communicator) on a thread a rank; operands may be anywhere.
template <typename F>
void onGroup(const Mesh &mesh, std::vector<uint8_t> axes, F f) {
  JobPage page =
      take(JobPage::create(PageLayout(mesh, {axes}, 0, mesh.ranks())));
  SharedMemoryTransport transport(mesh, page, anywhere(mesh.ranks()),
                                  mesh.ranks());
  std::vector<std::thread> threads;
  threads.reserve(mesh.ranks());
  for (unsigned rank = 0; rank < mesh.ranks(); ++rank)
    threads.emplace_back(
        [&, rank] { f(rank, *transport.communicator(rank, axes)); });
  for (std::thread &thread : threads)
    thread.join();
}

float valueOf(unsigned rank, int64_t i) {
  return 1.0f / float(1 + rank) + 0.001f * float(i % 97);
}

/// All sizes around tiles, chunks and the small path; in place and not; twice
/// in a row, since state alternates.
TEST(Collectives, AllReduceSumsInRankOrder) {
  for (unsigned ranks : {1u, 2u, 3u, 4u})
    for (int64_t count : {1, 5, 1024, 1025, 4096, 10007})
      for (bool inPlace : {true, false}) {
        std::vector<float> want(count);
        for (int64_t i = 0; i < count; ++i) {
          want[i] = valueOf(0, i);
          for (unsigned r = 1; r < ranks; ++r)
            want[i] += valueOf(r, i);
        }
        onGroup(meshOf({ranks}), {0}, [&](unsigned rank, Communicator &group) {
          for (int again = 0; again < 3; ++again) {
            std::vector<float> src(count), other(count);
            for (int64_t i = 0; i < count; ++i)
              src[i] = valueOf(rank, i);
            std::vector<float> &dst = inPlace ? src : other;
            group.run({plan::CollectiveKind::all_reduce, plan::Reduction::sum,
                       plan::DType::f32, count, 0, 0, 0, src.data(),
                       dst.data()});
            EXPECT_EQ(dst, want) << ranks << " ranks, " << count;
          }
        });
      }
}

TEST(Collectives, AllReduceOfIntegersAndMaxima) {
  onGroup(meshOf({3}), {0}, [](unsigned rank, Communicator &group) {
    std::vector<int64_t> wide = {int64_t(rank) - 1, int64_t(1) << 40};
    group.run({plan::CollectiveKind::all_reduce, plan::Reduction::sum,
               plan::DType::i64, 2, 0, 0, 0, wide.data(), wide.data()});
    EXPECT_EQ(wide, (std::vector<int64_t>{0, int64_t(3) << 40}));
    std::vector<float> top = {-float(rank) - 1, float(rank)};
    group.run({plan::CollectiveKind::all_reduce, plan::Reduction::max,
               plan::DType::f32, 2, 0, 0, 0, top.data(), top.data()});
    EXPECT_EQ(top, (std::vector<float>{-1, 2}));
  });
}

/// Every rank's `mine` reduced, on three ranks, by the small and the large
/// path.
template <typename T>
void expectReduced(plan::DType type, plan::Reduction reduction,
                   std::array<T, 3> mine, T want) {
  for (int64_t count : {1, 3000})
    onGroup(meshOf({3}), {0}, [&](unsigned rank, Communicator &group) {
      std::vector<T> values(count, mine[rank]);
      group.run({plan::CollectiveKind::all_reduce, reduction, type, count, 0, 0,
                 0, values.data(), values.data()});
      EXPECT_EQ(values, std::vector<T>(count, want))
          << plan::EnumNameDType(type) << ", " << count;
    });
}

/// Each type that a plan may reduce is computed as itself: sums of integers
/// wrap at their own width, and their signs count.
TEST(Collectives, EveryTypeIsReducedAsItself) {
  constexpr auto sum = plan::Reduction::sum, max = plan::Reduction::max;
  expectReduced<float>(plan::DType::f32, sum, {0.5f, -2, 4}, 2.5f);
  expectReduced<float>(plan::DType::f32, max, {-3, -1, -2}, -1);
  expectReduced<uint16_t>(plan::DType::bf16, sum,
                          {toBf16(0.5f), toBf16(-2), toBf16(4)}, toBf16(2.5f));
  expectReduced<uint16_t>(plan::DType::bf16, max,
                          {toBf16(-3), toBf16(-1), toBf16(-2)}, toBf16(-1));
  expectReduced<int32_t>(plan::DType::i32, sum, {INT32_MAX, 1, 5},
                         INT32_MIN + 5);
  expectReduced<int32_t>(plan::DType::i32, max, {-3, -1, -2}, -1);
  expectReduced<int64_t>(plan::DType::i64, sum, {INT64_MAX, 1, 5},
                         INT64_MIN + 5);
  expectReduced<int64_t>(plan::DType::i64, max,
                         {int64_t(1) << 40, -1, (int64_t(1) << 40) + 1},
                         (int64_t(1) << 40) + 1);
}

bool same(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// Ordinary values, but for one rank's element `at`.
float valueWith(float special, unsigned owner, int64_t at, unsigned rank,
                int64_t i) {
  return rank == owner && i == at ? special : valueOf(rank, i);
}

/// What is no number, or infinite, on any rank and at any place, reaches all
/// ranks, in every kind of reduction and on both sides of the small path.
TEST(Collectives, ReductionsKeepNaNAndInfinity) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (unsigned ranks : {2u, 3u, 4u})
    for (int64_t count : {1, 65, 1024, 1025, 3000})
      for (auto reduction : {plan::Reduction::sum, plan::Reduction::max})
        onGroup(meshOf({ranks}), {0}, [&](unsigned rank, Communicator &group) {
          std::vector<float> src(count), dst(count);
          for (float special : {NAN, -NAN, inf, -inf})
            for (unsigned owner = 0; owner < ranks; ++owner)
              for (int64_t at : {int64_t(0), count / 2, count - 1}) {
                for (int64_t i = 0; i < count; ++i)
                  src[i] = valueWith(special, owner, at, rank, i);
                group.run({plan::CollectiveKind::all_reduce, reduction,
                           plan::DType::f32, count, 0, 0, 0, src.data(),
                           dst.data()});
                // -inf is nothing beside the others' maximum.
                float others = valueOf(owner ? 0 : 1, at);
                float want =
                    reduction == plan::Reduction::max && special == -inf
                        ? others
                        : special;
                EXPECT_TRUE(same(dst[at], want))
                    << dst[at] << " for " << special << " of rank " << owner
                    << " of " << ranks << ", element " << at << " of " << count;
                for (int64_t i : {int64_t(0), count - 1})
                  EXPECT_TRUE(i == at || std::isfinite(dst[i])) << i;
              }
        });
}

TEST(Collectives, ScatteredSumsKeepNaNAndInfinity) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (unsigned ranks : {2u, 3u})
    for (int64_t block : {1, 7, 2000}) {
      int64_t total = block * ranks;
      onGroup(meshOf({ranks}), {0}, [&](unsigned rank, Communicator &group) {
        std::vector<float> src(total), dst(block);
        for (float special : {NAN, inf, -inf})
          for (unsigned owner = 0; owner < ranks; ++owner)
            for (int64_t at : {int64_t(0), total / 2, total - 1}) {
              for (int64_t i = 0; i < total; ++i)
                src[i] = valueWith(special, owner, at, rank, i);
              group.run({plan::CollectiveKind::reduce_scatter,
                         plan::Reduction::sum, plan::DType::f32, 0, 1, block,
                         total, src.data(), dst.data()});
              for (int64_t i = 0; i < block; ++i) {
                bool hit = int64_t(rank * block + i) == at;
                EXPECT_TRUE(hit ? same(dst[i], special) : std::isfinite(dst[i]))
                    << dst[i] << " for " << special << " of rank " << owner;
              }
            }
      });
    }
}

/// Infinities of both signs from two ranks cancel to no number.
TEST(Collectives, OppositeInfinitiesAreNoNumber) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (int64_t count : {3, 2000})
    onGroup(meshOf({3}), {0}, [&](unsigned rank, Communicator &group) {
      std::vector<float> values(count, rank == 0 ? inf : rank == 2 ? -inf : 1);
      group.run({plan::CollectiveKind::all_reduce, plan::Reduction::sum,
                 plan::DType::f32, count, 0, 0, 0, values.data(),
                 values.data()});
      for (float value : values)
        EXPECT_TRUE(std::isnan(value));
    });
}

/// bf16 is summed in float32 and rounded once, whatever the path: 1 + 3 * 2^-9
/// is not 1, though each 2^-9 alone is lost. Sizes around tiles and small
/// messages.
TEST(Collectives, Bf16IsSummedInFloat32) {
  for (int64_t count : {1, 5, 2048, 2049, 5003})
    onGroup(meshOf({4}), {0}, [&](unsigned rank, Communicator &group) {
      std::vector<uint16_t> values(count, toBf16(rank ? 0x1p-9f : 1.0f));
      values[count - 1] = toBf16(-float(rank) - 1);
      std::vector<uint16_t> top = values;
      group.run({plan::CollectiveKind::all_reduce, plan::Reduction::sum,
                 plan::DType::bf16, count, 0, 0, 0, values.data(),
                 values.data()});
      for (int64_t i = 0; i + 1 < count; ++i)
        ASSERT_EQ(fromBf16(values[i]), 1 + 0x1p-7f) << i;
      EXPECT_EQ(fromBf16(values[count - 1]), -10);
      group.run({plan::CollectiveKind::all_reduce, plan::Reduction::max,
                 plan::DType::bf16, count, 0, 0, 0, top.data(), top.data()});
      EXPECT_EQ(fromBf16(top[count - 1]), -1);
    });
}

TEST(Collectives, Bf16IsGatheredAndScattered) {
  onGroup(meshOf({2}), {0}, [](unsigned rank, Communicator &group) {
    std::vector<uint16_t> mine = {toBf16(rank + 1), toBf16(rank + 5)}, all(3);
    CollectiveCall call{plan::CollectiveKind::all_gather,
                        plan::Reduction::none,
                        plan::DType::bf16,
                        0,
                        1,
                        2,
                        3,
                        mine.data(),
                        all.data()};
    group.run(call);
    EXPECT_EQ(all, (std::vector<uint16_t>{toBf16(1), toBf16(5), toBf16(2)}));
    call.kind = plan::CollectiveKind::reduce_scatter;
    call.reduction = plan::Reduction::sum;
    call.src = all.data(), call.dst = mine.data();
    group.run(call);
    EXPECT_EQ(mine, rank == 0 ? (std::vector<uint16_t>{toBf16(2), toBf16(10)})
                              : (std::vector<uint16_t>{toBf16(4), 0}));
  });
}

/// Columns are cut at `total`; what a rank holds beyond is dropped, then zero.
void gatherAndScatter(unsigned ranks, int64_t block, int64_t total) {
  constexpr int64_t outer = 2;
  onGroup(meshOf({ranks}), {0}, [&](unsigned rank, Communicator &group) {
    std::vector<float> mine(outer * block, -1), whole(outer * total, -1);
    for (int64_t row = 0; row < outer; ++row)
      for (int64_t c = 0; c < block; ++c)
        mine[row * block + c] = row * 100 + rank * block + c;
    CollectiveCall call{plan::CollectiveKind::all_gather,
                        plan::Reduction::none,
                        plan::DType::f32,
                        0,
                        outer,
                        block,
                        total,
                        mine.data(),
                        whole.data()};
    group.run(call);
    for (int64_t row = 0; row < outer; ++row)
      for (int64_t c = 0; c < total; ++c)
        EXPECT_EQ(whole[row * total + c], row * 100 + c);

    std::vector<float> sums(outer * block, -1);
    call.kind = plan::CollectiveKind::reduce_scatter;
    call.reduction = plan::Reduction::sum;
    call.src = whole.data();
    call.dst = sums.data();
    group.run(call);
    for (int64_t row = 0; row < outer; ++row)
      for (int64_t c = 0; c < block; ++c) {
        int64_t column = rank * block + c;
        EXPECT_EQ(sums[row * block + c],
                  column < total ? float(ranks) * float(row * 100 + column)
                                 : 0);
      }
  });
}

/// Five columns over four ranks of two: the last rank has none.
TEST(Collectives, ARankMayHaveNoColumn) { gatherAndScatter(4, 2, 5); }

/// Seven columns over three ranks of three: the last rank has one.
TEST(Collectives, GatherAndScatterCutAtTheTotal) { gatherAndScatter(3, 3, 7); }

TEST(Collectives, AllToAllExchangesBlocks) {
  onGroup(meshOf({3}), {0}, [](unsigned rank, Communicator &group) {
    std::vector<int32_t> src(6), dst(6, -1);
    for (int i = 0; i < 6; ++i)
      src[i] = rank * 10 + i;
    group.run({plan::CollectiveKind::all_to_all, plan::Reduction::none,
               plan::DType::i32, 0, 1, 2, 0, src.data(), dst.data()});
    for (int from = 0; from < 3; ++from)
      for (int i = 0; i < 2; ++i)
        EXPECT_EQ(dst[from * 2 + i], from * 10 + int(rank) * 2 + i);
  });
}

/// A mesh of 2 x 3: groups over each axis, over both, and over both reversed.
TEST(Collectives, GroupsFollowTheAxes) {
  Mesh mesh = meshOf({2, 3});
  auto gather = [&](std::vector<uint8_t> axes) {
    std::vector<std::vector<int32_t>> result(6);
    unsigned size = mesh.groupSize(axes);
    onGroup(mesh, axes, [&](unsigned rank, Communicator &group) {
      int32_t mine = rank;
      std::vector<int32_t> all(size);
      group.run({plan::CollectiveKind::all_gather, plan::Reduction::none,
                 plan::DType::i32, 0, 1, 1, size, &mine, all.data()});
      result[rank] = all;
    });
    return result;
  };
  using List = std::vector<int32_t>;
  auto inner = gather({1});
  EXPECT_EQ(inner[1], (List{0, 1, 2}));
  EXPECT_EQ(inner[5], (List{3, 4, 5}));
  auto outer = gather({0});
  EXPECT_EQ(outer[1], (List{1, 4}));
  EXPECT_EQ(gather({0, 1})[3], (List{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(gather({1, 0})[3], (List{0, 3, 1, 4, 2, 5}));
}

TEST(Collectives, TotalsCountLoopsAndRingBytes) {
  TestPlan builder;
  builder.mesh = {{"dp", 2}, {"tp", 4}};
  builder.scratchBytes = 4096;
  CollectiveSpec sum{plan::CollectiveKind::all_reduce, plan::Reduction::sum};
  sum.axes = {1};
  sum.count = 100;
  sum.payload = 400;
  builder.fill({}, 4096, 0);
  builder.loop(3, 1);
  builder.collective(sum);
  builder.collective(sum);
  CollectiveSpec gather{plan::CollectiveKind::all_gather};
  gather.axes = {0, 1};
  gather.outer = 1, gather.block = 2, gather.total = 15;
  gather.dst = {Region::scratch, 64};
  builder.collective(gather);
  LoadedPlan plan = builder.load();
  auto totals = collectiveTotals(plan.get(), *plan->programs()->Get(0));
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].axis, "tp");
  EXPECT_EQ(totals[0].count, 4);
  EXPECT_EQ(totals[0].payloadBytes, 1600u);
  EXPECT_EQ(totals[0].sentBytes(), 1600 * 2 * 3 / 4);
  EXPECT_EQ(totals[1].axis, "dp,tp");
  EXPECT_EQ(totals[1].sentBytes(), 60 * 7 / 8.0);
}

/// Bytes of every kind where the plan does not say them, from the sizes; one
/// kind over two axes counts apart.
TEST(Collectives, TotalsOfEveryKind) {
  TestPlan builder;
  builder.mesh = {{"dp", 2}, {"tp", 4}};
  builder.scratchBytes = 4096;
  builder.fill({}, 4096, 0);
  auto add = [&](CollectiveSpec spec, uint8_t axis) {
    spec.axes = {axis};
    spec.dst = {Region::scratch, 1024};
    builder.collective(spec);
  };
  CollectiveSpec sum{plan::CollectiveKind::all_reduce, plan::Reduction::sum};
  sum.count = 100;
  add(sum, 0);
  add(sum, 1);
  CollectiveSpec exchange{plan::CollectiveKind::all_to_all};
  exchange.outer = 2, exchange.block = 3;
  add(exchange, 1);
  CollectiveSpec scatter{plan::CollectiveKind::reduce_scatter,
                         plan::Reduction::sum};
  scatter.outer = 2, scatter.block = 4, scatter.total = 15;
  add(scatter, 1);
  CollectiveSpec gather{plan::CollectiveKind::all_gather};
  gather.outer = 2, gather.block = 4, gather.total = 15;
  add(gather, 1);
  LoadedPlan plan = builder.load();
  auto totals = collectiveTotals(plan.get(), *plan->programs()->Get(0));
  struct Want {
    const char *axis;
    uint64_t payload;
    double sent;
  };
  // All-to-all: a rank holds 4 blocks of 24 bytes and keeps one.
  std::vector<Want> want = {{"dp", 400, 400},
                            {"tp", 400, 600},
                            {"tp", 4 * 4 * 24, 3 * 24},
                            {"tp", 120, 90},
                            {"tp", 120, 90}};
  ASSERT_EQ(totals.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(totals[i].axis, want[i].axis) << i;
    EXPECT_EQ(totals[i].payloadBytes, want[i].payload) << i;
    EXPECT_EQ(totals[i].sentBytes(), want[i].sent) << i;
  }
}

} // namespace
} // namespace colrow::runtime::test
