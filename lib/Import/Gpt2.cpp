// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPT-2 (Radford et al., 2019): learned positions, layer norm before each
// block, fused [Q;K;V], weights in the file stored [in, out].

#include "Models.h"
#include <cmath>

using namespace llvm;
using mlir::Value;

namespace colrow::import {

namespace {
class Gpt2 : public Model {
public:
  static std::unique_ptr<Model> read(ConfigReader &config,
                                     raw_ostream &warnings);

  int64_t vocab() const override { return vocabulary; }
  std::optional<int64_t> maxSeq() const override { return positions; }
  int64_t widest() const override { return std::max(inner, 3 * hidden); }
  bool tiesEmbeddings() const override { return tied; }
  Value build(GraphBuilder &graph) const override;

private:
  void readSizes(ConfigReader &config);
  Value norm(GraphBuilder &graph, Value x, const std::string &path) const;
  /// x W + b of the tensors `path`.weight, [in, out], and `path`.bias.
  Value linear(GraphBuilder &graph, Value x, const std::string &path,
               int64_t in, int64_t out, double std) const;
  /// The same with columns [index * hidden, (index + 1) * hidden) of c_attn.
  Value project(GraphBuilder &graph, Value x, const std::string &path,
                StringRef part, int64_t index) const;
  Value attention(GraphBuilder &graph, Value x, int64_t layer) const;
  Value mlp(GraphBuilder &graph, Value x, int64_t layer) const;
  Value head(GraphBuilder &graph, Value x, Value embedding) const;

