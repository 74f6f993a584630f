// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One faulty plan a rule of validatePlan().

#include "TestPlan.h"

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
  EXPECT_HAS(fault(huge), "more than 1024 ranks");
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
