// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every field of a config is honoured, refused by name, or named in a warning.

#include "ConfigReader.h"
#include "TestFolder.h"
#include <gtest/gtest.h>

using namespace colrow::import;
using namespace llvm;
using json::Array;
using json::Object;

namespace {

/// A change to a config, and what the error then says after "config.json: ".
struct Refused {
  Fields changes;
  std::string error;
};

void expectRefused(const Object &config, std::vector<Refused> cases) {
  for (Refused &c : cases) {
    Imported result = importConfig(with(config, c.changes));
    EXPECT_EQ(result.error, "DIR/config.json: " + c.error);
    EXPECT_EQ(result.graph, "");
  }
}

std::string wantedSize(const char *field, const char *found,
                       const char *most = "2147483648") {
  return formatv("field '{0}' is {1}; wanted an integer from 1 to {2}", field,
                 found, most);
}

TEST(Config, SmallestAreImported) {
  for (const Object &config : {gpt2Config(), llamaConfig()}) {
    Imported result = importConfig(config);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.warnings, "");
    EXPECT_NE(result.graph, "");
  }
}

TEST(Config, SizesMustBePositiveIntegers) {
  expectRefused(
      gpt2Config(),
      {{{{"n_embd", -8}}, wantedSize("n_embd", "-8", "536870912")},
       {{{"n_embd", "8"}}, wantedSize("n_embd", "\"8\"", "536870912")},
       {{{"n_embd", 8.5}}, wantedSize("n_embd", "8.5", "536870912")},
       {{{"n_head", 0}}, wantedSize("n_head", "0")},
       {{{"n_inner", Array{1}}}, wantedSize("n_inner", "[1]")},
       {{{"n_layer", 100000000}}, wantedSize("n_layer", "100000000", "10000")},
       {{{"vocab_size", 4611686018427387904}},
        wantedSize("vocab_size", "4611686018427387904")},
       {{{"n_positions", "absent"}},
        "field 'n_positions' is missing; wanted "
        "an integer from 1 to 2147483648"}});
  expectRefused(llamaConfig(),
                {{{{"head_dim", 2147483648}},
                  "num_attention_heads (4) times head_dim (2147483648) exceeds "
                  "2147483648"},
                 {{{"intermediate_size", nullptr}},
                  "field 'intermediate_size' is missing; wanted an integer "
                  "from 1 to 2147483648"}});
}

TEST(Config, NumbersAndFlagsHaveTheirTypes) {
  expectRefused(gpt2Config(),
                {{{{"layer_norm_epsilon", 0}},
                  "field 'layer_norm_epsilon' is 0; wanted a number greater "
                  "than 0, in float32 too"},
                 {{{"layer_norm_epsilon", 1e-300}},
                  "field 'layer_norm_epsilon' is 1e-300; wanted a number "
                  "greater than 0, in float32 too"},
                 {{{"layer_norm_epsilon", 1e100}},
                  "field 'layer_norm_epsilon' is 1e+100; wanted a number "
                  "greater than 0, in float32 too"},
                 {{{"layer_norm_epsilon", true}},
                  "field 'layer_norm_epsilon' is true; wanted a number greater "
                  "than 0, in float32 too"},
                 {{{"resid_pdrop", 1}},
                  "field 'resid_pdrop' is 1; wanted a probability, "
                  "at least 0 and less than 1"},
                 {{{"attn_pdrop", -0.5}},
                  "field 'attn_pdrop' is -0.5; wanted a "
                  "probability, at least 0 and less than 1"},
                 {{{"resid_pdrop", "0.1"}},
                  "field 'resid_pdrop' is \"0.1\"; wanted a probability, at "
                  "least 0 and less than 1"},
                 {{{"scale_attn_weights", 1}},
                  "field 'scale_attn_weights' is 1; wanted true or false"},
                 {{{"activation_function", 3}},
                  "field 'activation_function' is 3; wanted a string"}});
}

