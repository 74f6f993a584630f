// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches from token files.

#include "colrow/runtime/TokenData.h"
#include "TestPlan.h"
#include "colrow/runtime/Safetensors.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime::test {
namespace {

struct Batch {
  std::vector<int32_t> ids, labels;
};

Batch fill(TokenData &data, int64_t step, int64_t batch, int64_t seq) {
  Batch result{std::vector<int32_t>(batch * seq),
               std::vector<int32_t>(batch * (seq + 1))};
  EXPECT_EQ(textOf(data.fill(step, result.ids.data(), result.labels.data())),
            "");
  return result;
}

using List = std::vector<int32_t>;

/// Eight bytes make three windows of two tokens; rows wrap around.
TEST(TokenData, TextIsCutIntoWindows) {
  TempFolder folder;
  writeFile(folder / "t.txt", "abcdefgh");
  auto data = take(
      TokenData::open(folder / "t.txt", TokenType::automatic, {2, 2, 256}));
  Batch first = fill(*data, 0, 2, 2);
  EXPECT_EQ(first.ids, (List{'a', 'b', 'c', 'd'}));
  EXPECT_EQ(first.labels, (List{'a', 'b', 'c', 'c', 'd', 'e'}));
  Batch second = fill(*data, 1, 2, 2);
  EXPECT_EQ(second.labels, (List{'e', 'f', 'g', 'a', 'b', 'c'}));
}

/// A run that goes on with its step 10, far into the data.
TEST(TokenData, StepsTakeTheNextSamples) {
  TempFolder folder;
  writeFile(folder / "t.txt", "abcdefgh");
  BatchShape shape{2, 2, 256};
  shape.firstStep = 10;
  shape.firstSample = (int64_t(1) << 62) - (int64_t(1) << 62) % 3;
  auto data =
      take(TokenData::open(folder / "t.txt", TokenType::automatic, shape));
  EXPECT_EQ(fill(*data, 10, 2, 2).ids, (List{'a', 'b', 'c', 'd'}));
  EXPECT_EQ(fill(*data, 11, 2, 2).ids, (List{'e', 'f', 'a', 'b'}));
}

TEST(TokenData, FlatIntegersOfBothWidths) {
  TempFolder folder;
  uint16_t narrow[] = {1, 65535, 3};
  uint32_t wide[] = {1, 70000, 3};
  writeFile(folder / "n.bin", StringRef(reinterpret_cast<char *>(narrow), 6));
  writeFile(folder / "w.bin", StringRef(reinterpret_cast<char *>(wide), 12));
  auto n = take(
      TokenData::open(folder / "n.bin", TokenType::automatic, {1, 2, 65536}));
  EXPECT_EQ(fill(*n, 0, 1, 2).labels, (List{1, 65535, 3}));
  auto w = take(
      TokenData::open(folder / "w.bin", TokenType::automatic, {1, 2, 100000}));
  EXPECT_EQ(fill(*w, 7, 1, 2).labels, (List{1, 70000, 3}));
  auto forced =
      take(TokenData::open(folder / "w.bin", TokenType::u32, {1, 2, 50}));
  std::vector<int32_t> ids(2), labels(3);
  EXPECT_HAS(textOf(forced->fill(0, ids.data(), labels.data())),
             "token id 70000 at step 0, batch row 0, position 1 is outside the "
             "plan's vocabulary of 50");
}

TEST(TokenData, BadFlatFilesAreErrors) {
  TempFolder folder;
  auto faultOf = [&](const char *name, StringRef text, int64_t seq) {
    writeFile(folder / name, text);
    return textOf(
        TokenData::open(folder / name, TokenType::u16, {1, seq, 256}));
  };
  EXPECT_HAS(faultOf("a.bin", "abcde", 1), "no whole number of 2-byte tokens");
  EXPECT_HAS(faultOf("b.bin", "abcd", 2), "2 tokens are too few");
  EXPECT_HAS(faultOf("c.txt", "", 2), "0 tokens are too few");
  EXPECT_HAS(
      textOf(TokenData::open(folder / "none.txt", TokenType::u16, {1, 1, 256})),
      "cannot open");
}

/// input_ids and labels [2, 1, 3] of a type.
template <typename T>
void writeBatches(const std::string &path, TensorType type,
                  std::vector<T> values) {
  auto writer = take(SafetensorsWriter::create(
      path, {{"input_ids", type, {2, 1, 3}}, {"labels", type, {2, 1, 3}}}, {}));
  ASSERT_EQ(textOf(writer->append(values.data(), values.size() * sizeof(T))),
            "");
  ASSERT_EQ(textOf(writer->commit()), "");
}

TEST(TokenData, SafetensorsBatchesAndIgnoredLabels) {
  TempFolder folder;
  std::string path = folder / "d.safetensors";
  writeBatches<int64_t>(path, TensorType::i64,
                        {1, 2, 3, 4, 5, 6, 1, -100, 3, 4, 5, 6});
  auto data = take(TokenData::open(path, TokenType::automatic, {1, 3, 10}));
  EXPECT_EQ(fill(*data, 0, 1, 3).ids, (List{1, 2, 3}));
  EXPECT_EQ(fill(*data, 0, 1, 3).labels, (List{1, -100, 3, -100}));
  EXPECT_EQ(fill(*data, 3, 1, 3).labels, (List{4, 5, 6, -100}));
  writeBatches<int32_t>(path, TensorType::i32,
                        {1, 2, 3, 4, 5, 6, 1, -100, 3, 4, 5, 10});
  data = take(TokenData::open(path, TokenType::automatic, {1, 3, 10}));
  EXPECT_EQ(fill(*data, 0, 1, 3).labels, (List{1, -100, 3, -100}));
  std::vector<int32_t> ids(3), labels(4);
  EXPECT_HAS(textOf(data->fill(1, ids.data(), labels.data())),
             "label 10 at step 1, batch row 0, position 2 is outside");
  writeBatches<int32_t>(path, TensorType::i32,
                        {-100, 2, 3, 4, 5, 6, 1, 1, 3, 4, 5, 9});
  data = take(TokenData::open(path, TokenType::automatic, {1, 3, 10}));
  EXPECT_HAS(textOf(data->fill(0, ids.data(), labels.data())),
             "token id -100 at step 0");
}

TEST(TokenData, SafetensorsOfAnotherShapeAreRefused) {
  TempFolder folder;
  std::string path = folder / "d.safetensors";
  writeBatches<int32_t>(path, TensorType::i32, std::vector<int32_t>(12, 1));
  EXPECT_HAS(textOf(TokenData::open(path, TokenType::automatic, {2, 3, 10})),
             "input_ids has shape [2, 1, 3]; the plan was compiled for [steps, "
             "2, 3]");
  writeBatches<float>(path, TensorType::f32, std::vector<float>(12, 1));
  EXPECT_HAS(textOf(TokenData::open(path, TokenType::automatic, {1, 3, 10})),
             "has dtype F32");
  auto writer = take(SafetensorsWriter::create(path, {}, {}));
  ASSERT_EQ(textOf(writer->commit()), "");
  EXPECT_HAS(textOf(TokenData::open(path, TokenType::automatic, {1, 3, 10})),
             "has no tensor input_ids");
}

/// A file that is cut while it is read: an error at the step that misses
/// tokens, whatever the form; steps before it have theirs.
TEST(TokenData, CutFilesAreErrorsNotSignals) {
  TempFolder folder;
  std::string flat = folder / "t.bin", batches = folder / "d.safetensors";
  constexpr int64_t seq = 4096; // rows of several pages
  std::vector<uint16_t> tokens(4 * seq + 1, 7);
  writeFile(flat, StringRef(reinterpret_cast<char *>(tokens.data()),
                            tokens.size() * 2));
  auto writer = take(
      SafetensorsWriter::create(batches,
                                {{"input_ids", TensorType::i32, {4, 1, seq}},
                                 {"labels", TensorType::i32, {4, 1, seq}}},
                                {}));
  std::vector<int32_t> wide(8 * seq, 7);
  ASSERT_EQ(textOf(writer->append(wide.data(), wide.size() * 4)), "");
  ASSERT_EQ(textOf(writer->commit()), "");
  for (const std::string &path : {flat, batches}) {
    auto data = take(TokenData::open(path, TokenType::u16, {1, seq, 10}));
    std::vector<int32_t> ids(seq), labels(seq + 1);
    ASSERT_EQ(textOf(data->fill(3, ids.data(), labels.data())), "");
    uint64_t size = 0;
    ASSERT_FALSE(sys::fs::file_size(path, size));
    ASSERT_EQ(::truncate(path.c_str(), size - seq), 0);
    EXPECT_EQ(textOf(data->fill(1, ids.data(), labels.data())), "");
    std::string text = textOf(data->fill(3, ids.data(), labels.data()));
    EXPECT_HAS(text, path);
    EXPECT_HAS(text, "ends at byte");
    EXPECT_HAS(text, "step 3");
    ASSERT_EQ(::truncate(path.c_str(), 0), 0);
    EXPECT_NE(textOf(data->fill(0, ids.data(), labels.data())), "");
  }
}

} // namespace
} // namespace colrow::runtime::test
