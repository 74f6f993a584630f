// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Llama (Touvron et al., 2023): RMS norm, rotary positions, grouped key-value
// heads, gated MLP; all linear layers without biases unless the config says.

#include "Models.h"
#include "Rope.h"
#include <cmath>

using namespace llvm;
using mlir::Value;

namespace colrow::import {

namespace {
class Llama : public Model {
public:
  static std::unique_ptr<Model> read(ConfigReader &config,
                                     raw_ostream &warnings);

  int64_t vocab() const override { return vocabulary; }
  int64_t widest() const override {
    return std::max({inner, hidden, heads * headDim});
  }
  bool tiesEmbeddings() const override { return tied; }
  Value build(GraphBuilder &graph) const override;

private:
  void readSizes(ConfigReader &config);
  void readHeads(ConfigReader &config);
  Value norm(GraphBuilder &graph, Value x, const std::string &path) const;
  Value linear(GraphBuilder &graph, Value x, const std::string &path,
               int64_t in, int64_t out, bool bias) const;
  Value attention(GraphBuilder &graph, Value x, const std::string &path) const;
  Value mlp(GraphBuilder &graph, Value x, const std::string &path) const;
  Value head(GraphBuilder &graph, Value x, Value embedding) const;

  int64_t vocabulary, hidden, inner, layers, heads, groups, headDim;
  Activation function;
  double attentionDropout, epsilon, initStd;
  bool attentionBias, mlpBias, tied;
  std::vector<double> frequencies;
};
} // namespace

void Llama::readSizes(ConfigReader &config) {
  vocabulary = config.size("vocab_size");
  hidden = config.size("hidden_size");
  inner = config.size("intermediate_size");
  layers = config.size("num_hidden_layers", std::nullopt, maxLayers);
  readHeads(config);
}

/// The graph holds a frequency for each pair of a head.
static constexpr int64_t maxHeadSize = 1 << 16;

void Llama::readHeads(ConfigReader &config) {
  heads = config.size("num_attention_heads");
  groups = config.size("num_key_value_heads", heads);
  std::optional<int64_t> given = config.optionalSize("head_dim");
  headDim = given.value_or(std::max<int64_t>(1, hidden / heads));
  if (config.failed())
    return;
  if (!given && hidden % heads != 0)
    config.fail("hidden_size ({0}) is not a multiple of num_attention_heads "
                "({1}), and there is no head_dim",
                hidden, heads);
  else if (heads % groups != 0)
    config.fail("num_attention_heads ({0}) is not a multiple of "
                "num_key_value_heads ({1})",
                heads, groups);
  else if (headDim % 2 != 0)
    config.fail("head size {0} is odd; rotary embedding turns pairs, so it "
                "must be even (hidden_size {1}, num_attention_heads {2})",
                headDim, hidden, heads);
  checkProduct(config, "num_attention_heads", heads, "head_dim", headDim);
  if (headDim > maxHeadSize)
    config.fail("head size {0} is larger than {1} (hidden_size {2}, "
                "num_attention_heads {3})",
                headDim, maxHeadSize, hidden, heads);
}

std::unique_ptr<Model> Llama::read(ConfigReader &config,
                                   raw_ostream &warnings) {
  auto model = std::make_unique<Llama>();
  model->readSizes(config);
  // The fallbacks are what transformers takes for a field that is absent.
  model->function = readActivation(config, "hidden_act", "silu");
  model->attentionDropout = config.dropout("attention_dropout", 0.0);
  model->epsilon = config.positive("rms_norm_eps", 1e-6);
  model->initStd = config.positive("initializer_range", 0.02);
  model->attentionBias = config.flag("attention_bias", false);
  model->mlpBias = config.flag("mlp_bias", false);
  model->tied = config.flag("tie_word_embeddings", false);
  int64_t positions = config.size("max_position_embeddings", 2048);
  Rope rope = readRope(config, positions, warnings);
  if (!config.failed())
    model->frequencies = ropeFrequencies(rope, model->headDim);
  if (const json::Value *padding = config.value("pad_token_id"))
    warnings << "warning: " << config.name() << ": field 'pad_token_id' is "
             << shortText(*padding) << "; here token " << shortText(*padding)
             << " is trained as any other, where transformers gives its "
                "embedding no gradient\n";
  return model;
}

Value Llama::norm(GraphBuilder &graph, Value x, const std::string &path) const {
  graph.enter(path);
  Value gamma =
      graph.parameter({"model." + path + ".weight", {hidden}, graph.ones()});
  return graph.rmsNorm(x, gamma, epsilon);
}

Value Llama::linear(GraphBuilder &graph, Value x, const std::string &path,
                    int64_t in, int64_t out, bool bias) const {
  graph.enter(path);
  std::string name = "model." + path;
  Value y = graph.matmul(
      x, graph.parameter({name + ".weight", {out, in}, graph.normal(initStd)}));
  if (!bias)
    return y;
  return graph.add(y, graph.parameter({name + ".bias", {out}, graph.zeros()}));
}

Value Llama::attention(GraphBuilder &graph, Value x,
                       const std::string &path) const {
  auto project = [&](const char *name, int64_t count) {
    return linear(graph, x, path + "." + name, hidden, count * headDim,
                  attentionBias);
  };
  Value q = project("q_proj", heads);
  Value k = project("k_proj", groups);
  Value v = project("v_proj", groups);
  graph.enter(path);
  Value y =
      graph.attention(q, k, v,
                      {groups, heads / groups, headDim,
                       1.0 / std::sqrt(double(headDim)), attentionDropout},
                      frequencies);
  return linear(graph, y, path + ".o_proj", heads * headDim, hidden,
                attentionBias);
}

Value Llama::mlp(GraphBuilder &graph, Value x, const std::string &path) const {
  Value gate = linear(graph, x, path + ".gate_proj", hidden, inner, mlpBias);
  Value up = linear(graph, x, path + ".up_proj", hidden, inner, mlpBias);
  graph.enter(path + ".act_fn");
  Value y = graph.mul(graph.activation(gate, function), up);
  return linear(graph, y, path + ".down_proj", inner, hidden, mlpBias);
}

Value Llama::head(GraphBuilder &graph, Value x, Value embedding) const {
  graph.enter("lm_head");
  if (!tied)
    embedding = graph.parameter(
        {"lm_head.weight", {vocabulary, hidden}, graph.normal(initStd)});
  return graph.matmul(x, embedding);
}

Value Llama::build(GraphBuilder &graph) const {
  graph.enter("embed_tokens");
  Value table = graph.parameter({"model.embed_tokens.weight",
                                 {vocabulary, hidden},
                                 graph.normal(initStd)});
  Value x = graph.embedding(graph.ids(), table);
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::string path = "layers." + std::to_string(layer);
    Value y = attention(graph, norm(graph, x, path + ".input_layernorm"),
                        path + ".self_attn");
    graph.enter(path);
    x = graph.add(x, y);
    y = mlp(graph, norm(graph, x, path + ".post_attention_layernorm"),
            path + ".mlp");
    graph.enter(path);
    x = graph.add(x, y);
  }
  x = norm(graph, x, "norm");
  return head(graph, x, table);
}

static constexpr StringLiteral llamaBuffers[] = {".rotary_emb.inv_freq"};

const ModelType llama = {"llama",      "LlamaForCausalLM",
                         "model.",     "embed_tokens.weight",
                         llamaBuffers, Llama::read};

} // namespace colrow::import
