// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches from token files.

#include "colrow/runtime/TokenData.h"
#include "TestPlan.h"
#include "colrow/runtime/Safetensors.h"
#include <cstring>

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

} // namespace
} // namespace colrow::runtime::test
