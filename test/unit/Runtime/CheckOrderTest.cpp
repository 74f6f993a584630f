// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events, and programs of several ranks.

#include "TestPlan.h"
#include "llvm/ADT/STLExtras.h"

namespace colrow::runtime::test {
namespace {

std::string fault(TestPlan &plan) { return faultOf(plan.build()); }

CollectiveSpec sum(At at, std::vector<uint8_t> axes) {
  CollectiveSpec spec{plan::CollectiveKind::all_reduce, plan::Reduction::sum};
  spec.axes = std::move(axes);
  spec.count = 4;
  spec.src = spec.dst = at;
  return spec;
}

/// Stream 0 writes x, stream 1 reads it, stream 0 writes it again: right with
/// waits in both directions. `without` leaves out one of the two waits.
std::string handOver(unsigned without) {
  TestPlan plan;
  At x = plan.buffer(Region::scratch, 64, plan::DType::f32);
  At kept = plan.buffer(Region::persistent, 64, plan::DType::f32);
  plan.fill(x, 64, 1);
  plan.record(7);
  plan.stream = 1;
  if (without != 1)
    plan.wait(7);
  plan.copy(x, kept, 64);
  plan.record(8);
  plan.stream = 0;
  if (without != 2)
    plan.wait(8);
  plan.fill(x, 64, 2);
  return fault(plan);
}

TEST(CheckOrder, AWaitRemovedIsFound) {
  EXPECT_EQ(handOver(0), "");
  EXPECT_HAS(handOver(1), "instruction 2 (copy): reads bytes of buffer 1 "
                          "without waiting for instruction 0 (fill) on stream "
                          "0, which uses them too");
  EXPECT_HAS(handOver(2), "instruction 5 (fill): writes bytes of buffer 1 "
                          "without waiting for instruction 3 (copy) on stream "
                          "1");
}

/// In a loop the second wait stands for the next iteration's write.
TEST(CheckOrder, NeighbouringIterationsAreCompared) {
  auto loop = [](bool waits, int64_t trips) {
    TestPlan plan;
    At x = plan.buffer(Region::scratch, 64, plan::DType::f32);
    At kept = plan.buffer(Region::persistent, 64, plan::DType::f32);
    plan.loop(trips, 5 + waits);
    plan.fill(x, 64, 1);
    plan.record(7);
    plan.stream = 1;
    plan.wait(7);
    plan.copy(x, kept, 64);
    plan.record(8);
    plan.stream = 0;
    if (waits)
      plan.wait(8);
    return fault(plan);
  };
  EXPECT_EQ(loop(true, 3), "");
  EXPECT_EQ(loop(false, 1), "");
  EXPECT_HAS(loop(false, 2), "instruction 1 (fill): writes bytes of buffer 1 "
                             "without waiting for instruction 4 (copy)");
}

/// Waiting is handed on: stream 2 waits for 1, which waited for 0.
TEST(CheckOrder, WaitsAreTransitive) {
  auto chain = [](bool early) {
    TestPlan plan;
    At x = plan.buffer(Region::scratch, 64, plan::DType::f32);
    At kept = plan.buffer(Region::persistent, 64, plan::DType::f32);
    plan.fill(x, 64, 1);
    plan.record(0);
    plan.stream = 1;
    if (early)
      plan.record(1);
    plan.wait(0);
    if (!early)
      plan.record(1);
    plan.stream = 2;
    plan.wait(1);
    plan.copy(x, kept, 64);
    return fault(plan);
  };
  EXPECT_EQ(chain(false), "");
  EXPECT_HAS(chain(true), "without waiting for instruction 0 (fill)");
}

/// Reads may run side by side; parts of a buffer are told apart.
TEST(CheckOrder, OnlyConflictsNeedOrder) {
  TestPlan plan;
  At w = plan.buffer(Region::persistent, 128, plan::DType::f32);
  At x = plan.buffer(Region::scratch, 128, plan::DType::f32);
  At high = x;
  high.offset = 64;
  plan.copy(w, x, 64);
  plan.stream = 1;
  plan.copy(w, high, 64);
  EXPECT_EQ(fault(plan), "");
  plan.copy(w, x, 64);
  EXPECT_HAS(fault(plan), "instruction 2 (copy): writes bytes of buffer 1 "
                          "without waiting for instruction 0 (copy)");
}

/// What two streams read, a third one writes when both have done so.
TEST(CheckOrder, AWriterWaitsForEachReader) {
  auto readers = [](bool first, bool second) {
    TestPlan plan;
    At w = plan.buffer(Region::persistent, 64, plan::DType::f32);
    At x = plan.buffer(Region::scratch, 64, plan::DType::f32);
    At y = plan.buffer(Region::scratch, 64, plan::DType::f32);
    plan.stream = 1;
    plan.copy(w, x, 64);
    plan.record(1);
    plan.stream = 2;
    plan.copy(w, y, 64);
    plan.record(2);
    plan.stream = 0;
    if (first)
      plan.wait(1);
    if (second)
      plan.wait(2);
    plan.fill(w, 64, 1);
    return fault(plan);
  };
  EXPECT_EQ(readers(true, true), "");
  EXPECT_HAS(readers(false, true),
             "without waiting for instruction 0 (copy) on stream 1");
  EXPECT_HAS(readers(true, false),
             "without waiting for instruction 2 (copy) on stream 2");
}

/// Buffers at one place, used on two streams.
TEST(CheckOrder, ReusedBytesWaitForTheLastUse) {
  auto reused = [](bool waits) {
    TestPlan plan;
    At x = plan.buffer(Region::scratch, 64, plan::DType::f32, 0);
    At y = plan.buffer(Region::scratch, 64, plan::DType::f32, 0);
    At kept = plan.buffer(Region::persistent, 64, plan::DType::f32);
    plan.fill(x, 64, 1);
    plan.copy(x, kept, 64);
    plan.record(0);
    plan.stream = 1;
    if (waits)
      plan.wait(0);
    plan.fill(y, 64, 1);
    return fault(plan);
  };
  EXPECT_EQ(reused(true), "");
  EXPECT_HAS(reused(false), "writes bytes of buffer 2 without waiting for "
                            "instruction");
}

TEST(CheckOrder, EventsAreRecordedOnceAndBeforeTheirWaits) {
  TestPlan never;
  never.wait(3);
  EXPECT_HAS(fault(never), "waits for event 3, which no instruction before it "
                           "records");
  TestPlan twice;
  twice.record(3);
  twice.record(3);
  EXPECT_HAS(fault(twice), "records event 3, as instruction 0 does");
  // Two streams that would wait for each other.
  TestPlan cycle;
  cycle.wait(1);
  cycle.record(0);
  cycle.stream = 1;
  cycle.wait(0);
  cycle.record(1);
  EXPECT_HAS(fault(cycle), "instruction 0 (wait): waits for event 1");
}

TEST(CheckOrder, CollectivesOfACommunicatorAreInOrder) {
  auto two = [](bool waits, std::vector<uint8_t> axes) {
    TestPlan plan;
    plan.mesh = {{"dp", 2}, {"tp", 2}};
    At x = plan.buffer(Region::persistent, 64, plan::DType::f32);
    At y = plan.buffer(Region::persistent, 64, plan::DType::f32);
    plan.collective(sum(x, {1}));
    plan.record(0);
    plan.stream = 1;
    if (waits)
      plan.wait(0);
    plan.collective(sum(y, std::move(axes)));
    return fault(plan);
  };
  EXPECT_EQ(two(true, {1}), "");
  EXPECT_EQ(two(false, {0}), "");
  EXPECT_HAS(two(false, {1}), "instruction 2 (collective): does not wait for "
                              "instruction 0 (collective), the collective over "
                              "the same axes before it");
}

//===- Programs of one name -----------------------------------------------===//

/// Ranks 0..1 and 2..3 of dp=2,tp=2 have programs of their own.
struct Halves : TestPlan {
  At x, y;
  Halves() {
    mesh = {{"dp", 2}, {"tp", 2}};
    x = buffer(Region::persistent, 64, plan::DType::f32);
    y = buffer(Region::persistent, 64, plan::DType::f32);
    next("step", {0, 1});
  }
  void second(std::vector<uint32_t> ranks = {2, 3}) {
    next("step", std::move(ranks));
  }
};

TEST(CheckGroups, RanksArePartedAndCovered) {
  Halves good;
  good.second();
  EXPECT_EQ(fault(good), "");
  Halves both;
  both.second({1, 2, 3});
  EXPECT_EQ(fault(both),
            "p: program step: rank 1 has another program of this name");
  Halves missing;
  missing.second({3});
  EXPECT_EQ(fault(missing), "p: program step: rank 2 has no program of this "
                            "name");
  Halves none;
  none.second({2, 4});
  EXPECT_HAS(fault(none), "rank 4 is not of the mesh");
  Halves unordered;
  unordered.second({3, 2});
  EXPECT_HAS(fault(unordered), "rank 2 is not of the mesh, or not in rising");
}

TEST(CheckGroups, CollectivesMeet) {
  Halves good;
  good.collective(sum(good.x, {0}));
  good.collective(sum(good.x, {1}));
  good.second();
  good.collective(sum(good.y, {0}));
  EXPECT_EQ(fault(good), "") << "over tp alone the second half has none";
  Halves missing;
  missing.collective(sum(missing.x, {0}));
  missing.second();
  EXPECT_HAS(fault(missing), "instruction 0 (collective): is a collective that "
                             "rank 0 runs and others of its axes do not");
  Halves other;
  other.collective(sum(other.x, {0}));
  other.second();
  CollectiveSpec longer = sum(other.x, {0});
  longer.count = 5;
  other.collective(longer);
  EXPECT_HAS(fault(other), "is the collective of rank 0 where rank 2 has "
                           "another, instruction 0 (collective)");
}

/// Over both axes and over dp: two communicators, taken in turns.
TEST(CheckGroups, OrdersOfCommunicatorsHaveNoCycle) {
  auto turned = [](bool turn) {
    Halves plan;
    plan.collective(sum(plan.x, {0}));
    plan.collective(sum(plan.y, {0, 1}));
    plan.second();
    plan.collective(sum(turn ? plan.y : plan.x, turn
                                                    ? std::vector<uint8_t>{0, 1}
                                                    : std::vector<uint8_t>{0}));
    plan.collective(
        sum(turn ? plan.x : plan.y,
            turn ? std::vector<uint8_t>{0} : std::vector<uint8_t>{0, 1}));
    return fault(plan);
  };
  EXPECT_EQ(turned(false), "");
  EXPECT_HAS(turned(true), "or in another order");
}

/// One half takes turns, the other does one after the other: the second
/// iteration of the first never comes.
TEST(CheckGroups, IterationsAreInOrderToo) {
  auto looped = [](bool apart) {
    Halves plan;
    plan.loop(2, 2);
    plan.collective(sum(plan.x, {0}));
    plan.collective(sum(plan.y, {0, 1}));
    plan.second();
    plan.loop(2, apart ? 1 : 2);
    plan.collective(sum(plan.x, {0}));
    if (apart)
      plan.loop(2, 1);
    plan.collective(sum(plan.y, {0, 1}));
    return fault(plan);
  };
  EXPECT_EQ(looped(false), "");
  EXPECT_HAS(looped(true), "or in another order");
}

TEST(CheckGroups, LoopsCountCollectives) {
  auto looped = [](int64_t first, int64_t second) {
    Halves plan;
    plan.loop(first, 1);
    plan.collective(sum(plan.x, {0}));
    plan.second();
    plan.loop(second, 1);
    plan.collective(sum(plan.x, {0}));
    return fault(plan);
  };
  EXPECT_EQ(looped(3, 3), "");
  EXPECT_HAS(looped(3, 4), "where rank 2 has another");
}

TEST(CheckGroups, InputsAreAlikeAndOutputsOne) {
  Halves inputs;
  inputs.input({"x", "", {2}});
  inputs.second();
  inputs.input({"x", "", {3}});
  EXPECT_HAS(fault(inputs), "input x is another one for other ranks");
  Halves outputs;
  outputs.output({"loss", "loss", {}, {}, outputs.x});
  outputs.second();
  outputs.output({"other", "loss", {}, {}, outputs.x});
  EXPECT_HAS(fault(outputs), "output other or its role loss is another");
}

/// Each field of an input by itself.
TEST(CheckGroups, InputsAreAlikeInEveryField) {
  auto faulty = [](auto change) {
    Halves plan;
    InputSpec input{"x", "", {2, 4}, 0, 9, 0};
    plan.input(input);
    plan.second();
    change(input);
    plan.input(input);
    return fault(plan);
  };
  EXPECT_EQ(faulty([](InputSpec &) {}), "");
  EXPECT_EQ(faulty([](InputSpec &input) { input.name = "other"; }), "");
  void (*changes[])(InputSpec &) = {
      [](InputSpec &input) { input.role = "ids"; },
      [](InputSpec &input) { input.dtype = plan::DType::i64; },
      [](InputSpec &input) { input.shape = {4, 2}; },
      [](InputSpec &input) { input.batchDim = 1; },
      [](InputSpec &input) { input.low = 1; },
      [](InputSpec &input) { input.high = 8; },
      [](InputSpec &input) { input.padding = 1; }};
  for (auto [i, change] : llvm::enumerate(changes))
    EXPECT_EQ(faulty(change), "p: program step: input x is another one for "
                              "other ranks")
        << i;
}

/// Each field of a collective by itself.
TEST(CheckGroups, CollectivesAreAlikeInEveryField) {
  using plan::CollectiveKind, plan::Reduction;
  auto faulty = [](CollectiveKind kind, auto change) {
    Halves plan;
    CollectiveSpec spec{kind, kind == CollectiveKind::all_reduce
                                  ? Reduction::sum
                                  : Reduction::none};
    spec.outer = spec.block = 2, spec.count = spec.total = 4;
    spec.src = plan.x, spec.dst = plan.y;
    plan.collective(spec);
    plan.second();
    change(spec);
    if (spec.dtype != plan::DType::f32) {
      spec.src = plan.buffer(Region::persistent, 64, spec.dtype);
      spec.dst = plan.buffer(Region::persistent, 64, spec.dtype);
    }
    plan.collective(spec);
    return fault(plan);
  };
  struct Case {
    CollectiveKind kind;
    void (*change)(CollectiveSpec &);
  };
  constexpr auto reduce = CollectiveKind::all_reduce;
  constexpr auto gather = CollectiveKind::all_gather;
  constexpr auto exchange = CollectiveKind::all_to_all;
  for (CollectiveKind kind : {reduce, gather, exchange})
    EXPECT_EQ(faulty(kind, [](CollectiveSpec &) {}), "");
  const Case cases[] = {
      {gather, [](CollectiveSpec &c) { c.kind = exchange; }},
      {reduce, [](CollectiveSpec &c) { c.reduction = Reduction::max; }},
      {reduce, [](CollectiveSpec &c) { c.dtype = plan::DType::i32; }},
      {reduce, [](CollectiveSpec &c) { c.count = 3; }},
      {exchange, [](CollectiveSpec &c) { c.outer = 1; }},
      {exchange, [](CollectiveSpec &c) { c.block = 1; }},
      {gather, [](CollectiveSpec &c) { c.total = 3; }}};
  for (auto [i, c] : llvm::enumerate(cases))
    EXPECT_HAS(faulty(c.kind, c.change), "is the collective of rank 0 where "
                                         "rank 2 has another")
        << i;
  EXPECT_HAS(faulty(reduce, [](CollectiveSpec &c) { c.axes = {0, 1}; }),
             "runs and others of its axes do not");
}

} // namespace
} // namespace colrow::runtime::test
