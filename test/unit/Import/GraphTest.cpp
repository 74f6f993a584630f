// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph follows the config: one fact of the mathematics a test.

#include "TestFolder.h"
#include <gtest/gtest.h>

using namespace colrow::import;
using namespace llvm;
using json::Object;

namespace {

std::string graphOf(const Object &config) {
  Imported result = importConfig(config);
  EXPECT_EQ(result.error, "");
  return result.graph;
}

size_t count(StringRef text, StringRef what) { return text.count(what); }

/// The line that declares a parameter.
StringRef declarationOf(StringRef graph, const std::string &parameter) {
  size_t at = graph.find("tp.parameter @" + parameter + " :");
  EXPECT_NE(at, StringRef::npos) << parameter;
  return graph.substr(at).take_until([](char c) { return c == '\n'; });
}

TEST(Graph, ActivationsByName) {
  auto graphWith = [](const char *name) {
    return graphOf(with(gpt2Config(), {{"activation_function", name}}));
  };
  EXPECT_EQ(count(graphWith("gelu_new"), "{tanh}"), 1u);
  EXPECT_EQ(count(graphWith("gelu_pytorch_tanh"), "{tanh}"), 1u);
  EXPECT_EQ(count(graphWith("gelu"), "{tanh}"), 0u);
  EXPECT_EQ(count(graphWith("gelu"), "tp.gelu"), 1u);
  EXPECT_EQ(count(graphWith("relu"), "tp.relu"), 1u);
  EXPECT_EQ(count(graphWith("swish"), "tp.silu"), 1u);
}

TEST(Graph, AttentionScale) {
  Object config = gpt2Config();
  config["n_layer"] = 2;
  std::string graph = graphOf(config);
  EXPECT_EQ(count(graph, "scale = 5.000000e-01"), 2u);
  graph = graphOf(with(config, {{"scale_attn_by_inverse_layer_idx", true}}));
  EXPECT_EQ(count(graph, "scale = 5.000000e-01"), 1u);
  EXPECT_EQ(count(graph, "scale = 2.500000e-01"), 1u);
  graph = graphOf(with(config, {{"scale_attn_weights", false}}));
  EXPECT_EQ(count(graph, "scale = 1.000000e+00"), 2u);
}

TEST(Graph, DropoutIdsAreUniqueAndInOrder) {
  std::string graph = graphOf(with(
      gpt2Config(),
      {{"embd_pdrop", 0.125}, {"attn_pdrop", 0.25}, {"resid_pdrop", 0.5}}));
  EXPECT_EQ(count(graph, "tp.dropout"), 3u);
  size_t at = 0;
  for (const char *text :
       {"id = 1 : i64, p = 1.250000e-01",
        "dropout = 2.500000e-01 : f64, id = 2",
        "id = 3 : i64, p = 5.000000e-01", "id = 4 : i64, p = 5.000000e-01"}) {
    size_t next = graph.find(text, at);
    EXPECT_NE(next, std::string::npos) << text;
    at = next;
  }
  // What transformers takes when the fields are absent.
  graph = graphOf(with(gpt2Config(), {{"embd_pdrop", "absent"},
                                      {"attn_pdrop", "absent"},
                                      {"resid_pdrop", "absent"}}));
  EXPECT_EQ(count(graph, "p = 1.000000e-01"), 3u);
  EXPECT_EQ(count(graph, "dropout = 1.000000e-01"), 1u);
}

TEST(Graph, TiedHeadIsReadOnce) {
  for (const Object &config : {gpt2Config(), llamaConfig()}) {
    std::string tied = graphOf(with(config, {{"tie_word_embeddings", true}}));
    std::string own = graphOf(with(config, {{"tie_word_embeddings", false}}));
    EXPECT_EQ(count(tied, "tp.parameter") + 1, count(own, "tp.parameter"));
    EXPECT_EQ(count(tied, "tp.param @"), count(tied, "tp.parameter"));
    EXPECT_EQ(count(tied, "lm_head"), 0u);
    EXPECT_TRUE(declarationOf(own, "lm_head.weight").contains("16x8xf32"));
  }
}

TEST(Graph, BiasesOfLlama) {
  EXPECT_EQ(count(graphOf(llamaConfig()), ".bias"), 0u);
  std::string graph = graphOf(with(llamaConfig(), {{"attention_bias", true}}));
  EXPECT_EQ(count(graph, "tp.param @model.layers.0.self_attn."), 8u);
  EXPECT_TRUE(declarationOf(graph, "model.layers.0.self_attn.k_proj.bias")
                  .contains("tensor<4xf32>"));
  graph = graphOf(with(llamaConfig(), {{"mlp_bias", true}}));
  EXPECT_EQ(count(graph, "tp.param @model.layers.0.mlp."), 6u);
}

TEST(Graph, HeadSizeOfLlama) {
  // Without key-value heads of their own all heads have one.
  EXPECT_EQ(
      count(graphOf(with(llamaConfig(), {{"num_key_value_heads", "absent"}})),
            "tensor<8x8xf32>"),
      count(graphOf(with(llamaConfig(), {{"num_key_value_heads", 4}})),
            "tensor<8x8xf32>"));
  std::string graph = graphOf(with(llamaConfig(), {{"head_dim", 4}}));
  EXPECT_TRUE(declarationOf(graph, "model.layers.0.self_attn.q_proj.weight")
                  .contains("16x8xf32"));
  EXPECT_TRUE(declarationOf(graph, "model.layers.0.self_attn.o_proj.weight")
                  .contains("8x16xf32"));
  EXPECT_EQ(
      count(graph, "frequencies = array<f64: 1.000000e+00, 1.000000e-02>"), 2u);
  EXPECT_EQ(count(graph, "scale = 5.000000e-01"), 1u);
}

TEST(Graph, InitialValues) {
  std::string graph =
      graphOf(with(gpt2Config(), {{"initializer_range", 0.5}, {"n_layer", 2}}));
  auto init = [&](const char *name) {
    StringRef line = declarationOf(graph, name);
    return line.substr(line.find("#tp.init"))
        .take_until([](char c) { return c == '>'; })
        .str();
  };
  EXPECT_EQ(init("transformer.wte.weight"),
            "#tp.init<normal 0.000000e+00, 5.000000e-01");
  EXPECT_EQ(init("transformer.h.0.mlp.c_fc.weight"),
            "#tp.init<normal 0.000000e+00, 5.000000e-01");
  EXPECT_EQ(init("transformer.h.0.mlp.c_proj.weight"),
            "#tp.init<normal 0.000000e+00, 2.500000e-01");
  EXPECT_EQ(init("transformer.h.0.attn.c_proj.weight"),
            "#tp.init<normal 0.000000e+00, 2.500000e-01");
  EXPECT_EQ(init("transformer.h.0.mlp.c_proj.bias"), "#tp.init<zeros");
  EXPECT_EQ(init("transformer.ln_f.weight"), "#tp.init<ones");
}

TEST(Graph, ConfigIsKeptWhole) {
  TestFolder folder;
  std::string text = formatv("{0}\n", json::Value(llamaConfig())).str();
  folder.write("config.json", text);
  std::string graph = importFolder(folder).graph;
  EXPECT_EQ(count(graph, "tp.config = dense_resource<config>"), 1u);
  // At the end of the file, as bytes behind their alignment of 1.
  EXPECT_EQ(count(graph, "config: \"0x01000000" + toHex(text) + "\""), 1u);
}

} // namespace