TEST(Config, HeadsMustDivide) {
  expectRefused(gpt2Config(),
                {{{{"n_head", 3}},
                  "n_embd (8) is not a multiple of n_head (3); the head "
                  "size must be a whole number"}});
  expectRefused(
      llamaConfig(),
      {{{{"num_attention_heads", 3}, {"num_key_value_heads", nullptr}},
        "hidden_size (8) is not a multiple of num_attention_heads (3), and "
        "there is no head_dim"},
       {{{"num_key_value_heads", 3}},
        "num_attention_heads (4) is not a multiple of num_key_value_heads "
        "(3)"},
       {{{"head_dim", 100000000}},
        "head size 100000000 is larger than 65536 (hidden_size 8, "
        "num_attention_heads 4)"},
       {{{"head_dim", 5}},
        "head size 5 is odd; rotary embedding turns pairs, so it must be even "
        "(hidden_size 8, num_attention_heads 4)"}});
}

TEST(Config, ActivationsAreListed) {
  const char *known = "gelu, gelu_python, gelu_new, gelu_fast, "
                      "gelu_pytorch_tanh, relu, silu, swish";
  expectRefused(gpt2Config(), {{{{"activation_function", "quick_gelu"}},
                                std::string("field 'activation_function' is "
                                            "\"quick_gelu\"; those supported "
                                            "are ") +
                                    known}});
}

TEST(Config, ModelTypeAndArchitecture) {
  expectRefused(
      gpt2Config(),
      {{{{"model_type", "bert"}},
        "field 'model_type' is \"bert\"; those known are gpt2, llama"},
       {{{"model_type", "absent"}},
        "field 'model_type' is missing; those known are gpt2, llama"},
       {{{"model_type", 2}}, "field 'model_type' is 2; wanted a string"},
       {{{"architectures", Array{"GPT2ForSequenceClassification"}}},
        "field 'architectures' has \"GPT2ForSequenceClassification\"; of model "
        "type gpt2 only GPT2LMHeadModel is supported"},
       {{{"architectures", "GPT2LMHeadModel"}},
        "field 'architectures' is \"GPT2LMHeadModel\"; wanted a list"}});
}

TEST(Config, FieldsThatChangeTheMathematicsAreRefused) {
  expectRefused(
      gpt2Config(),
      {{{{"add_cross_attention", true}},
        "field 'add_cross_attention' is true; cross-attention is not "
        "supported"},
       {{{"is_encoder_decoder", true}},
        "field 'is_encoder_decoder' is true; encoder-decoder models are not "
        "supported"},
       {{{"pruned_heads", Fields{{"0", Array{1}}}}},
        "field 'pruned_heads' is {\"0\":[1]}; pruned heads are not "
        "supported"}});
  expectRefused(
      llamaConfig(),
      {{{{"sliding_window", 32}},
        "field 'sliding_window' is 32; sliding windows are not supported"},
       {{{"sliding_window", 32}, {"use_sliding_window", true}},
        "field 'use_sliding_window' is true; sliding windows are not "
        "supported"},
       {{{"layer_types", Array{"sliding_attention"}}},
        "field 'layer_types' has \"sliding_attention\"; only "
        "\"full_attention\" is supported"},
       {{{"layer_types", "full_attention"}},
        "field 'layer_types' is \"full_attention\"; wanted a list of "
        "\"full_attention\""},
       {{{"attn_logit_softcapping", 50.0}},
        "field 'attn_logit_softcapping' is 50; soft-capped scores are not "
        "supported"},
       {{{"quantization_config", Fields{{"bits", 4}}}},
        "field 'quantization_config' is {\"bits\":4}; quantised weights are "
        "not supported; dequantise the model first"},
       {{{"is_causal", false}},
        "field 'is_causal' is false; only causal attention is supported"},
       {{{"partial_rotary_factor", 0.5}},
        "field 'partial_rotary_factor' is 0.5; partial rotary embedding is "
        "not supported"}});
}

