// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One faulty plan a rule of validatePlan().

#include "TestPlan.h"
#include <cmath>
#include <limits>

namespace colrow::runtime::test {
namespace {

std::string fault(TestPlan &plan) {
  return textOf(readPlanBuffer("p", plan.file()));
}

TestPlan smallPlan(unsigned ranks = 2) {
  TestPlan plan;
  plan.mesh = {{"tp", ranks}};
  plan.scratchBytes = 1024;
  return plan;
}

CollectiveSpec sumOf(int64_t count, At at) {
  CollectiveSpec spec{plan::CollectiveKind::all_reduce, plan::Reduction::sum};
  spec.count = count;
  spec.src = spec.dst = at;
  return spec;
}

TEST(Validate, OperandsStayInTheirRegion) {
  TestPlan plan = smallPlan();
  plan.fill({Region::scratch, 1000}, 25, 0);
  EXPECT_HAS(fault(plan), "reaches to byte 1025 of region scratch");
}

TEST(Validate, OffsetsDoNotOverflow) {
  TestPlan plan = smallPlan();
  plan.fill({Region::scratch, UINT64_MAX - 3}, 8, 0);
  EXPECT_HAS(fault(plan), "outside region scratch");
}

TEST(Validate, LastIterationCounts) {
  TestPlan good = smallPlan();
  good.loop(8, 1);
  good.fill({Region::scratch, 0, {128}}, 128, 0);
  EXPECT_EQ(fault(good), "");
  TestPlan bad = smallPlan();
  bad.loop(9, 1);
  bad.fill({Region::scratch, 0, {128}}, 128, 0);
  EXPECT_HAS(fault(bad), "reaches to byte 1152");
  TestPlan below = smallPlan();
  below.loop(9, 1);
  below.fill({Region::scratch, 896, {-128}}, 128, 0);
  EXPECT_HAS(fault(below), "reaches below byte 0");
}

TEST(Validate, StridesOverflowSafely) {
  TestPlan plan = smallPlan();
  plan.loop(int64_t(1) << 32, 1);
  plan.fill({Region::scratch, 0, {INT64_MAX}}, 1, 0);
  EXPECT_HAS(fault(plan), "of region scratch");
}

TEST(Validate, LoopsNestInRange) {
  TestPlan longer = smallPlan();
  longer.loop(2, 2);
  longer.fill({}, 4, 0);
  EXPECT_HAS(fault(longer), "loop over 2 instructions where 1 follow");
  TestPlan inner = smallPlan();
  inner.loop(2, 1);
  inner.loop(2, 1);
  inner.fill({}, 4, 0);
  EXPECT_HAS(fault(inner), "loop over 1 instructions where 0 follow");
  TestPlan deep = smallPlan();
  for (unsigned body = 5; body > 0; --body)
    deep.loop(2, body);
  deep.fill({}, 4, 0);
  EXPECT_HAS(fault(deep), "nested deeper than 4");
  TestPlan never = smallPlan();
  never.loop(0, 1);
  never.fill({}, 4, 0);
  EXPECT_HAS(fault(never), "loop of 0 trips");
}

TEST(Validate, GemmStaysInside) {
  TestPlan plan = smallPlan();
  plan.gemm(16, 16, 16, {Region::scratch, 0}, {Region::scratch, 0},
            {Region::scratch, 64});
  EXPECT_HAS(fault(plan), "operand c reaches to byte 1088");
  TestPlan unaligned = smallPlan();
  unaligned.gemm(2, 2, 2, {Region::scratch, 2}, {}, {Region::scratch, 64});
  EXPECT_HAS(fault(unaligned), "operand a is not aligned");
}

/// The last byte of each operand, whatever is transposed; one element further
/// is outside.
TEST(Validate, GemmExtentsAreExact) {
  constexpr int64_t m = 2, n = 3, k = 5;
  const uint64_t bytes[] = {m * k * 4, k * n * 4, m * n * 4};
  for (bool transA : {false, true})
    for (bool transB : {false, true})
      for (unsigned operand = 0; operand < 3; ++operand)
        for (uint64_t beyond : {0, 4}) {
          At at[3];
          at[operand].offset = 1024 - bytes[operand] + beyond;
          TestPlan plan = smallPlan();
          plan.gemm(m, n, k, at[0], at[1], at[2], 0, transA, transB);
          std::string wanted = "operand ";
          wanted += "abc"[operand];
          std::string text = fault(plan);
          EXPECT_EQ(text != "", beyond != 0) << text;
          EXPECT_HAS(text, beyond ? wanted + " reaches to byte 1028" : "");
        }
}

TEST(Validate, CollectiveExtentsAreExact) {
  using plan::CollectiveKind, plan::Reduction;
  struct Case {
    CollectiveKind kind;
    Reduction reduction;
    uint64_t src, dst;
  };
  for (const Case &c :
       {Case{CollectiveKind::all_reduce, Reduction::sum, 24, 24},
        Case{CollectiveKind::all_gather, Reduction::none, 24, 40},
        Case{CollectiveKind::reduce_scatter, Reduction::sum, 40, 24},
        Case{CollectiveKind::all_to_all, Reduction::none, 48, 48}})
    for (bool source : {false, true})
      for (uint64_t beyond : {0, 4}) {
        CollectiveSpec spec{c.kind, c.reduction};
        spec.count = 6, spec.outer = 2, spec.block = 3, spec.total = 5;
        (source ? spec.src : spec.dst).offset =
            1024 - (source ? c.src : c.dst) + beyond;
        TestPlan plan = smallPlan();
        plan.collective(spec);
        std::string text = fault(plan);
        EXPECT_EQ(text != "", beyond != 0) << text;
        EXPECT_HAS(text, !beyond  ? ""
                         : source ? "operand src reaches to byte 1028"
                                  : "operand dst reaches to byte 1028");
      }
}

/// Copies that move apart, or towards each other.
TEST(Validate, DifferentStridesDoNotMeet) {
  auto faultOf = [](At src, At dst) {
    TestPlan plan = smallPlan();
    plan.loop(4, 1);
    plan.copy(src, dst, 16);
    return fault(plan);
  };
  At moving{Region::scratch, 0, {16}};
  EXPECT_EQ(faultOf(moving, {Region::scratch, 64}), "");
  EXPECT_HAS(faultOf(moving, {Region::scratch, 60}), "overlap");
  EXPECT_HAS(faultOf({Region::scratch, 48, {-16}}, {Region::scratch, 48}),
             "overlap");
}

TEST(Validate, IntegersOfLaunchesFollowTheLoops) {
  using Ints = std::vector<std::pair<int64_t, std::vector<int64_t>>>;
  auto faultOf = [](Ints ints) {
    TestPlan plan = smallPlan();
    plan.kernels = {1};
    plan.loop(3, 1);
    plan.launch("f", {}, {}, ints);
    return fault(plan);
  };
  EXPECT_EQ(faultOf({{7, {}}, {-7, {-5}}}), "");
  EXPECT_EQ(faultOf({{INT64_MAX - 2, {1}}, {INT64_MIN + 2, {-1}}}), "");
  EXPECT_HAS(faultOf({{7, {}}, {0, {1, 1}}}),
             "an integer with 2 strides in 1 loops");
  EXPECT_HAS(faultOf({{INT64_MAX - 1, {1}}}), "overflows");
  EXPECT_HAS(faultOf({{INT64_MIN + 1, {-1}}}), "overflows");
}

TEST(Validate, NumbersOfTheOptimizerAreInRange) {
  auto faultOf = [](double TestPlan::*field, double value) {
    TestPlan plan = smallPlan();
    plan.*field = value;
    return fault(plan);
  };
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_HAS(faultOf(&TestPlan::beta1, 1e30), "optimizer decays by 1e+30");
  for (double value : {1.0, -0.1, inf, double(NAN)}) {
    EXPECT_HAS(faultOf(&TestPlan::beta1, value), "optimizer decays");
    EXPECT_HAS(faultOf(&TestPlan::beta2, value), "optimizer decays");
  }
  for (double value : {-0.1, inf, 1e39, double(NAN)}) {
    EXPECT_HAS(faultOf(&TestPlan::eps, value), "optimizer has eps");
    EXPECT_HAS(faultOf(&TestPlan::decay, value), "optimizer has eps");
    EXPECT_HAS(faultOf(&TestPlan::clip, value), "optimizer has eps");
  }
  EXPECT_HAS(faultOf(&TestPlan::eps, 0), "optimizer has eps 0");
  EXPECT_EQ(faultOf(&TestPlan::beta1, 0), "");
  EXPECT_EQ(faultOf(&TestPlan::clip, 0), "");
}

/// Without a vocabulary no tokens are read from a file.
TEST(Validate, TokensNeedAVocabulary) {
  TestPlan plan = smallPlan();
  plan.vocab = 0;
  plan.copy({Region::input, 0}, {Region::scratch, 0}, 4);
  EXPECT_HAS(fault(plan), "reads tokens, but there is a vocabulary of 0");
  TestPlan none = smallPlan();
  none.vocab = 0;
  none.fill({}, 4, 0);
  EXPECT_EQ(fault(none), "");
}

TEST(Validate, NamesAreTheirOwn) {
  TestPlan axes = smallPlan();
  axes.mesh = {{"tp", 2}, {"tp", 2}};
  EXPECT_HAS(fault(axes), "mesh axis 'tp' is named twice");
  TestPlan states = smallPlan();
  states.add({"w", 0, {4}, {{{4, 4}}}});
  for (const char *name : {"m", "v"}) {
    ParameterSpec state{name, 0, {4}, {{{4, 4}}}};
    state.stateOf = 0, state.stateName = "velocity";
    states.add(state);
  }
  EXPECT_HAS(fault(states), "is the second state velocity");
}

TEST(Validate, ReadOnlyRegionsAreNotWritten) {
  TestPlan plan = smallPlan();
  plan.fill({Region::input, 0}, 4, 0);
  EXPECT_HAS(fault(plan), "region input is read only");
}

TEST(Validate, CollectivesFitTheMesh) {
  TestPlan axis = smallPlan();
  CollectiveSpec spec = sumOf(4, {});
  spec.axes = {1};
  axis.collective(spec);
  EXPECT_HAS(fault(axis), "mesh axis 1 of a smaller mesh");
  TestPlan twice = smallPlan();
  spec.axes = {0, 0};
  twice.collective(spec);
  EXPECT_HAS(fault(twice), "mesh axis 0 twice");
  TestPlan large = smallPlan();
  large.collective(sumOf(257, {}));
  EXPECT_HAS(fault(large), "operand src reaches to byte 1028");
  TestPlan gather = smallPlan();
  CollectiveSpec wide{plan::CollectiveKind::all_gather};
  wide.outer = 1, wide.block = 2, wide.total = 5;
  wide.dst = {Region::scratch, 64};
  gather.collective(wide);
  EXPECT_HAS(fault(gather), "gathers 5 columns from 2 ranks of 2");
  TestPlan apart = smallPlan();
  CollectiveSpec shifted = sumOf(8, {});
  shifted.dst = {Region::scratch, 16};
  apart.collective(shifted);
  EXPECT_HAS(fault(apart), "source and destination overlap");
}

TEST(Validate, LaunchesHaveKernelsAndExtents) {
  TestPlan none = smallPlan();
  none.launch("f", {}, {}, {});
  EXPECT_HAS(fault(none), "the plan holds no kernels");
  TestPlan extents = smallPlan();
  extents.kernels = {1};
  extents.launch("f", {At{}}, {}, {});
  EXPECT_HAS(fault(extents), "1 operands and 0 extents");
  TestPlan outside = smallPlan();
  outside.kernels = {1};
  outside.launch("f", {At{Region::scratch, 1020}}, {8}, {});
  EXPECT_HAS(fault(outside), "operand 0 reaches to byte 1028");
}

TEST(Validate, LayoutsFitShapes) {
  auto faultOf = [](ParameterSpec spec) {
    TestPlan plan = smallPlan();
    plan.persistentBytes = 1 << 20;
    plan.parameters.push_back(std::move(spec));
    return fault(plan);
  };
  EXPECT_EQ(faultOf({"w", 0, {5}, {{{5, 6, {0}}}}, 0, 12}), "");
  EXPECT_HAS(faultOf({"w", 0, {5}, {{{5, 5, {0}}}}, 0, 12}),
             "pads a factor of 5 to 5 for 2 ranks");
  EXPECT_HAS(faultOf({"w", 0, {5}, {{{4, 4, {0}}}}, 0, 8}),
             "do not make its size 5");
  EXPECT_HAS(faultOf({"w", 0, {4}, {{{4, 4, {0}}}}, 0, 16}),
             "takes 16 bytes, its layout 8");
  EXPECT_HAS(faultOf({"w", 0, {2, 2}, {{{2, 2, {0}}}, {{2, 2, {0}}}}, 0, 4}),
             "mesh axis 0 twice");
  EXPECT_HAS(faultOf({"w", 0, {4}, {{{4, 4}}}, (1 << 20) - 8, 16}),
             "the persistent region");
  EXPECT_HAS(faultOf({"", 0, {4}, {{{4, 4}}}, 0, 16}), "has no name");
}

TEST(Validate, ParametersDoNotOverlap) {
  TestPlan plan = smallPlan();
  plan.persistentBytes = 64;
  plan.parameters.push_back({"a", 0, {4}, {{{4, 4}}}, 0, 16});
  plan.parameters.push_back({"b", 1, {4}, {{{4, 4}}}, 8, 16});
  EXPECT_HAS(fault(plan), "parameters a and b overlap");
}

TEST(Validate, SourcesCoverTheParameter) {
  auto faultOf = [](SourceSpec source) {
    TestPlan plan = smallPlan();
    ParameterSpec w{"w", 0, {2, 3}, {{{2, 2}}, {{3, 3}}}};
    w.sources = {std::move(source)};
    plan.add(w);
    return fault(plan);
  };
  EXPECT_EQ(faultOf({"t", {6}, {}, {}, {}, {}, {}}), "");
  EXPECT_EQ(faultOf({"t", {2, 6}, {}, {0, 1}, {1, 2}, {2, 3}, {1, 0}}), "");
  EXPECT_HAS(faultOf({"t", {5}, {}, {}, {}, {}, {}}), "give 5 elements");
  EXPECT_HAS(faultOf({"t", {2, 6}, {}, {0, 1}, {1, 3}, {2, 3}, {}}),
             "takes elements outside dimension 1");
  EXPECT_HAS(faultOf({"t", {2, 3}, {}, {}, {}, {}, {0, 0}}),
             "not permuted by a permutation");
  EXPECT_HAS(faultOf({"t", {6}, {4, 2}, {}, {}, {}, {}}), "reshapes [6]");
  EXPECT_HAS(faultOf({"", {6}, {}, {}, {}, {}, {}}), "has no name");
}

TEST(Validate, MeshIsBounded) {
  TestPlan none = smallPlan();
  none.mesh.clear();
  EXPECT_HAS(fault(none), "mesh has 0 axes");
  TestPlan zero = smallPlan(0);
  EXPECT_HAS(fault(zero), "or none");
  TestPlan huge = smallPlan(100000);
  EXPECT_HAS(fault(huge), "more than 65536 ranks");
}

TEST(Validate, MissingTablesAreErrors) {
  flatbuffers::FlatBufferBuilder fbb;
  plan::FinishPlanBuffer(fbb, plan::PlanBuilder(fbb).Finish());
  std::vector<uint8_t> table(fbb.GetBufferPointer(),
                             fbb.GetBufferPointer() + fbb.GetSize());
  EXPECT_HAS(textOf(readPlanBuffer("p", planFile(table))), "invalid plan");
}

} // namespace
} // namespace colrow::runtime::test
