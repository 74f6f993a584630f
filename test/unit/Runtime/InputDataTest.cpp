// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs from files: tokens in windows, tensors by name, ranges, padding.

#include "colrow/runtime/Data/InputData.h"
#include "TestPlan.h"
#include "colrow/runtime/Checkpoint/Safetensors.h"
#include "colrow/runtime/Plan/DType.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime::test {
namespace {

using List = std::vector<int32_t>;

/// A plan with these inputs, and data for it.
class Reader {
public:
  explicit Reader(const std::vector<InputSpec> &inputs) {
    TestPlan builder;
    for (const InputSpec &input : inputs)
      builder.input(input);
    plan = builder.load();
    programs = take(Programs::find(plan.get(), "train"));
  }
  /// Token ids [batch, seq] and labels [batch, seq + 1].
  static Reader tokens(int64_t batch, int64_t seq, int64_t vocabulary) {
    return Reader(
        {{"input_ids", "ids", {batch, seq}, 0, vocabulary, 0},
         {"labels", "labels", {batch, seq + 1}, 0, vocabulary, -100}});
  }

  std::string open(const std::string &path,
                   TokenType type = TokenType::automatic,
                   const DataPlace &place = {}) {
    auto opened = InputData::open(path, type, *programs, place);
    if (!opened)
      return textOf(opened.takeError());
    data = std::move(*opened);
    return "";
  }

