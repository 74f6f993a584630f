// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans that run: matrix products over ranks, loops, kernels, scalars, traces.

#include "TestPlan.h"
#include "colrow/runtime/CPU/HostCpu.h"
#include "colrow/runtime/Core/Trace.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <cstddef>
#include <cstring>
#include <elf.h>

namespace colrow::runtime::test {
namespace {

std::unique_ptr<Executor> start(const LoadedPlan &plan, bool trace = false) {
  ExecutorOptions options;
  options.trace = trace;
  return take(Executor::create(plan.get(), options));
}

StepResult runOnce(Executor &executor, const StepInputs &inputs = {},
                   llvm::StringRef program = "train") {
  return executor.run(*take(executor.open(program)), inputs);
}

float floatAt(Executor &executor, unsigned rank, uint64_t offset) {
  float value;
  std::memcpy(&value, executor.persistent(rank) + offset, 4);
  return value;
}

/// x [2, 8] by w [8, 3], the inner dimension split over ranks: partial products
/// summed by an all-reduce. Integers, so every split is exact.
TEST(Executor, SplitProductEqualsWhole) {
  for (unsigned ranks : {1u, 2u, 4u}) {
    int64_t k = 8 / ranks;
    TestPlan builder;
    builder.mesh = {{"tp", ranks}};
    builder.persistentBytes = 1024;
    builder.scratchBytes = 64;
    builder.gemm(2, 3, k, {Region::persistent, 0}, {Region::persistent, 256},
                 {Region::scratch, 0});
    CollectiveSpec sum{plan::CollectiveKind::all_reduce, plan::Reduction::sum};
    sum.count = 6;
    sum.dst = {Region::persistent, 512};
    builder.collective(sum);
    LoadedPlan plan = builder.load();
    auto executor = start(plan);
    auto x = [](int64_t i, int64_t j) { return float(i * 8 + j - 5); };
    auto w = [](int64_t i, int64_t j) { return float(i * 3 - j * j); };
    for (unsigned r = 0; r < ranks; ++r) {
      auto *memory = reinterpret_cast<float *>(executor->persistent(r));
      for (int64_t j = 0; j < k; ++j) {
        for (int64_t i = 0; i < 2; ++i)
          memory[i * k + j] = x(i, r * k + j);
        for (int64_t c = 0; c < 3; ++c)
          memory[64 + j * 3 + c] = w(r * k + j, c);
      }
    }
    runOnce(*executor);
    for (unsigned r = 0; r < ranks; ++r)
      for (int64_t i = 0; i < 2; ++i)
        for (int64_t c = 0; c < 3; ++c) {
          float want = 0;
          for (int64_t j = 0; j < 8; ++j)
            want += x(i, j) * w(j, c);
          EXPECT_EQ(floatAt(*executor, r, 512 + (i * 3 + c) * 4), want);
        }
  }
}

/// C += A^T B^T, on one rank.
TEST(Executor, TransposedProductAccumulates) {
  TestPlan builder;
  builder.persistentBytes = 256;
  builder.gemm(2, 2, 2, {Region::persistent, 0}, {Region::persistent, 64},
               {Region::persistent, 128}, /*beta=*/1, /*transA=*/true,
               /*transB=*/true);
  LoadedPlan plan = builder.load();
  auto executor = start(plan);
  float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {100, 200, 300, 400};
  std::memcpy(executor->persistent(0), a, 16);
  std::memcpy(executor->persistent(0) + 64, b, 16);
  std::memcpy(executor->persistent(0) + 128, c, 16);
  runOnce(*executor);
  float want[] = {123, 231, 334, 446};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(floatAt(*executor, 0, 128 + i * 4), want[i]);
}

/// Two nested loops: addresses and integers follow both indices.
TEST(Executor, LoopsMoveAddressesAndIntegers) {
  TestPlan builder;
  builder.object = testKernels();
  builder.persistentBytes = 6 * 8;
  builder.loop(2, 2);
  builder.loop(3, 1);
  builder.launch("add_int", {{Region::persistent, 0, {8, 24}}}, {8},
                 {{5, {10, 100}}});
  LoadedPlan plan = builder.load();
  auto executor = start(plan);
  runOnce(*executor);
  runOnce(*executor);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j) {
      int64_t value;
      std::memcpy(&value, executor->persistent(0) + i * 24 + j * 8, 8);
      EXPECT_EQ(value, 2 * (5 + 100 * i + 10 * j));
    }
}

TEST(Executor, CopyFillAndScalars) {
  TestPlan builder;
  builder.mesh = {{"dp", 2}, {"tp", 3}};
  builder.persistentBytes = 256;
  builder.constants = {1, 2, 3, 4};
  builder.copy({Region::scalars, 0}, {Region::persistent, 0}, 64);
  builder.copy({Region::constant, 0}, {Region::persistent, 64}, 4);
  builder.fill({Region::persistent, 68}, 4, 0xff);
  LoadedPlan plan = builder.load();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(plan->constants()->data()) % 64, 0u);
  auto executor = start(plan);
  StepInputs inputs;
  inputs.learningRate = 0.5f;
  inputs.seed = 77;
  inputs.step = 2;
  runOnce(*executor, inputs);
  for (unsigned r = 0; r < 6; ++r) {
    EXPECT_EQ(floatAt(*executor, r, 0), 0.5f);
    EXPECT_EQ(floatAt(*executor, r, 4), float(1 / (1 - 0.9 * 0.9)));
    EXPECT_EQ(floatAt(*executor, r, 8), float(1 / (1 - 0.999 * 0.999)));
    int64_t longs[6];
    std::memcpy(longs, executor->persistent(r) + 16, sizeof(longs));
    EXPECT_EQ(longs[0], 77);
    EXPECT_EQ(longs[1], 2);
    EXPECT_EQ(longs[2], r / 3);
    EXPECT_EQ(longs[3], r % 3);
    EXPECT_EQ(std::memcmp(executor->persistent(r) + 64,
                          "\1\2\3\4\xff\xff\xff\xff", 8),
              0);
  }
}

