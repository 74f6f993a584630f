// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several programs of a plan, their inputs and outputs, element types.

#include "TestPlan.h"
#include "colrow/runtime/Plan/DType.h"
#include <array>
#include <cmath>
#include <cstring>

namespace colrow::runtime::test {
namespace {

template <typename T> std::vector<T> valuesAt(const char *place, size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), place, count * sizeof(T));
  return values;
}

/// "add" adds the input to what is kept, "read" gives what is kept away.
TEST(Programs, ShareThePersistentRegion) {
  TestPlan builder;
  builder.object = testKernels();
  At kept = builder.buffer(Region::persistent, 8, plan::DType::i64);
  builder.next("add");
  builder.launch("add_int", {kept}, {8}, {{5, {}}});
  builder.next("read");
  At x = builder.buffer(Region::scratch, 8, plan::DType::i64);
  builder.copy(kept, x, 8);
  builder.output({"kept", "", {}, {}, x, -1, plan::DType::i64});
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  LoadedProgram &add = *take(executor->open("add"));
  LoadedProgram &read = *take(executor->open("read"));
  EXPECT_EQ(&add, take(executor->open("add"))) << "opened once";
  executor->run(add, {});
  executor->run(read, {});
  executor->run(add, {});
  Programs::Leaving out = read.tables().outputs()[0];
  auto value = [&] {
    return valuesAt<int64_t>(executor->output(0, *out.program, *out.output),
                             1)[0];
  };
  EXPECT_EQ(value(), 5);
  executor->run(read, {});
  EXPECT_EQ(value(), 10);
  EXPECT_EQ(textOf(executor->open("eval")),
            "has no program eval; programs: train, add, read");
}

/// Each rank's own program of one name, which meet in a collective.
TEST(Programs, RanksHaveTablesOfTheirOwn) {
  TestPlan builder;
  builder.mesh = {{"tp", 3}};
  At x = builder.buffer(Region::persistent, 64, plan::DType::f32);
  CollectiveSpec sum{plan::CollectiveKind::all_reduce, plan::Reduction::max};
  sum.count = 1, sum.src = sum.dst = x;
  builder.next("step", {1});
  builder.collective(sum);
  builder.output({"loss", "loss", {}, {}, x});
  builder.next("step", {0, 2});
  At unit = x;
  unit.offset = 16;
  builder.fill(unit, 4, 1);
  builder.collective(sum);
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  for (unsigned r = 0; r < 3; ++r)
    *reinterpret_cast<float *>(executor->persistent(r)) = float(r) + 1;
  StepResult result = executor->run(*take(executor->open("step")), {});
  EXPECT_EQ(result.loss, 3.0f);
  EXPECT_FALSE(result.labels);
  for (unsigned r = 0; r < 3; ++r)
    EXPECT_EQ(valuesAt<int32_t>(executor->persistent(r) + 16, 1)[0],
              r == 1 ? 0 : 0x01010101);
}

/// A rank's coordinates are part of its addresses and integers.
TEST(Programs, CoordinatesMoveAddressesAndIntegers) {
  TestPlan builder;
  builder.mesh = {{"dp", 2}, {"tp", 3}};
  builder.object = testKernels();
  builder.persistentBytes = 64;
  builder.launch("add_int", {{Region::persistent, 0, {}, {24, 8}}}, {8},
                 {{1, {}}});
  plan::PlanT tables = builder.build();
  tables.programs[0]->instructions[0]->op.AsLaunch()->ints[0]->coords = {100,
                                                                         10};
  LoadedPlan plan = loaded(tables);
  auto executor = take(Executor::create(plan.get()));
  executor->run(*take(executor->open("train")), {});
  for (int64_t r = 0; r < 6; ++r)
    for (int64_t i = 0; i < 6; ++i)
      EXPECT_EQ(valuesAt<int64_t>(executor->persistent(r) + i * 8, 1)[0],
                i == r ? 1 + r / 3 * 100 + r % 3 * 10 : 0);
}

/// An output's place may move with the rank, too.
TEST(Programs, OutputsStandAtTheRanksPlace) {
  TestPlan builder;
  builder.mesh = {{"dp", 2}, {"tp", 3}};
  builder.persistentBytes = 128;
  builder.output({"y", "y", {1}, {}, {Region::persistent, 8, {}, {48, 16}}});
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  const plan::Program &program = *plan->programs()->Get(0);
  for (unsigned r = 0; r < 6; ++r)
    EXPECT_EQ(executor->output(r, program, *program.outputs()->Get(0)),
              executor->persistent(r) + 8 + r / 3 * 48 + r % 3 * 16);
}

