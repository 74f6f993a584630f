// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder's tensors against its config: names, shapes, types.

#include "TestFolder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace colrow::import;
using namespace colrow::runtime;
using namespace llvm;
using Entry = SafetensorsWriter::Entry;

namespace {

constexpr TensorType f32 = TensorType::f32;

/// The tensors of gpt2Config(), named as transformers saves them.
std::vector<Entry> gpt2Tensors(std::string prefix = "transformer.") {
  std::string layer = prefix + "h.0.";
  return {{prefix + "wte.weight", f32, {16, 8}},
          {prefix + "wpe.weight", f32, {10, 8}},
          {layer + "ln_1.weight", f32, {8}},
          {layer + "ln_1.bias", f32, {8}},
          {layer + "attn.c_attn.weight", f32, {8, 24}},
          {layer + "attn.c_attn.bias", f32, {24}},
          {layer + "attn.c_proj.weight", f32, {8, 8}},
          {layer + "attn.c_proj.bias", f32, {8}},
          {layer + "ln_2.weight", f32, {8}},
          {layer + "ln_2.bias", f32, {8}},
          {layer + "mlp.c_fc.weight", f32, {8, 32}},
          {layer + "mlp.c_fc.bias", f32, {32}},
          {layer + "mlp.c_proj.weight", f32, {32, 8}},
          {layer + "mlp.c_proj.bias", f32, {8}},
          {prefix + "ln_f.weight", f32, {8}},
          {prefix + "ln_f.bias", f32, {8}}};
}

Imported importWith(std::vector<Entry> entries,
                    const json::Object &config = gpt2Config()) {
  TestFolder folder;
  folder.writeConfig(config);
  folder.writeWeights(std::move(entries));
  return importFolder(folder);
}

std::vector<Entry> plus(std::vector<Entry> entries, Entry more) {
  entries.push_back(std::move(more));
  return entries;
}

TEST(Weights, FitTheirConfig) {
  for (TensorType type : {f32, TensorType::bf16, TensorType::f16}) {
    std::vector<Entry> entries = gpt2Tensors();
    entries[0].type = type;
    EXPECT_EQ(importWith(entries).error, "");
  }
}

TEST(Weights, NamesOfTheBaseClass) {
  Imported result = importWith(gpt2Tensors(""));
  EXPECT_EQ(result.error, "");
  // The symbol is always the same, the source is what the file has.
  StringRef graph = result.graph;
  EXPECT_NE(graph.find("tp.parameter @transformer.h.0.ln_1.bias"),
            StringRef::npos);
  EXPECT_NE(graph.find("#tp.source<\"h.0.ln_1.bias\""), StringRef::npos);
}

TEST(Weights, MissingTensors) {
  std::vector<Entry> entries = gpt2Tensors();
  entries.erase(entries.begin() + 4);
  EXPECT_EQ(importWith(entries).error,
            "DIR: tensor 'transformer.h.0.attn.c_attn.weight' of shape [8, 24] "
            "is missing; config.json and the weights do not belong together");
  entries.pop_back();
  EXPECT_EQ(importWith(entries).error,
            "DIR: tensor 'transformer.h.0.attn.c_attn.weight' of shape [8, 24] "
            "is missing (and 1 more); config.json and the weights do not "
            "belong together");
}

/// Without the table by which the names' form is told, the full name is meant.
TEST(Weights, MissingEmbeddings) {
  std::vector<Entry> entries = gpt2Tensors();
  entries.erase(entries.begin());
  EXPECT_EQ(importWith(entries).error,
            "DIR: tensor 'transformer.wte.weight' of shape [16, 8] is missing; "
            "config.json and the weights do not belong together");
}

/// Weights in several files are checked as those in one.
TEST(Weights, ShardsAreChecked) {
  TestFolder folder;
  folder.writeConfig(gpt2Config());
  auto shard = [&](const char *name, std::vector<Entry> entries) {
    folder.writeWeights(std::move(entries));
    ASSERT_FALSE(
        sys::fs::rename(folder.file("model.safetensors"), folder.file(name)));
  };
  auto index = [&](ArrayRef<Entry> first, ArrayRef<Entry> second) {
    json::Object map;
    for (const Entry &entry : first)
      map[entry.name] = "a.safetensors";
    for (const Entry &entry : second)
      map[entry.name] = "b.safetensors";
    json::Value root = Fields{{"weight_map", std::move(map)}};
    folder.write("model.safetensors.index.json", formatv("{0}", root).str());
  };
  std::vector<Entry> all = gpt2Tensors();
  std::vector<Entry> first(all.begin(), all.begin() + 5),
      second(all.begin() + 5, all.end());
  shard("a.safetensors", first);
  shard("b.safetensors", second);
  index(first, second);
  EXPECT_EQ(importFolder(folder).error, "");
  second[0].shape = {23};
  shard("b.safetensors", second);
  EXPECT_EQ(importFolder(folder).error,
            "DIR/b.safetensors: tensor 'transformer.h.0.attn.c_attn.bias' has "
            "shape [23], but config.json gives [24]");
}

TEST(Weights, MisshapenTensors) {
  std::vector<Entry> entries = gpt2Tensors();
  entries[4].shape = {24, 8};
  EXPECT_EQ(importWith(entries).error,
            "DIR/model.safetensors: tensor 'transformer.h.0.attn.c_attn.weight'"
            " has shape [24, 8], but config.json gives [8, 24]");
}

TEST(Weights, TypesThatCannotBeRead) {
  std::vector<Entry> entries = gpt2Tensors();
  entries[1].type = TensorType::f64;
  EXPECT_EQ(importWith(entries).error,
            "DIR/model.safetensors: tensor 'transformer.wpe.weight' has dtype "
            "F64; F32, BF16 and F16 can be read");
}

TEST(Weights, TensorsThatNothingUses) {
  EXPECT_EQ(
      importWith(plus(gpt2Tensors(), {"score.weight", f32, {2, 8}})).error,
      "DIR/model.safetensors: no parameter of the model is made from "
      "tensor 'score.weight' of shape [2, 8]; config.json and the "
      "weights do not belong together");
}

TEST(Weights, BuffersArePassedOver) {
  std::vector<Entry> entries = gpt2Tensors("");
  entries.push_back({"h.0.attn.bias", TensorType::u8, {1, 1, 10, 10}});
  entries.push_back({"h.0.attn.masked_bias", f32, {}});
  EXPECT_EQ(importWith(entries).error, "");
}

TEST(Weights, TiedHeadMayStandInTheFile) {
  EXPECT_EQ(
      importWith(plus(gpt2Tensors(), {"lm_head.weight", f32, {16, 8}})).error,
      "");
  EXPECT_EQ(
      importWith(plus(gpt2Tensors(), {"lm_head.weight", f32, {17, 8}})).error,
      "DIR/model.safetensors: tensor 'lm_head.weight' has shape [17, 8], but "
      "config.json gives [16, 8]");
  // In files with the names of the base class, too.
  EXPECT_EQ(
      importWith(plus(gpt2Tensors(""), {"lm_head.weight", f32, {16, 8}})).error,
      "");
  EXPECT_EQ(
      importWith(plus(gpt2Tensors(""), {"lm_head.weight", f32, {16, 9}})).error,
      "DIR/model.safetensors: tensor 'lm_head.weight' has shape [16, 9], but "
      "config.json gives [16, 8]");
  json::Object own = with(gpt2Config(), {{"tie_word_embeddings", false}});
  EXPECT_EQ(importWith(gpt2Tensors(), own).error,
            "DIR: tensor 'lm_head.weight' of shape [16, 8] is missing; "
            "config.json and the weights do not belong together");
}

TEST(Weights, BrokenFilesAreErrors) {
  TestFolder folder;
  folder.writeConfig(gpt2Config());
  folder.write("model.safetensors", "short");
  EXPECT_EQ(importFolder(folder).error,
            "DIR/model.safetensors: not a safetensors file: 5 bytes");
}

} // namespace