/// What the host sets is of the step that runs, not of the first one.
TEST(Executor, ScalarsFollowTheSteps) {
  TestPlan builder;
  builder.mesh = {{"tp", 2}};
  builder.persistentBytes = 64;
  builder.copy({Region::scalars, 0}, {Region::persistent, 0}, 64);
  plan::PlanT tables = builder.build();
  tables.optimizer->beta1 = 0.8, tables.optimizer->beta2 = 0.95;
  LoadedPlan plan = loaded(tables);
  auto executor = start(plan);
  for (int64_t step : {1, 2, 7, 3}) {
    StepInputs inputs;
    inputs.learningRate = 0.5f / float(step);
    inputs.seed = 100 + step;
    inputs.step = step;
    runOnce(*executor, inputs);
    for (unsigned r = 0; r < 2; ++r) {
      EXPECT_EQ(floatAt(*executor, r, 0), 0.5f / float(step));
      EXPECT_EQ(floatAt(*executor, r, 4),
                float(1 / (1 - std::pow(0.8, double(step)))));
      EXPECT_EQ(floatAt(*executor, r, 8),
                float(1 / (1 - std::pow(0.95, double(step)))));
      int64_t longs[2];
      std::memcpy(longs, executor->persistent(r) + 16, sizeof(longs));
      EXPECT_EQ(longs[0], 100 + step);
      EXPECT_EQ(longs[1], step);
    }
  }
}

/// Two learning rates against the toy step's formula: velocity m = m / 2 + w -
/// 1, then w -= rate * m, for every label.
TEST(Executor, EachStepTakesItsOwnLearningRate) {
  LoadedPlan plan = toyPlan(1, 4).load();
  auto executor = start(plan);
  auto *w = reinterpret_cast<float *>(executor->persistent(0));
  float wantW[4], m[4] = {};
  for (int i = 0; i < 4; ++i)
    w[i] = wantW[i] = 2.0f * float(i);
  LoadedProgram &train = *take(executor->open("train"));
  int32_t labels[8] = {0, 1, 2, 3, 0, 1, 2, 3};
  executor->setInput(train, *train.tables().inputOfRole("labels"), labels);
  for (float rate : {0.25f, 0.125f, 0.5f}) {
    StepInputs inputs;
    inputs.learningRate = rate;
    runOnce(*executor, inputs);
    for (int i = 0; i < 8; ++i) {
      float &value = wantW[i % 4];
      m[i % 4] = 0.5f * m[i % 4] + (value - 1);
      value -= rate * m[i % 4];
    }
    for (int i = 0; i < 4; ++i)
      EXPECT_FLOAT_EQ(w[i], wantW[i]) << "rate " << rate;
  }
}

TEST(Executor, MissingKernelIsNamed) {
  TestPlan builder;
  builder.object = testKernels();
  builder.launch("no_such_kernel", {}, {}, {});
  LoadedPlan plan = builder.load();
  EXPECT_HAS(textOf(Executor::create(plan.get())),
             "kernel no_such_kernel is not in the plan's object");
  TestPlan text;
  text.object = {'t', 'e', 'x', 't'};
  text.launch("f", {}, {}, {});
  LoadedPlan other = text.load();
  EXPECT_HAS(textOf(Executor::create(other.get())), "not a shared object");
}