/// [3, 5] over dp and tp with padding; another program uses the same memory.
TEST(Programs, InputsAreDealtOutWithPadding) {
  TestPlan builder;
  builder.mesh = {{"dp", 2}, {"tp", 2}};
  InputSpec spec{"x", "", {3, 5}, 0, 100, 7};
  spec.dims = {{{3, 4, {0}}}, {{5, 6, {1}}}};
  builder.input(spec);
  builder.next("other");
  builder.input({"mask", "", {6}, 0, 2, 1, plan::DType::i1});
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  LoadedProgram &train = *take(executor->open("train"));
  LoadedProgram &other = *take(executor->open("other"));
  int32_t whole[15];
  for (int i = 0; i < 15; ++i)
    whole[i] = i;
  char mask[6] = {1, 0, 1, 0, 1, 0};
  executor->setInput(other, *other.tables().inputs()[0], mask);
  executor->setInput(train, *train.tables().inputs()[0], whole);
  const std::vector<int32_t> want[] = {{0, 1, 2, 5, 6, 7},
                                       {3, 4, 7, 8, 9, 7},
                                       {10, 11, 12, 7, 7, 7},
                                       {13, 14, 7, 7, 7, 7}};
  for (unsigned r = 0; r < 4; ++r)
    EXPECT_EQ(valuesAt<int32_t>(executor->input(r), 6), want[r]) << r;
  executor->setInput(other, *other.tables().inputs()[0], mask);
  EXPECT_EQ(std::memcmp(executor->input(3), mask, 6), 0);
}

/// Rows of a batch are those of the ids, else of any input that has rows; what
/// two ranks' programs take under one name is one input.
TEST(Programs, BatchesAreCounted) {
  auto rows = [](const std::vector<InputSpec> &inputs) {
    TestPlan builder;
    for (const InputSpec &input : inputs)
      builder.input(input);
    LoadedPlan plan = builder.load();
    return take(Programs::find(plan.get(), "train")).batchRows();
  };
  auto input = [](const char *name, const char *role, int dim) {
    InputSpec spec{name, role, {3, 4}};
    spec.batchDim = dim;
    return spec;
  };
  EXPECT_EQ(rows({input("x", "", 0), input("i", "ids", 1)}), 4);
  EXPECT_EQ(rows({input("i", "ids", -1), input("x", "", 0)}), 3);
  EXPECT_EQ(rows({input("x", "", -1), input("y", "", 1)}), 4);
  EXPECT_EQ(rows({input("x", "", -1)}), 0);
  EXPECT_EQ(rows({}), 0);
  TestPlan builder;
  builder.mesh = {{"tp", 2}};
  for (uint32_t rank : {0, 1}) {
    builder.next("step", {rank});
    builder.input(input("x", "", 0));
  }
  LoadedPlan plan = builder.load();
  EXPECT_EQ(take(Programs::find(plan.get(), "step")).inputs().size(), 1u);
}

/// Three values over two ranks: the fourth is padding, in each type.
template <typename T>
void expectPadded(plan::DType type, int64_t padding, T want) {
  TestPlan builder;
  builder.mesh = {{"tp", 2}};
  InputSpec spec{"x", "", {3}, 0, 0, padding, type};
  spec.dims = {{{3, 4, {0}}}};
  builder.input(spec);
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  LoadedProgram &train = *take(executor->open("train"));
  T whole[3] = {0, 1, 1};
  executor->setInput(train, *train.tables().inputs()[0],
                     reinterpret_cast<char *>(whole));
  EXPECT_EQ(valuesAt<T>(executor->input(0), 2), (std::vector<T>{0, 1}));
  EXPECT_EQ(valuesAt<T>(executor->input(1), 2), (std::vector<T>{1, want}))
      << plan::EnumNameDType(type);
}

TEST(Programs, PaddingHasTheTypeOfTheInput) {
  expectPadded<float>(plan::DType::f32, -7, -7);
  expectPadded<uint16_t>(plan::DType::bf16, -7, toBf16(-7));
  expectPadded<int32_t>(plan::DType::i32, -70000, -70000);
  expectPadded<int64_t>(plan::DType::i64, -(int64_t(7) << 40),
                        -(int64_t(7) << 40));
  expectPadded<char>(plan::DType::i1, 1, 1);
}

TEST(Programs, CountsOfLabelsHaveTheirType) {
  for (plan::DType type :
       {plan::DType::f32, plan::DType::i32, plan::DType::i64}) {
    TestPlan builder;
    At count = builder.buffer(Region::persistent, 8, type);
    builder.output({"n", "token_count", {}, {}, count, -1, type});
    LoadedPlan plan = builder.load();
    auto executor = take(Executor::create(plan.get()));
    float single = 17;
    int64_t whole = 17;
    std::memcpy(executor->persistent(0),
                type == plan::DType::f32 ? static_cast<void *>(&single)
                                         : &whole,
                elementBytes(type));
    EXPECT_EQ(executor->run(*take(executor->open("train")), {}).labels, 17.0);
  }
}

/// A [2, 4] by B [4, 3] into C, whose rows have gaps.
class Product {
public:
  Product(std::array<plan::DType, 3> types, bool transA, bool transB,
          float beta)
      : types(types) {
    TestPlan builder;
    At at[3];
    for (unsigned i = 0; i < 3; ++i)
      at[i] = builder.buffer(Region::persistent, 64, types[i]);
    builder.gemm(2, 3, 4, at[0], at[1], at[2], beta, transA, transB);
    plan::PlanT tables = builder.build();
    tables.programs[0]->instructions[0]->op.AsGemm()->ldc = 5;
    plan = loaded(tables);
    executor = take(Executor::create(plan.get()));
  }