  int64_t vocabulary, positions, hidden, layers, heads, inner;
  Activation function;
  double residualDropout, embeddingDropout, attentionDropout;
  double epsilon, initStd;
  bool scaleScores, scaleByLayer, tied;
};
} // namespace

void Gpt2::readSizes(ConfigReader &config) {
  config.addAlias("n_embd", "hidden_size");
  config.addAlias("n_positions", "max_position_embeddings");
  config.addAlias("n_head", "num_attention_heads");
  config.addAlias("n_layer", "num_hidden_layers");
  vocabulary = config.size("vocab_size");
  positions = config.size("n_positions");
  hidden = config.size("n_embd", std::nullopt, maxSize / 4);
  layers = config.size("n_layer", std::nullopt, maxLayers);
  heads = config.size("n_head");
  inner = config.size("n_inner", 4 * hidden);
  if (hidden % heads != 0)
    config.fail("n_embd ({0}) is not a multiple of n_head ({1}); the head size "
                "must be a whole number",
                hidden, heads);
}

std::unique_ptr<Model> Gpt2::read(ConfigReader &config, raw_ostream &) {
  auto model = std::make_unique<Gpt2>();
  model->readSizes(config);
  // The fallbacks are what transformers takes for a field that is absent.
  model->function = readActivation(config, "activation_function", "gelu_new");
  model->residualDropout = config.dropout("resid_pdrop", 0.1);
  model->embeddingDropout = config.dropout("embd_pdrop", 0.1);
  model->attentionDropout = config.dropout("attn_pdrop", 0.1);
  model->epsilon = config.positive("layer_norm_epsilon", 1e-5);
  model->initStd = config.positive("initializer_range", 0.02);
  model->scaleScores = config.flag("scale_attn_weights", true);
  model->scaleByLayer = config.flag("scale_attn_by_inverse_layer_idx", false);
  model->tied = config.flag("tie_word_embeddings", true);
  // An order of rounding that is the same in float32. No row of this
  // embedding is special to the padding token.
  config.flag("reorder_and_upcast_attn", false);
  config.value("pad_token_id");
  return model;
}

Value Gpt2::norm(GraphBuilder &graph, Value x, const std::string &path) const {
  graph.enter(path);
  std::string name = "transformer." + path;
  Value gamma = graph.parameter({name + ".weight", {hidden}, graph.ones()});
  Value beta = graph.parameter({name + ".bias", {hidden}, graph.zeros()});
  return graph.layerNorm(x, gamma, beta, epsilon);
}

Value Gpt2::linear(GraphBuilder &graph, Value x, const std::string &path,
                   int64_t in, int64_t out, double std) const {
  graph.enter(path);
  ParameterSpec weight{
      "transformer." + path + ".weight", {in, out}, graph.normal(std)};
  weight.transposed = true;
  Value product = graph.matmul(x, graph.parameter(weight));
  return graph.add(
      product,
      graph.parameter({"transformer." + path + ".bias", {out}, graph.zeros()}));
}

Value Gpt2::project(GraphBuilder &graph, Value x, const std::string &path,
                    StringRef part, int64_t index) const {
  graph.enter(path + "." + part);
  auto spec = [&](StringRef kind, SmallVector<int64_t, 2> shape,
                  tp::InitAttr init, bool transposed) {
    return ParameterSpec{("transformer." + path + "." + kind).str(),
                         std::move(shape),
                         init,
                         transposed,
                         part.str(),
                         index * hidden,
                         hidden};
  };
  Value weight = graph.parameter(
      spec("weight", {hidden, 3 * hidden}, graph.normal(initStd), true));
  Value product = graph.matmul(x, weight);
  return graph.add(product, graph.parameter(spec("bias", {3 * hidden},
                                                 graph.zeros(), false)));
}

/// Residual projections start smaller, so that the residual stream's variance
/// does not grow with depth (the paper's section 2.3).
static double residualStd(double std, int64_t layers) {
  return std / std::sqrt(2.0 * double(layers));
}

Value Gpt2::attention(GraphBuilder &graph, Value x, int64_t layer) const {
  std::string path = "h." + std::to_string(layer) + ".attn";
  std::string fused = path + ".c_attn";
  Value q = project(graph, x, fused, "q", 0);
  Value k = project(graph, x, fused, "k", 1);
  Value v = project(graph, x, fused, "v", 2);
  graph.enter(path);
  int64_t headDim = hidden / heads;
  double scale = scaleScores ? 1.0 / std::sqrt(double(headDim)) : 1.0;
  if (scaleByLayer)
    scale /= double(layer + 1);
  Value y = graph.attention(
      q, k, v, {heads, /*perGroup=*/1, headDim, scale, attentionDropout});
  y = linear(graph, y, path + ".c_proj", hidden, hidden,
             residualStd(initStd, layers));
  return graph.dropout(y, residualDropout);
}

Value Gpt2::mlp(GraphBuilder &graph, Value x, int64_t layer) const {
  std::string path = "h." + std::to_string(layer) + ".mlp";
  Value y = linear(graph, x, path + ".c_fc", hidden, inner, initStd);
  graph.enter(path + ".act");
  y = graph.activation(y, function);
  y = linear(graph, y, path + ".c_proj", inner, hidden,
             residualStd(initStd, layers));
  return graph.dropout(y, residualDropout);
}

Value Gpt2::head(GraphBuilder &graph, Value x, Value embedding) const {
  graph.enter("lm_head");
  if (!tied)
    embedding = graph.parameter(
        {"lm_head.weight", {vocabulary, hidden}, graph.normal(initStd)});
  return graph.matmul(x, embedding);
}

Value Gpt2::build(GraphBuilder &graph) const {
  graph.enter("wte");
  Value table = graph.parameter(
      {"transformer.wte.weight", {vocabulary, hidden}, graph.normal(initStd)});
  Value x = graph.embedding(graph.ids(), table);
  graph.enter("wpe");
  Value places = graph.parameter(
      {"transformer.wpe.weight", {positions, hidden}, graph.normal(initStd)});
  x = graph.add(x, graph.takeRows(places, graph.seq()));
  x = graph.dropout(x, embeddingDropout);
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::string path = "h." + std::to_string(layer);
    Value y = attention(graph, norm(graph, x, path + ".ln_1"), layer);
    graph.enter(path);
    x = graph.add(x, y);
    y = mlp(graph, norm(graph, x, path + ".ln_2"), layer);
    graph.enter(path);
    x = graph.add(x, y);
  }
  x = norm(graph, x, "ln_f");
  return head(graph, x, table);
}

static constexpr StringLiteral gpt2Buffers[] = {".attn.bias",
                                                ".attn.masked_bias"};

const ModelType gpt2 = {"gpt2",       "GPT2LMHeadModel", "transformer.",
                        "wte.weight", gpt2Buffers,       Gpt2::read};

} // namespace colrow::import
