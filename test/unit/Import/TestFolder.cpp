// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes folders, imports them, and hands back text.

#include "TestFolder.h"
#include "colrow/runtime/Support/AtomicFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <gtest/gtest.h>

using namespace llvm;

namespace colrow::import {

TestFolder::TestFolder() {
  SmallString<128> path;
  EXPECT_FALSE(sys::fs::createUniqueDirectory("import", path));
  folder = std::string(path);
}

TestFolder::~TestFolder() { (void)sys::fs::remove_directories(folder); }

std::string TestFolder::file(StringRef name) const {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return std::string(path);
}

void TestFolder::write(StringRef name, StringRef text) {
  EXPECT_EQ(toString(runtime::writeFileAtomically(file(name), text)), "");
}

void TestFolder::writeConfig(const json::Object &config) {
  write("config.json", formatv("{0}", json::Value(json::Object(config))).str());
}

void TestFolder::writeWeights(
    std::vector<runtime::SafetensorsWriter::Entry> entries) {
  uint64_t bytes = 0;
  for (const auto &entry : entries) {
    uint64_t size = runtime::bytesOf(entry.type);
    for (int64_t extent : entry.shape)
      size *= extent;
    bytes += size;
  }
  auto writer = runtime::SafetensorsWriter::create(file("model.safetensors"),
                                                   std::move(entries), {});
  ASSERT_TRUE(bool(writer)) << toString(writer.takeError());
  std::string zeros(bytes, '\0');
  EXPECT_EQ(toString((*writer)->append(zeros.data(), zeros.size())), "");
  EXPECT_EQ(toString((*writer)->commit()), "");
}

json::Object gpt2Config() {
  return json::Object{
      {"model_type", "gpt2"}, {"vocab_size", 16}, {"n_positions", 10},
      {"n_embd", 8},          {"n_layer", 1},     {"n_head", 2},
      {"resid_pdrop", 0},     {"embd_pdrop", 0},  {"attn_pdrop", 0}};
}

json::Object llamaConfig() {
  return json::Object{
      {"model_type", "llama"},    {"vocab_size", 16},
      {"hidden_size", 8},         {"intermediate_size", 12},
      {"num_hidden_layers", 1},   {"num_attention_heads", 4},
      {"num_key_value_heads", 2}, {"max_position_embeddings", 64}};
}

json::Object with(json::Object config, const Fields &changes) {
  for (const auto &[field, value] : changes) {
    if (value.getAsString() == StringRef("absent"))
      config.erase(field);
    else
      config[field] = value;
  }
  return config;
}

Imported importFolder(const TestFolder &folder, int64_t batch, int64_t seq) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Imported result;
  raw_string_ostream warnings(result.warnings);
  auto module =
      importModel(context, {folder.path().str(), batch, seq, &warnings});
  if (module) {
    raw_string_ostream stream(result.graph);
    (*module)->print(stream);
    return result;
  }
  result.error = toString(module.takeError());
  for (size_t at; (at = result.error.find(folder.path())) != std::string::npos;)
    result.error.replace(at, folder.path().size(), "DIR");
  return result;
}

Imported importConfig(const json::Object &config, int64_t batch, int64_t seq) {
  TestFolder folder;
  folder.writeConfig(config);
  return importFolder(folder, batch, seq);
}

} // namespace colrow::import