  void set(unsigned operand, int64_t i, float value) {
    uint16_t narrow = toBf16(value);
    std::memcpy(place(operand, i),
                isNarrow(operand) ? static_cast<void *>(&narrow) : &value,
                elementBytes(types[operand]));
  }
  float get(unsigned operand, int64_t i) {
    return isNarrow(operand)
               ? fromBf16(valuesAt<uint16_t>(place(operand, i), 1)[0])
               : valuesAt<float>(place(operand, i), 1)[0];
  }
  void run() { executor->run(*take(executor->open("train")), {}); }

private:
  bool isNarrow(unsigned operand) const {
    return types[operand] == plan::DType::bf16;
  }
  char *place(unsigned operand, int64_t i) {
    return executor->persistent(0) + operand * 64 +
           i * elementBytes(types[operand]);
  }

  std::array<plan::DType, 3> types;
  LoadedPlan plan;
  std::unique_ptr<Executor> executor;
};

void checkProduct(std::array<plan::DType, 3> types, bool transA, bool transB,
                  float beta) {
  auto a = [](int64_t i) { return float(i % 5) - 2; };
  auto b = [](int64_t i) { return float(i % 7) - 3; };
  Product product(types, transA, transB, beta);
  for (int64_t i = 0; i < 8; ++i)
    product.set(0, i, a(i));
  for (int64_t i = 0; i < 12; ++i)
    product.set(1, i, b(i));
  for (int64_t i = 0; i < 10; ++i)
    product.set(2, i, float(i));
  product.run();
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 5; ++j) {
      float want = (j < 3 ? beta : 1) * float(i * 5 + j);
      for (int64_t k = 0; j < 3 && k < 4; ++k)
        want += a(transA ? k * 2 + i : i * 4 + k) *
                b(transB ? j * 4 + k : k * 3 + j);
      EXPECT_EQ(product.get(2, i * 5 + j), want) << i << ", " << j;
    }
}

/// Products with each operand in bf16 or float32, turned and not, on numbers
/// that are exact in both; what lies between the rows of C stays.
TEST(ElementTypes, Bf16Products) {
  auto type = [](bool narrow) {
    return narrow ? plan::DType::bf16 : plan::DType::f32;
  };
  for (unsigned types = 0; types < 8; ++types)
    for (unsigned turned = 0; turned < 4; ++turned)
      for (float beta : {0.0f, 1.0f})
        checkProduct({type(types & 1), type(types & 2), type(types & 4)},
                     turned & 1, turned & 2, beta);
}

/// Products of two sizes in bf16, the larger one behind: both have room.
TEST(ElementTypes, Bf16ProductsOfTwoSizes) {
  constexpr int64_t n = 96;
  TestPlan builder;
  auto buffer = [&](int64_t count) {
    return builder.buffer(Region::persistent, count * 2, plan::DType::bf16);
  };
  At a = buffer(n * n), b = buffer(n * n), small = buffer(1), c = buffer(n * n);
  builder.gemm(1, 1, 1, a, b, small);
  builder.gemm(n, n, n, a, b, c);
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  auto *values = reinterpret_cast<uint16_t *>(executor->persistent(0));
  std::fill_n(values, 2 * n * n, toBf16(1));
  executor->run(*take(executor->open("train")), {});
  auto *found = reinterpret_cast<uint16_t *>(
      executor->persistent(0) + plan->buffers()->Get(c.handle)->offset());
  for (int64_t i = 0; i < n * n; ++i)
    ASSERT_EQ(found[i], toBf16(n)) << i;
}

/// Rounding; and what is a bf16 already stays.
TEST(ElementTypes, Bf16IsRoundedToNearest) {
  EXPECT_EQ(toBf16(1.0f), 0x3f80);
  EXPECT_EQ(toBf16(1 + 0x1p-8f), 0x3f80) << "a tie goes to even";
  EXPECT_EQ(toBf16(1 + 3 * 0x1p-8f), 0x3f82) << "a tie goes to even";
  EXPECT_EQ(toBf16(1 + 0x1.02p-8f), 0x3f81);
  EXPECT_EQ(toBf16(-1 - 0x1.02p-8f), 0xbf81);
  EXPECT_EQ(toBf16(0x1.ffp127f), 0x7f80) << "beyond the largest: infinite";
  EXPECT_EQ(toBf16(-INFINITY), 0xff80);
  EXPECT_TRUE(std::isnan(fromBf16(toBf16(NAN))));
  EXPECT_TRUE(std::isnan(fromBf16(toBf16(llvm::bit_cast<float>(0x7f800001)))));
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float value = fromBf16(uint16_t(bits));
    if (!std::isnan(value))
      EXPECT_EQ(toBf16(value), bits);
  }
}

} // namespace
} // namespace colrow::runtime::test
