// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faulty plans by hand, one a rule of checkPlanTables(). CheckFieldsTest.cpp
// goes over all fields of the schema, CheckOrderTest.cpp over streams and
// ranks.

#include "TestPlan.h"
#include <array>
#include <cmath>
#include <cstring>

namespace colrow::runtime::test {
namespace {

std::string fault(TestPlan &plan) { return faultOf(plan.build()); }

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

TEST(CheckPlan, OperandsStayInTheirBuffer) {
  TestPlan plan = smallPlan();
  plan.fill({Region::scratch, 1000}, 25, 0);
  EXPECT_EQ(fault(plan),
            "p: program train, instruction 0 (fill): operand dst reaches to "
            "byte 1025 of buffer 0, which has 1024");
  TestPlan far = smallPlan();
  far.fill({Region::scratch, UINT64_MAX - 3}, 8, 0);
  EXPECT_HAS(fault(far), "of buffer 0, which has 1024");
}

TEST(CheckPlan, LastIterationCounts) {
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
  TestPlan endless = smallPlan();
  endless.loop(int64_t(1) << 32, 1);
  endless.fill({Region::scratch, 0, {INT64_MAX}}, 1, 0);
  EXPECT_HAS(fault(endless), "of buffer 0");
}

/// Strides belong to loops innermost first.
TEST(CheckPlan, StridesMeetTheirLoops) {
  TestPlan good = smallPlan();
  good.loop(3, 2);
  good.loop(5, 1);
  good.fill({Region::scratch, 0, {64, 320}}, 64, 0);
  EXPECT_EQ(fault(good), "");
  TestPlan turned = smallPlan();
  turned.loop(3, 2);
  turned.loop(5, 1);
  turned.fill({Region::scratch, 0, {320, 64}}, 64, 0);
  EXPECT_HAS(fault(turned), "reaches to byte 1472");
}

/// The last rank's coordinates count, and only those of the program's ranks.
TEST(CheckPlan, CoordinatesCount) {
  TestPlan plan;
  plan.mesh = {{"dp", 2}, {"tp", 3}};
  plan.scratchBytes = 256;
  plan.fill({Region::scratch, 0, {}, {128, 64}}, 64, 0);
  EXPECT_HAS(fault(plan), "reaches to byte 320");
  TestPlan below = smallPlan();
  below.fill({Region::scratch, 0, {}, {-4}}, 4, 0);
  EXPECT_HAS(fault(below), "reaches below byte 0");
  TestPlan parts = smallPlan(3);
  parts.next("stage", {0, 1});
  parts.fill({Region::scratch, 0, {}, {32}}, 32, 0);
  parts.next("stage", {2});
  parts.fill({Region::scratch, 0, {}, {16}}, 32, 0);
  // Bytes 0 to 32 for rank 2; for ranks before it, which are none of the
  // program's, it would end at 96 of 64.
  parts.fill({Region::scratch, 64, {}, {-32}}, 32, 0);
  At two = parts.buffer(Region::scratch, 32, plan::DType::f32);
  two.offset = 32, two.coords = {-16};
  parts.fill(two, 32, 0);
  EXPECT_EQ(fault(parts), "");
}

TEST(CheckPlan, InputsHaveBuffersOfTheirOwn) {
  TestPlan plan = smallPlan();
  plan.input({"a", "", {4}});
  plan.input({"b", "", {4}});
  plan::PlanT tables = plan.build();
  EXPECT_EQ(faultOf(tables), "");
  auto &inputs = tables.programs[0]->inputs;
  inputs[1]->buffer = inputs[0]->buffer;
  EXPECT_HAS(faultOf(tables), "input b: buffer ");
  EXPECT_HAS(faultOf(tables), "is another's too");
}

TEST(CheckPlan, LoopsNestInRange) {
  TestPlan longer = smallPlan();
  longer.loop(2, 2);
  longer.fill({}, 4, 0);
  EXPECT_HAS(fault(longer), "loop over 2 instructions where 1 follow");
  TestPlan inner = smallPlan();
  inner.loop(2, 1);
  inner.loop(2, 1);
  inner.fill({}, 4, 0);
  EXPECT_HAS(fault(inner), "loop over 1 instructions where 0 follow");
  auto nest = [](unsigned depth) {
    TestPlan plan = smallPlan();
    for (unsigned body = depth; body > 0; --body)
      plan.loop(2, body);
    plan.fill({}, 4, 0);
    return fault(plan);
  };
  EXPECT_EQ(nest(maxLoopDepth), "");
  EXPECT_HAS(nest(maxLoopDepth + 1), "nested deeper than 4");
  TestPlan never = smallPlan();
  never.loop(0, 1);
  never.fill({}, 4, 0);
  EXPECT_HAS(fault(never), "loop of 0 trips");
}

TEST(CheckPlan, GemmStaysInside) {
  TestPlan plan = smallPlan();
  At a = plan.buffer(Region::persistent, 1024, plan::DType::f32);
  plan.gemm(16, 16, 16, a, a, {Region::scratch, 64});
  EXPECT_HAS(fault(plan), "operand c reaches to byte 1088");
  TestPlan unaligned = smallPlan();
  a = unaligned.buffer(Region::persistent, 64, plan::DType::f32);
  a.offset = 2;
  unaligned.gemm(2, 2, 2, a, a, {Region::scratch, 64});
  EXPECT_HAS(fault(unaligned), "operand a is not aligned");
}

/// (rows - 1) * ld * 4 beyond 64 bits does not come back as a small number.
TEST(CheckPlan, MatricesBeyond64BitsAreOutside) {
  TestPlan builder = smallPlan();
  At a = builder.buffer(Region::persistent, 64, plan::DType::f32);
  builder.gemm(2, 2, 2, a, a, {Region::scratch, 64});
  plan::PlanT plan = builder.build();
  plan::GemmT &gemm = *plan.programs[0]->instructions[0]->op.AsGemm();
  gemm.m = gemm.lda = INT32_MAX;
  EXPECT_HAS(faultOf(plan), "operand a reaches");
}

/// The last byte of each operand, whatever is transposed; one element further
/// is outside.
TEST(CheckPlan, GemmExtentsAreExact) {
  constexpr int64_t m = 2, n = 3, k = 5;
  const uint64_t bytes[] = {m * k * 4, k * n * 4, m * n * 4};
  for (bool transA : {false, true})
    for (bool transB : {false, true})
      for (unsigned operand = 0; operand < 3; ++operand)
        for (uint64_t beyond : {0, 4}) {
          TestPlan plan = smallPlan();
          At at[3];
          for (unsigned i = 0; i < 3; ++i)
            at[i] = plan.buffer(Region::persistent, 1024, plan::DType::f32);
          at[operand].offset = 1024 - bytes[operand] + beyond;
          plan.gemm(m, n, k, at[0], at[1], at[2], 0, transA, transB);
          std::string wanted = "operand ";
          wanted += "abc"[operand];
          std::string text = fault(plan);
          EXPECT_EQ(!text.empty(), beyond != 0) << text;
          EXPECT_HAS(text, beyond ? wanted + " reaches to byte 1028" : "");
        }
}

TEST(CheckPlan, CollectiveExtentsAreExact) {
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
        TestPlan plan = smallPlan();
        CollectiveSpec spec{c.kind, c.reduction};
        spec.count = 6, spec.outer = 2, spec.block = 3, spec.total = 5;
        spec.src = plan.buffer(Region::persistent, 1024, plan::DType::f32);
        spec.dst = plan.buffer(Region::persistent, 1024, plan::DType::f32);
        (source ? spec.src : spec.dst).offset =
            1024 - (source ? c.src : c.dst) + beyond;
        plan.collective(spec);
        std::string text = fault(plan);
        EXPECT_EQ(!text.empty(), beyond != 0) << text;
        EXPECT_HAS(text, !beyond  ? ""
                         : source ? "operand src reaches to byte 1028"
                                  : "operand dst reaches to byte 1028");
      }
}

TEST(CheckPlan, IntegersOfLaunchesFollowTheLoops) {
  using Ints = std::vector<std::pair<int64_t, std::vector<int64_t>>>;
  auto faulty = [](const Ints &ints) {
    TestPlan plan = smallPlan();
    plan.loop(3, 1);
    plan.launch("f", {}, {}, ints);
    return fault(plan);
  };
  EXPECT_EQ(faulty({{7, {}}, {-7, {-5}}}), "");
  EXPECT_EQ(faulty({{INT64_MAX - 2, {1}}, {INT64_MIN + 2, {-1}}}), "");
  EXPECT_HAS(faulty({{7, {}}, {0, {1, 1}}}), "more strides than loops");
  EXPECT_HAS(faulty({{INT64_MAX - 1, {1}}}), "an integer beyond 64 bits");
  EXPECT_HAS(faulty({{INT64_MIN + 1, {-1}}}), "an integer beyond 64 bits");
}

TEST(CheckPlan, NumbersOfTheOptimizerAreInRange) {
  auto faulty = [](auto set, double value) {
    plan::PlanT plan = smallPlan().build();
    set(*plan.optimizer) = value;
    return faultOf(plan);
  };
  using Optimizer = plan::OptimizerT;
  auto beta1 = [](Optimizer &o) -> double & { return o.beta1; };
  auto beta2 = [](Optimizer &o) -> double & { return o.beta2; };
  auto eps = [](Optimizer &o) -> double & { return o.eps; };
  auto decay = [](Optimizer &o) -> double & { return o.weight_decay; };
  auto clip = [](Optimizer &o) -> double & { return o.clip_grad_norm; };
  EXPECT_HAS(faulty(beta1, 1e30), "optimizer decays by 1e+30");
  for (double value : {1.0, -0.1, double(INFINITY), double(NAN)}) {
    EXPECT_HAS(faulty(beta1, value), "optimizer decays");
    EXPECT_HAS(faulty(beta2, value), "optimizer decays");
  }
  for (double value : {-0.1, double(INFINITY), 1e39, double(NAN)}) {
    EXPECT_HAS(faulty(eps, value), "optimizer has eps");
    EXPECT_HAS(faulty(decay, value), "optimizer has eps");
    EXPECT_HAS(faulty(clip, value), "optimizer has eps");
  }
  EXPECT_HAS(faulty(eps, 0), "optimizer has eps 0");
  EXPECT_EQ(faulty(beta1, 0), "");
  EXPECT_EQ(faulty(clip, 0), "");
}

TEST(CheckPlan, NamesAreTheirOwn) {
  TestPlan axes = smallPlan();
  axes.mesh = {{"tp", 2}, {"tp", 2}};
  EXPECT_HAS(fault(axes), "mesh axis 'tp' is named twice");
  TestPlan states = smallPlan();
  states.add({"w", 0, {4}});
  for (const char *name : {"m", "v"}) {
    ParameterSpec state{name, 0, {4}};
    state.stateOf = 0, state.stateName = "velocity";
    states.add(state);
  }
  EXPECT_HAS(fault(states), "is the second state velocity");
}

TEST(CheckPlan, ProductsAreNotWrittenOverTheirFactors) {
  TestPlan plan = smallPlan();
  At a = plan.buffer(Region::persistent, 64, plan::DType::f32);
  At c = plan.buffer(Region::persistent, 64, plan::DType::f32);
  At shifted = a;
  shifted.offset = 12;
  plan.gemm(2, 2, 2, a, c, c);
  EXPECT_HAS(fault(plan), "operands b and c overlap");
  TestPlan part = smallPlan();
  a = part.buffer(Region::persistent, 64, plan::DType::f32);
  c = part.buffer(Region::persistent, 64, plan::DType::f32);
  part.gemm(2, 2, 2, a, c, shifted);
  EXPECT_HAS(fault(part), "operands a and c overlap");
}

TEST(CheckPlan, ReadOnlyRegionsAreNotWritten) {
  for (Region region : {Region::input, Region::constant, Region::scalars}) {
    TestPlan plan = smallPlan();
    plan.constants = {1, 2, 3, 4};
    At at =
        region == Region::input ? plan.input({"x", "", {2}}) : At{region, 0};
    plan.fill(at, 4, 0);
    EXPECT_HAS(fault(plan), "is read only");
  }
}

/// What lies between two written parts, in either order, is not written.
TEST(CheckPlan, HolesAreNotWritten) {
  auto copied = [](uint64_t first, uint64_t second, uint64_t low) {
    TestPlan plan = smallPlan();
    plan.fill({Region::scratch, first}, 64, 0);
    plan.fill({Region::scratch, second}, 64, 0);
    plan.copy({Region::scratch, low}, {Region::scratch, 512}, 64);
    return fault(plan);
  };
  for (auto [first, second] : {std::pair(0, 128), std::pair(128, 0)}) {
    EXPECT_EQ(copied(first, second, 0), "");
    EXPECT_EQ(copied(first, second, 128), "");
    EXPECT_HAS(copied(first, second, 64), "reads byte 64 of buffer 0 before");
    EXPECT_HAS(copied(first, second, 32), "reads byte 95 of buffer 0 before");
    EXPECT_HAS(copied(first, second, 160), "reads byte 223 of buffer 0 before");
  }
  for (auto [first, second] : {std::pair(0, 64), std::pair(64, 0)})
    EXPECT_EQ(copied(first, second, 32), "");
}

TEST(CheckPlan, CopiesDoNotOverlap) {
  auto copied = [](At src, At dst, uint64_t bytes) {
    TestPlan plan = smallPlan();
    plan.loop(3, 2);
    plan.fill({}, 1024, 0);
    plan.copy(src, dst, bytes);
    return fault(plan);
  };
  Region scratch = Region::scratch;
  EXPECT_EQ(copied({scratch, 0}, {scratch, 64}, 64), "");
  EXPECT_HAS(copied({scratch, 0}, {scratch, 60}, 64), "src and dst overlap");
  // In either order, and where only one of them moves.
  EXPECT_EQ(copied({scratch, 64}, {scratch, 0}, 64), "");
  EXPECT_HAS(copied({scratch, 60}, {scratch, 0}, 64), "src and dst overlap");
  EXPECT_EQ(copied({scratch, 0, {64}}, {scratch, 192}, 64), "");
  EXPECT_EQ(copied({scratch, 192}, {scratch, 0, {64}}, 64), "");
  // Moving alike, neighbours never meet; moving apart, some iterations do.
  EXPECT_EQ(copied({scratch, 0, {64}}, {scratch, 32, {64}}, 32), "");
  EXPECT_HAS(copied({scratch, 0, {64}}, {scratch, 128}, 64),
             "src and dst overlap");
  // A factor of 0 moves nothing.
  EXPECT_EQ(copied({scratch, 0, {64}, {0}}, {scratch, 32, {64}}, 32), "");
  EXPECT_EQ(copied({scratch, 0, {64}}, {scratch, 32, {64}, {0}}, 32), "");
  EXPECT_HAS(copied({scratch, 0}, {scratch, 64, {}, {-64}}, 64),
             "src and dst overlap");
}

TEST(CheckPlan, CollectivesFitTheMesh) {
  TestPlan axis = smallPlan();
  axis.fill({}, 1024, 0);
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
  EXPECT_HAS(fault(apart), "src and dst overlap");
  TestPlan gathersSum = smallPlan();
  wide.total = 4;
  wide.reduction = plan::Reduction::sum;
  gathersSum.collective(wide);
  EXPECT_HAS(fault(gathersSum), "all_gather with reduction sum");
}

TEST(CheckPlan, LaunchesFitTheirKernel) {
  auto faulty = [](auto change) {
    TestPlan builder = smallPlan();
    builder.launch("f", {At{Region::scratch, 64}}, {8}, {{1, {}}});
    plan::PlanT plan = builder.build();
    change(plan, *plan.programs[0]->instructions[0]->op.AsLaunch());
    return faultOf(plan);
  };
  using Plan = plan::PlanT;
  using Launch = plan::LaunchT;
  EXPECT_EQ(faulty([](Plan &, Launch &) {}), "");
  EXPECT_HAS(faulty([](Plan &, Launch &launch) { launch.kernel = 1; }),
             "launches kernel 1 of 1");
  EXPECT_HAS(faulty([](Plan &, Launch &launch) { launch.bytes.clear(); }),
             "gives kernel f 1 operands, 0 sizes and 1 integers; it takes 1");
  EXPECT_HAS(faulty([](Plan &, Launch &launch) { launch.ints.clear(); }),
             "and 0 integers");
  EXPECT_HAS(faulty([](Plan &, Launch &launch) { launch.bytes[0] = 4; }),
             "gives kernel f 4 bytes of operand 0, of which it touches 8");
  EXPECT_HAS(faulty([](Plan &, Launch &launch) { launch.bytes[0] = 2000; }),
             "operand 0 reaches to byte 2064");
  EXPECT_HAS(faulty([](Plan &plan, Launch &) {
               plan.programs[0]->buffers[0]->dtype = plan::DType::i32;
             }),
             "operand 0 is taken as i8, but buffer 0 holds i32");
}

TEST(CheckPlan, ScratchIsWrittenBeforeItIsRead) {
  TestPlan plan = smallPlan();
  plan.fill({}, 64, 0);
  plan.copy({Region::scratch, 32}, {Region::scratch, 128}, 64);
  EXPECT_HAS(fault(plan), "instruction 1 (copy): reads byte 95 of buffer 0 "
                          "before it is written");
  TestPlan sum = smallPlan();
  sum.collective(sumOf(4, {}));
  EXPECT_HAS(fault(sum), "reads byte 0 of buffer 0 before it is written");
  TestPlan added = smallPlan();
  At a = added.buffer(Region::persistent, 64, plan::DType::f32);
  added.gemm(2, 2, 2, a, a, {Region::scratch, 64}, /*beta=*/1);
  EXPECT_HAS(fault(added), "reads byte 64 of buffer 1 before it is written");
  TestPlan output = smallPlan();
  output.output({"x", "", {4}, {}, {Region::scratch, 0}});
  EXPECT_EQ(fault(output), "p: program train: reads byte 0 of buffer 0 before "
                           "it is written");
  // Written by the iteration before, but not by the first.
  TestPlan loop = smallPlan();
  loop.loop(3, 2);
  loop.copy({Region::scratch, 0}, {Region::scratch, 64}, 4);
  loop.fill({}, 4, 0);
  EXPECT_HAS(fault(loop), "instruction 1 (copy): reads byte 0");
}

/// Buffers x and y share bytes; each is filled, then copied into `kept`.
struct Sharing : TestPlan {
  At x, y, kept;
  Sharing() {
    x = buffer(Region::scratch, 64, plan::DType::f32, 0);
    y = buffer(Region::scratch, 128, plan::DType::f32, 0);
    kept = buffer(Region::persistent, 128, plan::DType::f32);
  }
  void use(const At &at) { copy(at, kept, 64); }
};

TEST(CheckPlan, LiveBuffersDoNotShareBytes) {
  Sharing good;
  good.fill(good.x, 64, 0), good.use(good.x);
  good.fill(good.y, 128, 0), good.use(good.y);
  EXPECT_EQ(fault(good), "");
  Sharing bad;
  bad.fill(bad.x, 64, 0), bad.fill(bad.y, 128, 0);
  bad.use(bad.x), bad.use(bad.y);
  EXPECT_HAS(fault(bad), "instruction 1 (fill): buffer 2 is first used while "
                         "buffer 1 still lives at the same place");
  Sharing same; // read and written by one instruction
  same.fill(same.x, 64, 0);
  same.copy(same.x, same.y, 64);
  EXPECT_HAS(fault(same), "still lives at the same place");
  Sharing host; // read after the program
  host.fill(host.x, 64, 0);
  host.fill(host.y, 128, 0);
  host.output({"x", "", {16}, {}, host.x});
  EXPECT_HAS(fault(host), "still lives at the same place");
}

/// The later buffer stands in the middle, or at the end, of one that lives, and
/// behind it.
TEST(CheckPlan, LiveBuffersEndBeforeOthersBegin) {
  for (int64_t offset : {64, 128, 192}) {
    TestPlan plan = smallPlan();
    At x = plan.buffer(Region::scratch, 192, plan::DType::f32, 0);
    At y = plan.buffer(Region::scratch, 64, plan::DType::f32, offset);
    At kept = plan.buffer(Region::persistent, 192, plan::DType::f32);
    plan.fill(x, 192, 0);
    plan.fill(y, 64, 0);
    plan.copy(x, kept, 192);
    std::string text = fault(plan);
    EXPECT_EQ(text.empty(), offset == 192) << text;
    EXPECT_HAS(text, offset == 192 ? "" : "still lives at the same place");
  }
}

TEST(CheckPlan, LoopsRepeatLives) {
  // Both live inside the loop, one after the other: free in every iteration.
  Sharing inside;
  inside.loop(3, 4);
  inside.fill(inside.x, 64, 0), inside.use(inside.x);
  inside.fill(inside.y, 128, 0), inside.use(inside.y);
  EXPECT_EQ(fault(inside), "");
  // x comes from outside: it lives as long as the loop.
  Sharing outside;
  outside.fill(outside.x, 64, 0);
  outside.loop(3, 3);
  outside.use(outside.x);
  outside.fill(outside.y, 128, 0), outside.use(outside.y);
  EXPECT_HAS(fault(outside), "still lives at the same place");
  // y lives in an inner loop behind x, but in x's loop.
  Sharing inner;
  inner.loop(3, 5);
  inner.fill(inner.x, 64, 0), inner.use(inner.x);
  inner.loop(2, 2);
  inner.fill(inner.y, 128, 0), inner.use(inner.y);
  EXPECT_EQ(fault(inner), "");
  Sharing between;
  between.loop(3, 5);
  between.fill(between.x, 64, 0);
  between.loop(2, 2);
  between.fill(between.y, 128, 0), between.use(between.y);
  between.use(between.x);
  EXPECT_HAS(fault(between), "still lives at the same place");
}

/// The least and the largest number that each type of input is padded with.
TEST(CheckPlan, PaddingFitsItsType) {
  auto faulty = [](plan::DType type, int64_t padding) {
    TestPlan plan = smallPlan();
    InputSpec spec{"x", "", {4}, 0, 0, padding};
    spec.dtype = type;
    plan.input(spec);
    return fault(plan);
  };
  constexpr int64_t exact = 1 << 24; // integers that a float32 holds
  struct Case {
    plan::DType type;
    int64_t low, high;
  };
  for (const Case &c : {Case{plan::DType::i1, 0, 1},
                        Case{plan::DType::i32, INT32_MIN, INT32_MAX},
                        Case{plan::DType::f32, -exact, exact},
                        Case{plan::DType::bf16, -exact, exact}}) {
    EXPECT_EQ(faulty(c.type, c.low), "");
    EXPECT_EQ(faulty(c.type, c.high), "");
    EXPECT_HAS(faulty(c.type, c.low - 1), "is padded with");
    EXPECT_HAS(faulty(c.type, c.high + 1), "is padded with");
  }
  EXPECT_EQ(faulty(plan::DType::i64, INT64_MIN), "");
  EXPECT_EQ(faulty(plan::DType::i64, INT64_MAX), "");
}

/// Integers have ranges, of numbers of their type.
TEST(CheckPlan, RangesFitTheirType) {
  auto faulty = [](plan::DType type, int64_t low, int64_t high) {
    TestPlan plan = smallPlan();
    InputSpec spec{"x", "", {4}, low, high, 0};
    spec.dtype = type;
    plan.input(spec);
    return fault(plan);
  };
  using plan::DType;
  constexpr int64_t end = int64_t(1) << 31;
  EXPECT_EQ(faulty(DType::i32, -end, end), "");
  EXPECT_HAS(faulty(DType::i32, -end - 1, end), "holds i32 from -2147483649");
  EXPECT_HAS(faulty(DType::i32, -end, end + 1), "to below 2147483649");
  EXPECT_EQ(faulty(DType::i1, 0, 2), "");
  EXPECT_HAS(faulty(DType::i1, -1, 2), "holds i1 from -1");
  EXPECT_HAS(faulty(DType::i1, 0, 3), "to below 3");
  EXPECT_HAS(faulty(DType::f32, 0, 9), "holds f32 from 0 to below 9");
  EXPECT_HAS(faulty(DType::bf16, 0, 9), "holds bf16 from 0 to below 9");
}

/// As many bytes of another region, and of another type, are none of the input.
TEST(CheckPlan, InputsFitTheirBuffer) {
  TestPlan plan = smallPlan();
  plan.input({"x", "", {4}});
  plan::PlanT region = plan.build(), type = plan.build();
  EXPECT_EQ(faultOf(region), "");
  region.programs[0]->buffers[0]->region = Region::scratch;
  EXPECT_HAS(faultOf(region), "takes 16 bytes of i32 in region input; ");
  EXPECT_HAS(faultOf(region), "has 16 of i32 in region scratch");
  type.programs[0]->buffers[0]->dtype = plan::DType::f32;
  EXPECT_HAS(faultOf(type), "has 16 of f32 in region input");
}

/// One number of a type that the runtime adds up, for each role of a measure.
TEST(CheckPlan, MeasuresAreNumbers) {
  auto faulty = [](const char *role, plan::DType type,
                   std::vector<int64_t> shape) {
    TestPlan plan = smallPlan();
    At at = plan.buffer(Region::persistent, 64, type);
    OutputSpec spec{"x", role, shape, {}, at};
    spec.dtype = type;
    plan.output(spec);
    return fault(plan);
  };
  using plan::DType;
  for (DType type : {DType::f32, DType::i32, DType::i64})
    EXPECT_EQ(faulty("token_count", type, {}), "");
  for (DType type : {DType::bf16, DType::i1})
    EXPECT_HAS(faulty("token_count", type, {}), "is the token_count, but of");
  EXPECT_EQ(faulty("loss", DType::f32, {1, 1}), "");
  for (DType type : {DType::bf16, DType::i1, DType::i32, DType::i64})
    EXPECT_HAS(faulty("loss", type, {}), "is the loss, but of type");
  EXPECT_HAS(faulty("loss", DType::f32, {2}), "and shape [2]");
  EXPECT_HAS(faulty("token_count", DType::i64, {2}), "and shape [2]");
}

TEST(CheckPlan, ParametersAreUpdatedOnce) {
  TestPlan plan = smallPlan();
  plan.add({"w", 0, {4}});
  plan.fill(plan.parameter(0), 16, 0);
  plan.fill(plan.parameter(0), 16, 1);
  EXPECT_HAS(fault(plan), "instruction 1 (fill): updates buffer 0, which "
                          "instruction 0 updates too");
}

TEST(CheckPlan, LayoutsFitShapes) {
  auto faulty = [](std::vector<int64_t> shape, std::vector<DimSpec> dims,
                   std::string name = "w") {
    TestPlan plan = smallPlan();
    plan.add({name, 0, shape, dims});
    plan::PlanT tables = plan.build();
    if (tables.buffers[0]->bytes == 0) // of a shape that is none
      tables.buffers[0]->bytes = tables.persistent_bytes = 64;
    return faultOf(tables);
  };
  EXPECT_EQ(faulty({5}, {{{5, 6, {0}}}}), "");
  EXPECT_HAS(faulty({5}, {{{5, 5, {0}}}}), "pads a factor of 5 to 5");
  EXPECT_HAS(faulty({6}, {{{6, 4, {0}}}}), "pads a factor of 6 to 4");
  EXPECT_HAS(faulty({4}, {{{0, 0}, {4, 4}}}), "pads a factor of 0 to 0");
  EXPECT_HAS(faulty({4, 0}, {}), "shape [4, 0] is not one of a tensor");
  EXPECT_HAS(faulty({5}, {{{4, 4, {0}}}}), "do not make its size 5");
  EXPECT_HAS(faulty({2, 2}, {{{2, 2, {0}}}, {{2, 2, {0}}}}),
             "mesh axis 0 twice");
  EXPECT_HAS(faulty({4}, {}, ""), "has no name");
  constexpr int64_t most = int64_t(1) << 43; // of 8 bytes a region holds
  EXPECT_HAS(faulty({most * 2}, {{{most * 2, most * 2}}}), "is too large");
  constexpr int64_t padded = int64_t(1) << 40;
  EXPECT_HAS(faulty({4, 4}, {{{4, padded}}, {{4, padded}}}), "is too large");
}

/// A layout of no dimensions is that of a number and of nothing else.
TEST(CheckPlan, NumbersHaveNoDimensions) {
  for (const std::vector<int64_t> &shape : {std::vector<int64_t>{}, {1}}) {
    TestPlan plan = smallPlan();
    plan.add({"w", 0, {1}});
    plan::PlanT tables = plan.build();
    tables.parameters[0]->shape = shape;
    std::vector<uint8_t> table = packed(tables);
    const auto *dims =
        plan::GetPlan(table.data())->parameters()->Get(0)->dims();
    // The list is there, and empty: its length stands before its entries.
    uint32_t none = 0;
    std::memcpy(table.data() + (dims->Data() - table.data()) - sizeof(none),
                &none, sizeof(none));
    std::string text = textOf(readPlanBuffer("p", planFile(table)));
    EXPECT_EQ(text.empty(), shape.empty()) << text;
    EXPECT_HAS(text, shape.empty() ? "" : "layout has 0 dimensions, shape [1]");
  }
}

TEST(CheckPlan, BuffersDoNotOverlap) {
  TestPlan plan = smallPlan();
  plan.buffer(Region::persistent, 80, plan::DType::f32, 0);
  plan.buffer(Region::persistent, 16, plan::DType::f32, 64);
  EXPECT_EQ(fault(plan), "p: buffer 0 and buffer 1 overlap");
  TestPlan shared = smallPlan();
  shared.add({"a", 0, {4}});
  shared.add({"b", 0, {4}});
  plan::PlanT tables = shared.build();
  tables.parameters[1]->buffer = 0;
  EXPECT_HAS(faultOf(tables), "parameter b: buffer 0 is another's too");
}

TEST(CheckPlan, SourcesCoverTheParameter) {
  auto faulty = [](SourceSpec source) {
    TestPlan plan = smallPlan();
    ParameterSpec w{"w", 0, {2, 3}, {{{2, 2}}, {{3, 3}}}};
    w.sources = {std::move(source)};
    plan.add(w);
    return fault(plan);
  };
  EXPECT_EQ(faulty({"t", {6}, {}, {}, {}, {}, {}}), "");
  EXPECT_EQ(faulty({"t", {2, 6}, {}, {0, 1}, {1, 2}, {2, 3}, {1, 0}}), "");
  EXPECT_HAS(faulty({"t", {5}, {}, {}, {}, {}, {}}), "give 5 elements");
  EXPECT_HAS(faulty({"t", {2, 6}, {}, {0, 1}, {1, 3}, {2, 3}, {}}),
             "takes elements outside dimension 1");
  EXPECT_HAS(faulty({"t", {2, 3}, {}, {}, {}, {}, {0, 0}}),
             "not permuted by a permutation");
  EXPECT_HAS(faulty({"t", {2, 3}, {}, {}, {}, {}, {0, 2}}),
             "not permuted by a permutation");
  EXPECT_HAS(faulty({"t", {6}, {4, 2}, {}, {}, {}, {}}), "reshapes [6]");
  EXPECT_HAS(faulty({"t", {0, 6}, {}, {}, {}, {}, {}}), "reshapes [0, 6]");
  // A list for some dimensions only.
  for (const SourceSpec &source :
       {SourceSpec{"t", {2, 3}, {}, {0}, {}, {}, {}},
        SourceSpec{"t", {2, 3}, {}, {}, {1}, {}, {}},
        SourceSpec{"t", {2, 3}, {}, {}, {}, {2}, {}},
        SourceSpec{"t", {2, 3}, {}, {}, {}, {}, {0}}})
    EXPECT_HAS(faulty(source), "a slice or permutation of 1 dimensions");
  // Starts, steps and sizes that leave the second dimension.
  for (auto [start, step, size] : {std::array<int64_t, 3>{-1, 1, 3},
                                   {6, 1, 1},
                                   {0, 0, 3},
                                   {0, -1, 3},
                                   {0, 1, 0},
                                   {0, 1, 7},
                                   {0, 7, 1},
                                   {4, 1, 3}})
    EXPECT_HAS(faulty({"t", {2, 6}, {}, {0, start}, {1, step}, {2, size}, {}}),
               "takes elements outside dimension 1");
  // More dimensions than are told apart.
  SourceSpec deep{"t", {6}, {}, {}, {}, {}, {0}};
  for (uint8_t d = 1; d < 64; ++d)
    deep.fileShape.push_back(1), deep.perm.push_back(d);
  EXPECT_EQ(faulty(deep), "");
  deep.fileShape.push_back(1), deep.perm.push_back(64);
  EXPECT_HAS(faulty(deep), "not permuted by a permutation");
  EXPECT_HAS(faulty({"", {6}, {}, {}, {}, {}, {}}), "has no name");
}

TEST(CheckPlan, MeshIsBounded) {
  TestPlan none = smallPlan();
  none.mesh.clear();
  EXPECT_HAS(fault(none), "mesh has 0 axes");
  TestPlan zero = smallPlan(0);
  EXPECT_HAS(fault(zero), "or none");
  TestPlan largest = smallPlan(65536);
  EXPECT_EQ(fault(largest), "");
  TestPlan huge = smallPlan(65537);
  EXPECT_HAS(fault(huge), "more than 65536 ranks");
}

TEST(CheckPlan, MissingTablesAreErrors) {
  EXPECT_HAS(faultOf(plan::PlanT()), "mesh has 0 axes");
}

/// A hundred thousand instructions on buffers that share bytes.
TEST(CheckPlan, LargePlansAreChecked) {
  TestPlan plan = smallPlan();
  for (unsigned i = 0; i < 50000; ++i) {
    At x = plan.buffer(Region::scratch, 64, plan::DType::f32, (i % 7) * 64);
    plan.fill(x, 64, 0);
    plan.copy(x, {Region::persistent, 0}, 64);
  }
  plan.persistentBytes = 64;
  EXPECT_EQ(fault(plan), "");
}

} // namespace
} // namespace colrow::runtime::test
