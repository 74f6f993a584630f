// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Safetensors files: what is written is read back; bad headers are errors.

#include "TestPlan.h"
#include "colrow/runtime/Checkpoint/ModelFiles.h"
#include "colrow/runtime/Support/Json.h"
#include <cmath>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime::test {
namespace {

/// Writes a file with this header text and `bytes` bytes of data.
void writeRaw(const std::string &path, StringRef header, size_t bytes) {
  uint64_t length = header.size();
  std::string text(reinterpret_cast<char *>(&length), 8);
  writeFile(path, text + header.str() + std::string(bytes, '\1'));
}

void writeTensor(const std::string &path, const std::string &name,
                 std::vector<float> values) {
  auto writer = take(SafetensorsWriter::create(
      path, {{name, TensorType::f32, {int64_t(values.size())}}}, {}));
  ASSERT_EQ(textOf(writer->append(values.data(), values.size() * 4)), "");
  ASSERT_EQ(textOf(writer->commit()), "");
}

TEST(Safetensors, RoundTrip) {
  TempFolder folder;
  std::string path = folder / "m.safetensors";
  std::pair<StringRef, std::string> note{"format", "pt"};
  auto writer =
      take(SafetensorsWriter::create(path,
                                     {{"a", TensorType::f32, {2, 3}},
                                      {"empty", TensorType::f32, {0, 3}},
                                      {"scalar", TensorType::i64, {}}},
                                     note));
  float a[6] = {1, 2, 3, 4, 5, 6};
  int64_t scalar = -7;
  ASSERT_EQ(textOf(writer->append(a, sizeof(a))), "");
  ASSERT_EQ(textOf(writer->append(&scalar, 8)), "");
  ASSERT_EQ(textOf(writer->commit()), "");

  auto file = take(SafetensorsFile::open(path));
  EXPECT_EQ(file->tensors().size(), 3u);
  EXPECT_EQ(file->metadata().lookup("format"), "pt");
  const TensorInfo *info = file->find("a");
  ASSERT_TRUE(info);
  EXPECT_EQ(textOfShape(info->shape), "[2, 3]");
  EXPECT_EQ(info->elements(), 6);
  EXPECT_EQ(info->begin % 8, 0u);
  float out[3];
  readFloats(info->type, dataOf(*file, *info).data(), 1, 2, 3, out);
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[2], 6);
  EXPECT_EQ(file->find("b"), nullptr);
}