TEST(Config, TheSameFieldsSwitchedOffAreNot) {
  Fields off{{"sliding_window", 32},
             {"use_sliding_window", false},
             {"layer_types", Array{"full_attention"}},
             {"attn_logit_softcapping", nullptr},
             {"quantization_config", nullptr},
             {"is_causal", true},
             {"partial_rotary_factor", 1.0},
             {"pretraining_tp", 2},
             {"add_cross_attention", false}};
  Imported result = importConfig(with(llamaConfig(), off));
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.warnings, "");
}

/// What a field of other mathematics may say without changing anything.
std::vector<json::Value> neutralValues(StringRef neutral) {
  if (neutral == "1")
    return {nullptr, 1, 1.0};
  if (neutral == "true")
    return {nullptr, true};
  return {nullptr, false, 0, 0.0, "", Array{}, Object{}};
}

std::vector<json::Value> changingValues(StringRef neutral) {
  std::vector<json::Value> values = {2, 0.5, "yes", Array{0}, Fields{{"a", 0}}};
  if (neutral.empty())
    values.insert(values.end(), {true, 1});
  else
    values.insert(values.end(), {false, 0, "", Array{}, Object{}});
  return values;
}

/// Every field of other mathematics, in every type of JSON: refused by name,
/// but for the values that switch nothing on.
TEST(Config, EveryFieldOfOtherMathematicsIsRefusedByName) {
  std::vector<std::pair<const char *, const char *>> fields = {
      {"embedding_multiplier", "1"},  {"is_causal", "true"},
      {"logit_scale", "1"},           {"logits_scaling", "1"},
      {"partial_rotary_factor", "1"}, {"residual_multiplier", "1"}};
  for (const char *field : {"add_cross_attention",
                            "attention_multiplier",
                            "attn_logit_softcapping",
                            "clip_qkv",
                            "cross_attention_hidden_size",
                            "final_logit_softcapping",
                            "is_decoder",
                            "is_encoder_decoder",
                            "no_rope_layers",
                            "num_experts",
                            "num_local_experts",
                            "per_layer_config",
                            "pruned_heads",
                            "qk_layernorm",
                            "qk_norm",
                            "quantization_config",
                            "rope_interleaved",
                            "tie_encoder_decoder",
                            "use_bidirectional_attention",
                            "use_parallel_residual",
                            "use_qk_norm",
                            "use_sliding_window"})
    fields.emplace_back(field, "");
  auto outcome = [](const char *field, const json::Value &value) {
    Fields config{{field, value}};
    ConfigReader reader("c", config);
    std::string warnings;
    raw_string_ostream stream(warnings);
    checkUnreadFields(reader, stream);
    return toString(reader.takeError()) + warnings;
  };
  for (auto [field, neutral] : fields) {
    for (const json::Value &value : neutralValues(neutral))
      EXPECT_EQ(outcome(field, value), "") << field;
    for (const json::Value &value : changingValues(neutral)) {
      std::string error = outcome(field, value);
      EXPECT_TRUE(StringRef(error).starts_with(
          formatv("c: field '{0}' is {1}; ", field, value).str()))
          << field << ": " << error;
    }
  }
  for (const json::Value &size : {json::Value(0), json::Value(false)})
    EXPECT_EQ(outcome("sliding_window", size), "");
}

/// What is quoted of a value is cut, also inside a character; what fits is not.
TEST(Config, LongValuesAreCut) {
  std::string fits(58, 'x'), cut(59, 'x');
  std::string wide = std::string(55, 'x') + "\u00e9\u00e9\u00e9";
  std::string start = std::string(56, 'x');
  expectRefused(
      gpt2Config(),
      {{{{"n_head", fits}}, wantedSize("n_head", ("\"" + fits + "\"").c_str())},
       {{{"n_head", cut}},
        wantedSize("n_head", ("\"" + start + "...").c_str())},
       {{{"n_head", wide}},
        wantedSize("n_head", ("\"" + start.substr(1) + "\ufffd...").c_str())}});
}