/// A plan's kernels with one part of their file's header changed.
TEST(Executor, KernelsThatThisMachineCannotLoadAreRefused) {
  auto faultOf = [](std::vector<uint8_t> object) {
    TestPlan builder;
    builder.object = std::move(object);
    builder.persistentBytes = 64;
    builder.launch("add_int", {{Region::persistent, 0}}, {8}, {{1, {}}});
    LoadedPlan plan = builder.load();
    return textOf(Executor::create(plan.get()));
  };
  auto changed = [](size_t at, uint8_t value) {
    std::vector<uint8_t> bytes = testKernels();
    bytes[at] = value;
    return bytes;
  };
  auto cut = [](size_t size) {
    std::vector<uint8_t> bytes = testKernels();
    bytes.resize(size);
    return bytes;
  };
  constexpr size_t type = offsetof(Elf64_Ehdr, e_type);
  constexpr size_t machine = offsetof(Elf64_Ehdr, e_machine);
  EXPECT_EQ(faultOf(testKernels()), "");
  EXPECT_HAS(faultOf(changed(0, 'x')), "kernels are not a shared object");
  EXPECT_HAS(faultOf(changed(EI_CLASS, ELFCLASS32)),
             "kernels are not a shared object");
  EXPECT_HAS(faultOf(changed(type, ET_REL)), "kernels are not a shared object");
  EXPECT_HAS(faultOf(cut(sizeof(Elf64_Ehdr) - 1)),
             "kernels are not a shared object");
#if defined(__x86_64__)
  EXPECT_HAS(faultOf(changed(machine, EM_AARCH64)),
             "plan was compiled for another CPU: its kernels are for ELF "
             "machine 183, this one is x86-64; compile it here");
#endif
  // The header is right, what it speaks of is not there.
  EXPECT_HAS(faultOf(cut(sizeof(Elf64_Ehdr))), "cannot load kernels: ");
}

TEST(Executor, ImpossibleMemoryIsAnError) {
  TestPlan builder;
  builder.scratchBytes = uint64_t(1) << 46;
  LoadedPlan plan = builder.load();
  EXPECT_HAS(textOf(Executor::create(plan.get())), "cannot allocate");
}

TEST(Executor, TooManyRanksAreRefused) {
  TestPlan builder;
  builder.mesh = {{"dp", 2}, {"tp", 1024}};
  LoadedPlan plan = builder.load();
  EXPECT_HAS(textOf(Executor::create(plan.get())), "is for 2048 ranks");
}

TEST(Executor, OtherCpuIsRefused) {
  TestPlan builder;
  builder.features = "+no-such-feature,-sse4a";
  LoadedPlan plan = builder.load();
  EXPECT_HAS(textOf(checkHostCpu(plan.get())), "needs no-such-feature");
  plan::PlanT any = TestPlan().build();
  EXPECT_EQ(textOf(checkHostCpu(loaded(any).get())), "");
  any.target = "cuda";
  EXPECT_HAS(textOf(checkHostCpu(loaded(any).get())),
             "was compiled for target 'cuda'");
}

TEST(Executor, TraceHasATrackARank) {
  TestPlan builder;
  builder.mesh = {{"tp", 2}};
  builder.scratchBytes = 64;
  builder.loop(3, 1);
  builder.fill({}, 4, 0);
  CollectiveSpec sum{plan::CollectiveKind::all_reduce, plan::Reduction::sum};
  sum.count = 1;
  builder.collective(sum);
  LoadedPlan plan = builder.load();
  auto executor = start(plan, /*trace=*/true);
  runOnce(*executor);
  EXPECT_EQ(executor->events(1).size(), 4u);
  TempFolder folder;
  ASSERT_EQ(textOf(writeTrace(*executor, folder / "t.json")), "");
  llvm::json::Value value = take(readJsonFile(folder / "t.json"));
  unsigned slices = 0, names = 0;
  for (const auto &event : *value.getAsObject()->getArray("traceEvents")) {
    slices += event.getAsObject()->getString("ph") == "X";
    names += event.getAsObject()->getString("name") == "thread_name";
  }
  EXPECT_EQ(slices, 8u);
  EXPECT_EQ(names, 2u);
}