TEST(Safetensors, WriterWantsAllData) {
  TempFolder folder;
  std::string path = folder / "m.safetensors";
  auto writer =
      take(SafetensorsWriter::create(path, {{"a", TensorType::f32, {2}}}, {}));
  float a[3] = {};
  EXPECT_HAS(textOf(writer->append(a, 12)), "more data");
  EXPECT_HAS(textOf(writer->commit()), "8 bytes of its tensors were not given");
  writer.reset();
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(Safetensors, MalformedHeadersAreErrors) {
  TempFolder folder;
  std::string path = folder / "m.safetensors";
  auto faultOf = [&](StringRef header, size_t bytes = 8) {
    writeRaw(path, header, bytes);
    return textOf(SafetensorsFile::open(path));
  };
  auto tensor = [](StringRef type, StringRef shape, StringRef offsets) {
    return ("{\"a\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
            ",\"data_offsets\":" + offsets + "}}")
        .str();
  };
  EXPECT_EQ(faultOf(tensor("F32", "[2]", "[0,8]")), "");
  EXPECT_EQ(faultOf("{}   ", 0), "");
  EXPECT_HAS(faultOf("[]"), "not a JSON object");
  EXPECT_HAS(faultOf(""), "not a safetensors file, or truncated: header of 0 "
                          "bytes");
  EXPECT_HAS(faultOf("1"), "not a safetensors file, or truncated: header of 1 "
                           "bytes");
  EXPECT_HAS(faultOf("{\"__metadata__\":1}"), "__metadata__ is not an object");
  EXPECT_HAS(faultOf(tensor("F32", "[2.5]", "[0,8]")), "not a list of sizes");
  EXPECT_HAS(faultOf(tensor("F32", "[2]", "[0,\"8\"]")), "not two offsets");
  EXPECT_HAS(faultOf(tensor("F32", "[2]", "[0,8,8]")), "not two offsets");
  EXPECT_HAS(faultOf("{\"a\":1}"), "not described by an object");
  EXPECT_HAS(faultOf("{\"a\":"), "not valid JSON");
  EXPECT_HAS(faultOf(std::string(100000, '[')), "nested deeper");
  EXPECT_HAS(faultOf(tensor("F33", "[2]", "[0,8]")), "unknown dtype 'F33'");
  EXPECT_HAS(faultOf(tensor("F32", "[3]", "[0,8]")), "takes 12 bytes");
  EXPECT_HAS(faultOf(tensor("F32", "[1]", "[0,8]")), "takes 4 bytes");
  EXPECT_HAS(faultOf(tensor("F32", "[-2]", "[0,8]")), "not a list of sizes");
  EXPECT_HAS(faultOf(tensor("F32", "\"2\"", "[0,8]")), "not a list of sizes");
  EXPECT_HAS(faultOf(tensor("F32", "[2]", "[0]")), "not two offsets");
  EXPECT_HAS(faultOf(tensor("F32", "[2]", "[8,0]")), "not inside");
  EXPECT_HAS(faultOf(tensor("F32", "[4]", "[0,16]")), "not inside");
  EXPECT_HAS(faultOf(tensor("F32", "[1]", "[4,8]")), "leaves a hole");
  EXPECT_HAS(faultOf(tensor("F32", "[1]", "[0,4]")), "4 bytes after");
  EXPECT_HAS(faultOf(tensor("F32", "[4294967296,4294967296]", "[0,8]")),
             "too large");
  EXPECT_HAS(faultOf("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_"
                     "offsets\":[0,8]},\"b\":{\"dtype\":\"F32\",\"shape\":[1],"
                     "\"data_offsets\":[4,8]}}"),
             "overlaps");
  writeFile(path, "short");
  EXPECT_HAS(textOf(SafetensorsFile::open(path)), "not a safetensors file");
  writeFile(path, std::string(64, '\xff'));
  EXPECT_HAS(textOf(SafetensorsFile::open(path)), "not a safetensors file");
  EXPECT_HAS(textOf(SafetensorsFile::open(folder.path)), "not a regular file");
}

/// Every type of the format has its name and its size.
TEST(Safetensors, EveryTypeHasItsSize) {
  TempFolder folder;
  std::string path = folder / "m.safetensors";
  for (auto [name, bytes] : {std::pair("F64", 8),
                             {"F32", 4},
                             {"F16", 2},
                             {"BF16", 2},
                             {"I64", 8},
                             {"I32", 4},
                             {"I16", 2},
                             {"I8", 1},
                             {"U64", 8},
                             {"U32", 4},
                             {"U16", 2},
                             {"U8", 1},
                             {"BOOL", 1},
                             {"F8_E4M3", 1},
                             {"F8_E5M2", 1}}) {
    std::string header = formatv("{{\"a\":{{\"dtype\":\"{0}\",\"shape\":[3],"
                                 "\"data_offsets\":[0,{1}]}}",
                                 name, 3 * bytes);
    writeRaw(path, header, 3 * bytes);
    auto file = take(SafetensorsFile::open(path));
    TensorType type = file->find("a")->type;
    EXPECT_EQ(int(bytesOf(type)), bytes) << name;
    if (type != TensorType::f8)
      EXPECT_EQ(nameOf(type), name);
  }
}

/// Notes that are no text are others' and not read.
TEST(Safetensors, NotesAreText) {
  TempFolder folder;
  std::string path = folder / "m.safetensors";
  writeRaw(path, "{\"__metadata__\":{\"format\":\"pt\",\"n\":1}}", 0);
  auto file = take(SafetensorsFile::open(path));
  EXPECT_EQ(file->metadata().size(), 1u);
  EXPECT_EQ(file->metadata().lookup("format"), "pt");
}

TEST(Safetensors, EveryTruncationAndFlipIsAnErrorOrAFile) {
  TempFolder folder;
  std::string path = folder / "m.safetensors";
  writeTensor(path, "a", {1, 2, 3});
  std::string good = readFile(path);
  for (size_t size = 0; size < good.size(); ++size) {
    writeFile(path, StringRef(good).take_front(size));
    EXPECT_NE(textOf(SafetensorsFile::open(path)), "") << size;
  }
  for (size_t i = 0; i < good.size() - 12; ++i)
    for (char change : {1, 0x20, 0x7f}) {
      std::string bad = good;
      bad[i] ^= change;
      writeFile(path, bad);
      (void)textOf(SafetensorsFile::open(path)); // must not crash
    }
}

TEST(Safetensors, HalfTypesConvertExactly) {
  uint16_t bf16[] = {0x3f80, 0xc000, 0x7f80, 0x0001};
  uint16_t f16[] = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x8400, 0xfc00, 0x83ff};
  float out[7];
  readFloats(TensorType::bf16, reinterpret_cast<char *>(bf16), 0, 1, 4, out);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], -2);
  EXPECT_TRUE(std::isinf(out[2]));
  EXPECT_EQ(out[3], 0x1p-133f);
  readFloats(TensorType::f16, reinterpret_cast<char *>(f16), 0, 1, 7, out);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], -2);
  EXPECT_EQ(out[2], 65504);
  EXPECT_EQ(out[3], 0x1p-24f);
  EXPECT_EQ(out[4], -0x1p-14f);
  EXPECT_TRUE(std::isinf(out[5]) && out[5] < 0);
  EXPECT_EQ(out[6], -1023 * 0x1p-24f);
}