/// Where the whole of a step would not fit into 64 bits, with its last size
/// that is not refused.
TEST(Config, SizesOfAStepAreLimited) {
  auto outcome = [](int64_t vocabulary, int64_t batch) {
    Object config = with(llamaConfig(), {{"vocab_size", vocabulary}});
    return importConfig(config, batch, 1).error;
  };
  int64_t one = 1;
  EXPECT_EQ(outcome(16, one << 31), "");
  EXPECT_EQ(outcome(16, (one << 31) + 1),
            "batch 2147483649 times seq 1 exceeds 2147483648 tokens");
  EXPECT_EQ(outcome(one << 20, one << 30), "");
  EXPECT_EQ(outcome((one << 20) + 1, one << 30),
            "DIR/config.json: batch 1073741824 times seq 1 times width 1048577 "
            "exceeds 2^50 elements");
}

/// A token without a gradient there has one here.
TEST(Config, PaddingTokensAreNamed) {
  Imported result = importConfig(with(llamaConfig(), {{"pad_token_id", 3}}));
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(StringRef(result.warnings)
                  .ends_with("config.json: field 'pad_token_id' is 3; here "
                             "token 3 is trained as any other, where "
                             "transformers gives its embedding no gradient\n"))
      << result.warnings;
  result = importConfig(with(llamaConfig(), {{"pad_token_id", nullptr}}));
  EXPECT_EQ(result.error + result.warnings, "");
}

TEST(Config, RopeTypes) {
  auto rope = [](Fields parameters) {
    return Fields{{"rope_parameters", std::move(parameters)}};
  };
  expectRefused(
      llamaConfig(),
      {{rope({{"rope_type", "yarn"}, {"factor", 2}}),
        "rope_parameters: rope type 'yarn' is not supported; those supported "
        "are default, linear, llama3"},
       {{{"rope_scaling", Fields{{"type", "dynamic"}, {"factor", 2}}}},
        "rope_scaling: rope type 'dynamic' is not supported; those supported "
        "are default, linear, llama3"},
       {rope({{"rope_type", "linear"}}),
        "rope_parameters: field 'factor' is missing; wanted a number greater "
        "than 0, in float32 too"},
       {rope({{"rope_type", "llama3"},
              {"factor", 8},
              {"low_freq_factor", 4},
              {"high_freq_factor", 4}}),
        "rope_parameters: high_freq_factor (4) must be greater than "
        "low_freq_factor (4)"},
       {rope({{"rope_theta", 100}, {"partial_rotary_factor", 0.5}}),
        "rope_parameters: field 'partial_rotary_factor' is 0.5; only 1 is "
        "supported"},
       {rope({{"full_attention", Fields{{"rope_theta", 100}}}}),
        "rope_parameters: field 'full_attention' is an object: parameters "
        "that differ by layer are not supported"},
       {rope({{"rope_theta", -1}}),
        "rope_parameters: field 'rope_theta' is "
        "-1; wanted a number greater than 0, in float32 too"},
       {{{"rope_scaling", "linear"}},
        "field 'rope_scaling' is \"linear\"; wanted an object or null"},
       {{{"rope_parameters", Fields{{"rope_type", "default"}}},
         {"rope_scaling", Fields{{"type", "linear"}, {"factor", 2}}}},
        "fields 'rope_parameters' and 'rope_scaling' differ; keep one"},
       // The first error is the one that is told.
       {rope({{"rope_type", "llama3"}, {"factor", 8}, {"low_freq_factor", 4}}),
        "rope_parameters: field 'high_freq_factor' is missing; wanted a number "
        "greater than 0, in float32 too"}});
}

/// What changes no frequency is accepted, and named where nothing reads it.
TEST(Config, RopeParametersThatChangeNothing) {
  auto outcome = [](Fields changes) {
    Imported result = importConfig(with(llamaConfig(), changes));
    return result.error + result.warnings;
  };
  Object linear = Fields{{"rope_type", "linear"}, {"factor", 2}};
  EXPECT_EQ(outcome({{"rope_parameters", Object(linear)},
                     {"rope_scaling", Object(linear)}}),
            "");
  EXPECT_EQ(outcome({{"rope_parameters", Object(linear)},
                     {"rope_scaling", Object{}}}),
            "");
  EXPECT_EQ(outcome({{"rope_parameters", Object{}},
                     {"rope_scaling", Object(linear)}}),
            "");
  for (const json::Value &whole : {json::Value(1), json::Value(nullptr)})
    EXPECT_EQ(outcome({{"rope_parameters",
                        Fields{{"partial_rotary_factor", whole}}}}),
              "");
  std::string warning = outcome(
      {{"rope_parameters", Fields{{"rope_type", "default"}, {"factor", 2}}}});
  EXPECT_TRUE(StringRef(warning).ends_with(
      "config.json: rope_parameters: field 'factor' has no meaning for this "
      "rope type and is ignored\n"))
      << warning;
}