  std::string fault(int64_t step, size_t input) {
    const plan::Input &table = *data->inputs()[input];
    bytes.assign(
        elementsOf(listOf(table.shape())) * elementBytes(table.dtype()), 0x55);
    return textOf(data->fill(step, input, bytes.data()));
  }
  template <typename T = int32_t>
  std::vector<T> get(int64_t step, size_t input) {
    EXPECT_EQ(fault(step, input), "");
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  std::unique_ptr<InputData> data;

private:
  LoadedPlan plan;
  std::optional<Programs> programs;
  std::vector<char> bytes;
};

//===- Windows of tokens --------------------------------------------------===//

/// Eight bytes make three windows of two tokens; rows wrap around.
TEST(TokenWindows, TextIsCutIntoWindows) {
  TempFolder folder;
  writeFile(folder / "t.txt", "abcdefgh");
  Reader reader = Reader::tokens(2, 2, 256);
  ASSERT_EQ(reader.open(folder / "t.txt"), "");
  EXPECT_EQ(reader.get(0, 0), (List{'a', 'b', 'c', 'd'}));
  EXPECT_EQ(reader.get(0, 1), (List{'a', 'b', 'c', 'c', 'd', 'e'}));
  EXPECT_EQ(reader.get(1, 1), (List{'e', 'f', 'g', 'a', 'b', 'c'}));
  // A run that goes on at another sample, with ids of 64 bits and no labels.
  Reader ids({{"x", "ids", {1, 2}, 0, 256, 0, plan::DType::i64}});
  ASSERT_EQ(ids.open(folder / "t.txt", TokenType::automatic, {5, 1}), "");
  EXPECT_EQ(ids.get<int64_t>(5, 0), (std::vector<int64_t>{'c', 'd'}));
  EXPECT_EQ(ids.get<int64_t>(7, 0), (std::vector<int64_t>{'a', 'b'}));
}

/// A run that goes on with its step 10, far into the data.
TEST(TokenWindows, StepsTakeTheNextSamples) {
  TempFolder folder;
  writeFile(folder / "t.txt", "abcdefgh");
  int64_t far = (int64_t(1) << 62) - (int64_t(1) << 62) % 3;
  Reader reader = Reader::tokens(2, 2, 256);
  ASSERT_EQ(reader.open(folder / "t.txt", TokenType::automatic, {10, far}), "");
  EXPECT_EQ(reader.get(10, 0), (List{'a', 'b', 'c', 'd'}));
  EXPECT_EQ(reader.get(11, 0), (List{'e', 'f', 'a', 'b'}));
}

TEST(TokenWindows, FlatIntegersOfBothWidths) {
  TempFolder folder;
  uint16_t narrow[] = {1, 65535, 3};
  uint32_t wide[] = {1, 70000, 3};
  writeFile(folder / "n.bin", StringRef(reinterpret_cast<char *>(narrow), 6));
  writeFile(folder / "w.bin", StringRef(reinterpret_cast<char *>(wide), 12));
  Reader small = Reader::tokens(1, 2, 65536);
  ASSERT_EQ(small.open(folder / "n.bin"), "");
  EXPECT_EQ(small.get(0, 1), (List{1, 65535, 3}));
  Reader large = Reader::tokens(1, 2, 100000);
  ASSERT_EQ(large.open(folder / "w.bin"), "");
  EXPECT_EQ(large.get(7, 1), (List{1, 70000, 3}));
  Reader forced = Reader::tokens(1, 2, 50);
  ASSERT_EQ(forced.open(folder / "w.bin", TokenType::u32), "");
  EXPECT_HAS(forced.fault(0, 0),
             "token id 70000 at step 0, batch row 0, position 1 is outside the "
             "plan's vocabulary of 50");
}

/// Labels as wide as the ids, with a vocabulary of their own.
TEST(TokenWindows, LabelsHaveTheirOwnShapeAndRange) {
  TempFolder folder;
  writeFile(folder / "t.txt", "\1\2\3\4\5");
  Reader reader({{"input_ids", "ids", {1, 4}, 0, 10, 0},
                 {"labels", "labels", {1, 4}, 0, 4, -100}});
  ASSERT_EQ(reader.open(folder / "t.txt"), "");
  EXPECT_EQ(reader.get(0, 0), (List{1, 2, 3, 4}));
  EXPECT_HAS(reader.fault(0, 1), "label 4 at step 0, batch row 0, position 3 "
                                 "is outside the plan's vocabulary of 4");
}

/// Where the inputs are no rows of tokens, windows cannot fill them.
TEST(TokenWindows, InputsOfOtherFormsAreRefused) {
  TempFolder folder;
  writeFile(folder / "t.txt", "abcdefghijkl");
  auto faultOf = [&](const InputSpec &ids, const InputSpec &labels) {
    return Reader({ids, labels}).open(folder / "t.txt");
  };
  InputSpec ids{"i", "ids", {2, 3}, 0, 256, 0};
  InputSpec labels{"l", "labels", {2, 4}, 0, 256, 0};
  EXPECT_EQ(faultOf(ids, labels), "");
  for (const InputSpec &other :
       {InputSpec{"i", "ids", {2, 3, 1}, 0, 256, 0},
        InputSpec{"i", "ids", {6}, 0, 256, 0},
        InputSpec{"i", "ids", {3, 2}, 0, 256, 0, plan::DType::i32, {}, 1}})
    EXPECT_HAS(faultOf(other, labels), "holds tokens, but the plan takes none: "
                                       "give its inputs (i, l)");
  for (const InputSpec &other :
       {InputSpec{"l", "labels", {2, 5}, 0, 256, 0},
        InputSpec{"l", "labels", {2, 2}, 0, 256, 0},
        InputSpec{"l", "labels", {1, 3}, 0, 256, 0},
        InputSpec{"l", "labels", {2, 3, 1}, 0, 256, 0},
        InputSpec{"l", "labels", {2, 3}, 0, 256, 0, plan::DType::i32, {}, 1}})
    EXPECT_HAS(faultOf(ids, other), "holds tokens, which are no values of "
                                    "input l");
}

/// How many steps there are before data begins anew; at least one.
TEST(TokenWindows, StepsAreCounted) {
  TempFolder folder;
  for (auto [bytes, steps] : {std::pair(3, 1), {6, 1}, {9, 2}, {11, 2}}) {
    writeFile(folder / "t.txt", std::string(bytes, 'a'));
    Reader reader = Reader::tokens(2, 2, 256);
    ASSERT_EQ(reader.open(folder / "t.txt"), "");
    EXPECT_EQ(reader.data->steps(), steps) << bytes;
  }
}

TEST(TokenWindows, BadFilesAreErrors) {
  TempFolder folder;
  auto faultOf = [&](const char *name, StringRef text, int64_t seq) {
    writeFile(folder / name, text);
    return Reader::tokens(1, seq, 256).open(folder / name);
  };
  EXPECT_HAS(faultOf("a.bin", "abcde", 1), "no whole number of 2-byte tokens");
  EXPECT_HAS(faultOf("b.bin", "abcd", 2), "2 tokens are too few");
  EXPECT_HAS(faultOf("c.txt", "", 2), "0 tokens are too few");
  EXPECT_HAS(Reader::tokens(1, 1, 256).open(folder / "none.txt"),
             "cannot open");
  InputSpec ids{"input_ids", "ids", {1, 1}, 0, 9, 0};
  InputSpec mask{"attention_mask", "", {1, 1}, 0, 2, 1};
  EXPECT_HAS(Reader({ids, mask}).open(folder / "a.bin"),
             "holds tokens, which are no values of input attention_mask: give "
             "all inputs (input_ids, attention_mask) in a .safetensors file");
  EXPECT_HAS(Reader({mask}).open(folder / "a.bin"),
             "holds tokens, but the plan takes none");
}

//===- Tensors ------------------------------------------------------------===//

struct Tensor {
  SafetensorsWriter::Entry entry;
  std::vector<char> bytes;
};

template <typename T>
Tensor tensor(const char *name, TensorType type, std::vector<int64_t> shape,
              std::vector<T> values) {
  Tensor result{{name, type, {}}, std::vector<char>(values.size() * sizeof(T))};
  result.entry.shape.assign(shape.begin(), shape.end());
  if (!values.empty())
    std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

void write(const std::string &path, std::vector<Tensor> tensors) {
  std::vector<SafetensorsWriter::Entry> entries;
  entries.reserve(tensors.size());
  for (const Tensor &one : tensors)
    entries.push_back(one.entry);
  auto writer = take(SafetensorsWriter::create(path, entries, {}));
  for (const Tensor &one : tensors)
    ASSERT_EQ(textOf(writer->append(one.bytes.data(), one.bytes.size())), "");
  ASSERT_EQ(textOf(writer->commit()), "");
}

/// input_ids and labels [2, 1, 3] of a type.
template <typename T>
void writeBatches(const std::string &path, TensorType type,
                  std::vector<T> values) {
  std::vector<T> labels(values.begin() + 6, values.end());
  values.resize(6);
  write(path, {tensor("input_ids", type, {2, 1, 3}, values),
               tensor("labels", type, {2, 1, 3}, labels)});
}

TEST(TensorInputs, BatchesAndIgnoredLabels) {
  TempFolder folder;
  std::string path = folder / "d.safetensors";
  writeBatches<int64_t>(path, TensorType::i64,
                        {1, 2, 3, 4, 5, 6, 1, -100, 3, 4, 5, 6});
  Reader reader = Reader::tokens(1, 3, 10);
  ASSERT_EQ(reader.open(path), "");
  EXPECT_EQ(reader.get(0, 0), (List{1, 2, 3}));
  EXPECT_EQ(reader.get(0, 1), (List{1, -100, 3, -100}));
  EXPECT_EQ(reader.get(3, 1), (List{4, 5, 6, -100}));
  writeBatches<int32_t>(path, TensorType::i32,
                        {1, 2, 3, 4, 5, 6, 1, -100, 3, 4, 5, 10});
  ASSERT_EQ(reader.open(path), "");
  EXPECT_EQ(reader.get(0, 1), (List{1, -100, 3, -100}));
  EXPECT_HAS(reader.fault(1, 1),
             "label 10 at step 1, batch row 0, position 2 is outside");
  writeBatches<int32_t>(path, TensorType::i32,
                        {-100, 2, 3, 4, 5, 6, 1, 1, 3, 4, 5, 9});
  ASSERT_EQ(reader.open(path), "");
  EXPECT_HAS(reader.fault(0, 0), "token id -100 at step 0");
}

/// Inputs of any name and type; each has its range.
TEST(TensorInputs, EveryInputIsFoundByItsName) {
  TempFolder folder;
  std::string path = folder / "d.safetensors";
  Reader reader({{"mask", "", {2, 2}, 0, 2, 1, plan::DType::i1},
                 {"types", "", {2, 2}, 3, 5, 3, plan::DType::i64},
                 {"scale", "", {2}, 0, 0, 0, plan::DType::f32, {}, -1},
                 {"half", "", {1, 2}, 0, 0, 0, plan::DType::bf16, {}, 1}});
  using Floats = std::vector<float>;
  auto file = [&](int64_t type) {
    write(path,
          {tensor<uint8_t>("mask", TensorType::boolean, {2, 2}, {1, 0, 0, 1}),
           tensor<int64_t>("types", TensorType::i64, {2, 2}, {3, 4, type, 3}),
           tensor<uint16_t>("scale", TensorType::bf16, {2},
                            {toBf16(1.5f), toBf16(-2)}),
           tensor<float>("half", TensorType::f32, {1, 1, 2}, Floats{7, 0.25})});
  };
  file(4);
  ASSERT_EQ(reader.open(path), "");
  EXPECT_EQ(reader.data->steps(), 1);
  EXPECT_EQ(reader.get<char>(0, 0), (std::vector<char>{1, 0, 0, 1}));
  EXPECT_EQ(reader.get<int64_t>(0, 1), (std::vector<int64_t>{3, 4, 4, 3}));
  EXPECT_EQ(reader.get<float>(9, 2), (Floats{1.5, -2}));
  EXPECT_EQ(reader.get<uint16_t>(0, 3),
            (std::vector<uint16_t>{toBf16(7), toBf16(0.25)}));
  file(5);
  ASSERT_EQ(reader.open(path), "");
  EXPECT_HAS(reader.fault(0, 1), "d.safetensors: types 5 at step 0, batch row "
                                 "1, position 0 is not from 3 to 4");
  file(2);
  ASSERT_EQ(reader.open(path), "");
  EXPECT_HAS(reader.fault(0, 1), "types 2 at step 0");
}

/// Without a range a value must fit the type; padding is always right.
TEST(TensorInputs, ValuesFitTheirType) {
  TempFolder folder;
  std::string path = folder / "d.safetensors";
  Reader reader({{"x", "", {1}, 0, 0, 0}});
  write(path, {tensor<int64_t>("x", TensorType::i64, {2},
                               {INT32_MIN, int64_t(INT32_MAX) + 1})});
  ASSERT_EQ(reader.open(path), "");
  EXPECT_EQ(reader.get(0, 0), (List{INT32_MIN}));
  EXPECT_HAS(reader.fault(1, 0), "x 2147483648 at step 1, batch row 0, "
                                 "position 0 is not from -2147483648 to "
                                 "2147483647");
  Reader wide({{"x", "", {1}, 0, 0, 0, plan::DType::i64}});
  write(path,
        {tensor<int64_t>("x", TensorType::i64, {2}, {INT64_MIN, INT64_MAX})});
  ASSERT_EQ(wide.open(path), "");
  EXPECT_EQ(wide.get<int64_t>(0, 0), (std::vector<int64_t>{INT64_MIN}));
  EXPECT_EQ(wide.get<int64_t>(1, 0), (std::vector<int64_t>{INT64_MAX}));
  Reader narrow({{"x", "", {1}, 0, 0, 0, plan::DType::bf16}});
  write(path, {tensor<int32_t>("x", TensorType::i32, {1}, {-3})});
  ASSERT_EQ(narrow.open(path), "");
  EXPECT_EQ(narrow.get<uint16_t>(0, 0), (std::vector<uint16_t>{toBf16(-3)}));
  // Tokens from another number than 0 on have a range as other inputs have.
  Reader from({{"x", "ids", {1}, 1, 4, 0}});
  write(path, {tensor<int32_t>("x", TensorType::i32, {2}, {1, 4})});
  ASSERT_EQ(from.open(path), "");
  EXPECT_EQ(from.get(0, 0), (List{1}));
  EXPECT_HAS(from.fault(1, 0), "token id 4 at step 1, batch row 0, position 0 "
                               "is not from 1 to 3");
  Reader flags({{"x", "", {1}, 0, 0, 0, plan::DType::i1}});
  write(path, {tensor<int32_t>("x", TensorType::i32, {1}, {2})});
  ASSERT_EQ(flags.open(path), "");
  EXPECT_HAS(flags.fault(0, 0), "is not from 0 to 1");
  // Integers that are floats of the input, and the next ones, which are none.
  constexpr int64_t most = 1 << 24;
  Reader floats({{"x", "", {1}, 0, 0, 0, plan::DType::f32}});
  write(path, {tensor<int64_t>("x", TensorType::i64, {4},
                               {most, -most, most + 1, -most - 1})});
  ASSERT_EQ(floats.open(path), "");
  EXPECT_EQ(floats.get<float>(0, 0), (std::vector<float>{0x1p24f}));
  EXPECT_EQ(floats.get<float>(1, 0), (std::vector<float>{-0x1p24f}));
  for (int64_t step : {2, 3})
    EXPECT_HAS(floats.fault(step, 0), "is not from -16777216 to 16777216");
}

/// Five rows, two a step: the sixth is padding in every input.
TEST(TensorInputs, MissingRowsArePadded) {
  TempFolder folder;
  std::string path = folder / "d.safetensors";
  Reader reader({{"ids", "ids", {2, 1}, 0, 9, 0},
                 {"labels", "labels", {2, 2}, 0, 9, -100},
                 {"mask", "", {2, 1}, 0, 2, 1}});
  write(path,
        {tensor<int32_t>("ids", TensorType::i32, {5, 1}, {1, 2, 3, 4, 5}),
         tensor<int32_t>("labels", TensorType::i32, {5, 1}, {1, 2, 3, 4, 5}),
         tensor<int32_t>("mask", TensorType::i32, {5, 1}, {0, 0, 0, 0, 0})});
  ASSERT_EQ(reader.open(path), "");
  EXPECT_EQ(reader.data->steps(), 3);
  EXPECT_EQ(reader.get(0, 0), (List{1, 2}));
  EXPECT_EQ(reader.get(2, 0), (List{5, 0}));
  EXPECT_EQ(reader.get(2, 1), (List{5, -100, -100, -100}));
  EXPECT_EQ(reader.get(2, 2), (List{0, 1}));
  EXPECT_EQ(reader.get(3, 0), (List{1, 2})) << "begins anew";
}

/// The batch as another dimension than the first, in both forms.
TEST(TensorInputs, AnyDimensionMayBeTheBatch) {
  TempFolder folder;
  std::string path = folder / "d.safetensors";
  InputSpec middle{"x", "", {2, 2, 3}, 0, 100, -1};
  middle.batchDim = 1;
  Reader reader({middle});
  List values(24);
  for (int i = 0; i < 24; ++i)
    values[i] = i;
  write(path, {tensor<int32_t>("x", TensorType::i32, {2, 2, 2, 3}, values)});
  ASSERT_EQ(reader.open(path), "");
  EXPECT_EQ(reader.get(0, 0), List(values.begin(), values.begin() + 12));
  EXPECT_EQ(reader.get(1, 0), List(values.begin() + 12, values.end()));
  values.resize(18);
  write(path, {tensor<int32_t>("x", TensorType::i32, {2, 3, 3}, values)});
  ASSERT_EQ(reader.open(path), "");
  EXPECT_EQ(reader.get(0, 0), (List{0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(reader.get(1, 0),
            (List{6, 7, 8, -1, -1, -1, 15, 16, 17, -1, -1, -1}));
}

/// Inputs of one value, alone and one a step.
TEST(TensorInputs, InputsMayHaveNoDimension) {
  TempFolder folder;
  std::string path = folder / "d.safetensors";
  Reader reader({{"x", "", {}, 0, 0, 0, plan::DType::i32, {}, -1}});
  write(path, {tensor<int32_t>("x", TensorType::i32, {}, {5})});
  ASSERT_EQ(reader.open(path), "");
  EXPECT_EQ(reader.get(0, 0), (List{5}));
  EXPECT_EQ(reader.get(3, 0), (List{5}));
  write(path, {tensor<int32_t>("x", TensorType::i32, {2}, {5, 6})});
  ASSERT_EQ(reader.open(path), "");
  EXPECT_EQ(reader.data->steps(), 2);
  EXPECT_EQ(reader.get(0, 0), (List{5}));
  EXPECT_EQ(reader.get(1, 0), (List{6}));
  write(path, {tensor<int32_t>("x", TensorType::i32, {1, 1}, {5})});
  EXPECT_HAS(reader.open(path), "x has shape [1, 1]; the plan was compiled for "
                                "[steps]");
}

/// Every shape beside those that an input takes.
TEST(TensorInputs, OtherShapesAreRefused) {
  TempFolder folder;
  std::string path = folder / "d.safetensors";
  auto outcome = [&](const InputSpec &spec, std::vector<int64_t> shape) {
    int64_t count = elementsOf(shape);
    write(path, {tensor<int32_t>("x", TensorType::i32, shape, List(count, 1))});
    return Reader({spec}).open(path);
  };
  InputSpec rows{"x", "", {2, 3}, 0, 9, 0}, labels{"x", "labels", {2, 3}, 0, 9};
  using Shape = std::vector<int64_t>;
  for (const Shape &shape : {Shape{2, 3}, {1, 3}, {5, 3}, {1, 2, 3}, {4, 2, 3}})
    EXPECT_EQ(outcome(rows, shape), "") << textOfShape(shape);
  for (const Shape &shape : {Shape{},
                             {6},
                             {0, 3},
                             {2, 2},
                             {2, 4},
                             {0, 2, 3},
                             {1, 1, 3},
                             {1, 2, 2},
                             {1, 1, 2, 3}})
    EXPECT_HAS(outcome(rows, shape), "the plan was compiled for [steps, 2, 3]")
        << textOfShape(shape);
  // Labels may lack their last column, but not their only one.
  EXPECT_EQ(outcome(labels, {2, 2}), "");
  EXPECT_EQ(outcome(labels, {1, 2, 2}), "");
  EXPECT_HAS(outcome(labels, {2, 1}), "x has shape [2, 1]");
  InputSpec single{"x", "labels", {2, 1}, 0, 9};
  EXPECT_EQ(outcome(single, {2, 1}), "");
  EXPECT_HAS(outcome(single, {2, 0}), "x has shape [2, 0]");
  // What is the batch is not lacking.
  InputSpec flat{"x", "labels", {3}, 0, 9};
  EXPECT_EQ(outcome(flat, {2}), "") << "rows of a batch";
  EXPECT_HAS(outcome(flat, {1, 2}), "x has shape [1, 2]");
}

TEST(TensorInputs, OthersAreRefused) {
  TempFolder folder;
  std::string path = folder / "d.safetensors";
  writeBatches<int32_t>(path, TensorType::i32, std::vector<int32_t>(12, 1));
  EXPECT_HAS(Reader::tokens(2, 3, 10).open(path),
             "input_ids has shape [2, 1, 3]; the plan was compiled for [steps, "
             "2, 3]");
  writeBatches<float>(path, TensorType::f32, std::vector<float>(12, 1));
  EXPECT_HAS(Reader::tokens(1, 3, 10).open(path),
             "has dtype F32; wanted: I64, I32 or BOOL");
  Reader floats({{"x", "", {1}, 0, 0, 0, plan::DType::f32}});
  for (TensorType type : {TensorType::f64, TensorType::i16, TensorType::u8}) {
    write(path,
          {tensor<char>("x", type, {1}, std::vector<char>(bytesOf(type), 0))});
    EXPECT_HAS(floats.open(path), "wanted: F32, BF16, F16, I64, I32 or BOOL");
  }
  write(path,
        {tensor<int32_t>("input_ids", TensorType::i32, {2, 3}, List(6, 1)),
         tensor<int32_t>("labels", TensorType::i32, {1, 3}, List(3, 1))});
  EXPECT_HAS(Reader::tokens(1, 3, 10).open(path),
             "labels has 1 rows, input_ids has 2");
  write(path, {});
  EXPECT_HAS(Reader::tokens(1, 3, 10).open(path), "has no tensor input_ids");
}

/// A file that is cut while it is read: an error at the step that misses
/// values, whatever the form; steps before it have theirs.
TEST(InputData, CutFilesAreErrorsNotSignals) {
  TempFolder folder;
  std::string flat = folder / "t.bin", batches = folder / "d.safetensors";
  constexpr int64_t seq = 4096; // rows of several pages
  std::vector<uint16_t> tokens(4 * seq + 1, 7);
  writeFile(flat, StringRef(reinterpret_cast<char *>(tokens.data()),
                            tokens.size() * 2));
  write(batches, {tensor<int32_t>("input_ids", TensorType::i32, {4, 1, seq},
                                  List(4 * seq, 7)),
                  tensor<int32_t>("labels", TensorType::i32, {4, 1, seq},
                                  List(4 * seq, 7))});
  for (const std::string &path : {flat, batches}) {
    Reader reader = Reader::tokens(1, seq, 10);
    ASSERT_EQ(reader.open(path, TokenType::u16), "");
    ASSERT_EQ(reader.fault(3, 1), "");
    uint64_t size = 0;
    ASSERT_FALSE(sys::fs::file_size(path, size));
    ASSERT_EQ(::truncate(path.c_str(), size - seq), 0);
    EXPECT_EQ(reader.fault(1, 1), "");
    std::string text = reader.fault(3, 1);
    EXPECT_HAS(text, path);
    EXPECT_HAS(text, "ends at byte");
    EXPECT_HAS(text, "step 3");
    ASSERT_EQ(::truncate(path.c_str(), 0), 0);
    EXPECT_NE(reader.fault(0, 0), "");
  }
}

} // namespace
} // namespace colrow::runtime::test