/// What a trace says of an instruction without a name; a program without
/// instructions has none; a file that cannot be written is an error.
TEST(Executor, TracesOfAnyPlanAreWritten) {
  TempFolder folder;
  auto traced = [&](const LoadedPlan &plan) {
    auto executor = start(plan, /*trace=*/true);
    runOnce(*executor);
    EXPECT_EQ(textOf(writeTrace(*executor, folder / "t.json")), "");
    std::vector<std::string> names;
    llvm::json::Value value = take(readJsonFile(folder / "t.json"));
    for (const auto &event : *value.getAsObject()->getArray("traceEvents"))
      if (event.getAsObject()->getString("ph") == "X")
        names.push_back(event.getAsObject()->getString("name")->str());
    return names;
  };
  TestPlan builder;
  builder.fill({}, 4, 0);
  plan::PlanT tables = builder.build();
  EXPECT_EQ(traced(loaded(tables)), (std::vector<std::string>{"fill"}));
  tables.programs[0]->instructions[0]->name.clear();
  EXPECT_EQ(traced(loaded(tables)), (std::vector<std::string>{"Fill"}));
  LoadedPlan empty = TestPlan().load();
  EXPECT_EQ(traced(empty), std::vector<std::string>());
  auto executor = start(empty, /*trace=*/true);
  EXPECT_HAS(textOf(writeTrace(*executor, folder / "nowhere/t.json")),
             "cannot create");
}

/// Beyond what a trace keeps, the first events stay; files of any length are
/// whole.
TEST(Executor, LongTracesAreCutAndWhole) {
  constexpr int64_t most = Executor::maxTraceEvents;
  for (int64_t trips : {int64_t(20000), most, most + 1}) {
    TestPlan builder;
    builder.loop(trips, 1);
    builder.fill({}, 4, 0);
    LoadedPlan plan = builder.load();
    auto executor = start(plan, /*trace=*/true);
    runOnce(*executor);
    EXPECT_EQ(int64_t(executor->events(0).size()), std::min(trips, most));
    if (trips >= most)
      continue;
    TempFolder folder;
    ASSERT_EQ(textOf(writeTrace(*executor, folder / "t.json")), "");
    llvm::json::Value value = take(readJsonFile(folder / "t.json"));
    EXPECT_EQ(int64_t(value.getAsObject()->getArray("traceEvents")->size()),
              trips + 2);
  }
}

/// A thread runs all streams in the list's order, so events ask for nothing;
/// they stand in traces as instructions do.
TEST(Executor, StreamsAndEventsRunInOrder) {
  TestPlan builder;
  At x = builder.buffer(Region::scratch, 64, plan::DType::f32);
  At kept = builder.buffer(Region::persistent, 64, plan::DType::f32);
  builder.fill(x, 64, 0);
  builder.record(7);
  builder.stream = 1;
  builder.wait(7);
  builder.copy(x, kept, 64);
  builder.record(8);
  builder.stream = 0;
  builder.wait(8);
  builder.fill(x, 64, 1);
  LoadedPlan plan = builder.load();
  auto executor = start(plan, /*trace=*/true);
  *reinterpret_cast<float *>(executor->persistent(0)) = 5;
  runOnce(*executor);
  EXPECT_EQ(floatAt(*executor, 0, 0), 0);
  std::vector<plan::Op> kinds;
  for (const TraceEvent &event : executor->events(0))
    kinds.push_back(event.instruction->op_type());
  EXPECT_EQ(kinds, (std::vector<plan::Op>{plan::Op::Fill, plan::Op::Record,
                                          plan::Op::Wait, plan::Op::Copy,
                                          plan::Op::Record, plan::Op::Wait,
                                          plan::Op::Fill}));
}

/// More ranks than any machine has cores, many steps: the barriers sleep.
TEST(Executor, MoreRanksThanCores) {
  TestPlan builder;
  builder.mesh = {{"tp", 16}};
  builder.persistentBytes = 64;
  builder.loop(50, 1);
  CollectiveSpec sum{plan::CollectiveKind::all_reduce, plan::Reduction::max};
  sum.count = 1;
  sum.src = sum.dst = {Region::persistent, 0};
  builder.collective(sum);
  LoadedPlan plan = builder.load();
  auto executor = start(plan);
  for (unsigned r = 0; r < 16; ++r)
    *reinterpret_cast<float *>(executor->persistent(r)) = float(r);
  runOnce(*executor);
  for (unsigned r = 0; r < 16; ++r)
    EXPECT_EQ(floatAt(*executor, r, 0), 15);
}

} // namespace
} // namespace colrow::runtime::test