/// A header that describes 350 GB of data in a sparse file.
TEST(Safetensors, OpeningReadsTheHeaderOnly) {
  TempFolder folder;
  std::string path = folder / "m.safetensors";
  uint64_t bytes = uint64_t(350) << 30;
  std::string header = "{\"a\":{\"dtype\":\"F32\",\"shape\":[" +
                       std::to_string(bytes / 4) + "],\"data_offsets\":[0," +
                       std::to_string(bytes) + "]}}";
  writeRaw(path, header, 0);
  if (::truncate(path.c_str(), 8 + header.size() + bytes) != 0)
    GTEST_SKIP() << "the file system has no files of 350 GB";
  struct rusage before, after;
  ::getrusage(RUSAGE_SELF, &before);
  auto file = take(SafetensorsFile::open(path));
  EXPECT_EQ(file->find("a")->elements(), int64_t(bytes / 4));
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024);
}

TEST(ModelFiles, FindsTensorsInShards) {
  TempFolder folder;
  EXPECT_HAS(textOf(ModelFiles::open(folder.path)), "holds neither");
  writeTensor(folder / "x-1.safetensors", "a", {1});
  writeTensor(folder / "x-2.safetensors", "b", {2, 3});
  std::string index = folder / "model.safetensors.index.json";
  writeFile(index, "{\"weight_map\":{\"a\":\"x-1.safetensors\",\"b\":\"x-2."
                   "safetensors\"}}");
  ModelFiles files = take(ModelFiles::open(folder.path));
  EXPECT_EQ(files.find("b").info->elements(), 2);
  EXPECT_EQ(files.find("a").info->elements(), 1);
  EXPECT_FALSE(files.find("c"));
  EXPECT_EQ(files.tensors().size(), 2u);

  writeFile(index, "{\"weight_map\":{\"a\":\"../x.safetensors\"}}");
  EXPECT_HAS(textOf(ModelFiles::open(folder.path)), "which is no file name");
  writeFile(index, "{\"weight_map\":{\"c\":\"x-1.safetensors\"}}");
  EXPECT_HAS(textOf(ModelFiles::open(folder.path)), "which it does not");
  writeFile(index, "{\"weight_map\":{\"c\":\"x-9.safetensors\"}}");
  EXPECT_HAS(textOf(ModelFiles::open(folder.path)), "cannot open");
  writeFile(index, "[]");
  EXPECT_HAS(textOf(ModelFiles::open(folder.path)), "no weight_map");
  writeFile(index, "{");
  EXPECT_HAS(textOf(ModelFiles::open(folder.path)), "not valid JSON");
  for (const char *name : {"\"\"", "\".\"", "\"..\"", "1", "\"a/b\""}) {
    writeFile(index,
              ("{\"weight_map\":{\"a\":" + StringRef(name) + "}}").str());
    EXPECT_HAS(textOf(ModelFiles::open(folder.path)), "which is no file name");
  }
  EXPECT_HAS(textOf(ModelFiles::open(index)), "not a folder");
  EXPECT_HAS(textOf(ModelFiles::open(folder / "nowhere")), "not a folder");
}

} // namespace
} // namespace colrow::runtime::test