TEST(Config, UnknownFieldsAreNamed) {
  Imported result = importConfig(
      with(gpt2Config(), {{"colour", "red"}, {"use_cache", true}}));
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(StringRef(result.warnings)
                  .ends_with("config.json: field 'colour' is not known and is "
                             "ignored\n"));
  EXPECT_EQ(StringRef(result.warnings).count('\n'), 1u);
}

TEST(Config, NamesStayOnOneLine) {
  Imported result = importConfig(with(gpt2Config(), {{"a\nb\x1b"
                                                      "c\x7f",
                                                      1}}));
  EXPECT_TRUE(StringRef(result.warnings)
                  .ends_with("field 'a?b?c?' is not known and is ignored\n"));
  EXPECT_EQ(StringRef(result.warnings).count('\n'), 1u);
}

TEST(Config, AliasesOfGpt2) {
  Fields renamed{{"n_embd", "absent"}, {"hidden_size", 8}};
  EXPECT_EQ(importConfig(with(gpt2Config(), renamed)).error, "");
  Fields both{{"hidden_size", 8}};
  EXPECT_EQ(importConfig(with(gpt2Config(), both)).error, "");
  expectRefused(gpt2Config(),
                {{{{"hidden_size", 16}},
                  "fields 'n_embd' (8) and 'hidden_size' (16) mean the same "
                  "and differ; keep one"}});
}

TEST(Config, BatchAndSeq) {
  EXPECT_EQ(importConfig(gpt2Config(), 0, 4).error,
            "batch 0 is not possible; it must be at least 1");
  EXPECT_EQ(importConfig(gpt2Config(), 1, -3).error,
            "seq -3 is not possible; it must be at least 1");
  EXPECT_EQ(importConfig(gpt2Config(), 1, 10).error, "");
  EXPECT_EQ(importConfig(gpt2Config(), 1, 11).error,
            "DIR/config.json: seq 11 exceeds the 10 positions that the model "
            "has learned; seq can be at most 10");
  EXPECT_EQ(importConfig(gpt2Config(), int64_t(1) << 40, 10).error,
            "batch 1099511627776 times seq 10 exceeds 2147483648 tokens");
  // Rotary positions have no end.
  EXPECT_EQ(importConfig(llamaConfig(), 1, 100).error, "");
}

TEST(Config, MalformedFiles) {
  TestFolder folder;
  EXPECT_EQ(importFolder(folder).error,
            "DIR/config.json: cannot open: No such file or directory");
  folder.write("config.json", "[1]");
  EXPECT_EQ(importFolder(folder).error, "DIR/config.json: not a JSON object");
  folder.write("config.json", "{\"model_type\": ");
  EXPECT_TRUE(StringRef(importFolder(folder).error)
                  .starts_with("DIR/config.json: not valid JSON: "));
  folder.write("config.json", std::string(100000, '['));
  EXPECT_EQ(importFolder(folder).error,
            "DIR/config.json: JSON is nested deeper than 64 levels");
  // Brackets in strings, and behind a quote that is escaped, nest nothing.
  folder.write("config.json", "[\"\\\"" + std::string(100, '[') + "\"]");
  EXPECT_EQ(importFolder(folder).error, "DIR/config.json: not a JSON object");
  folder.write("config.json", std::string((16 << 20) + 1, ' '));
  EXPECT_EQ(importFolder(folder).error,
            "DIR/config.json: file of 16777217 bytes is too large, at most "
            "16777216");
}

} // namespace
