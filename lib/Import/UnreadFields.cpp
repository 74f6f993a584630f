// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a config's other fields mean: harmless, or a change of the mathematics
// that is not supported. A field stands in one of the lists below or is named
// in a warning.

#include "ConfigReader.h"
#include "colrow/runtime/Checkpoint/ModelConfig.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace colrow::import {

namespace {
/// A field that is refused unless it switches nothing on, or has the value
/// `neutral` (empty: none).
struct RefusedField {
  StringLiteral name;
  StringLiteral neutral;
  StringLiteral why;
};
} // namespace

static constexpr RefusedField refusedFields[] = {
    {"add_cross_attention", "", "cross-attention is not supported"},
    {"attention_multiplier", "", "another attention scale is not supported"},
    {"attn_logit_softcapping", "", "soft-capped scores are not supported"},
    {"clip_qkv", "", "clipped queries and keys are not supported"},
    {"cross_attention_hidden_size", "", "cross-attention is not supported"},
    {"embedding_multiplier", "1", "scaled embeddings are not supported"},
    {"final_logit_softcapping", "", "soft-capped logits are not supported"},
    {"is_causal", "true", "only causal attention is supported"},
    {"is_decoder", "", "a decoder of an encoder-decoder is not supported"},
    {"is_encoder_decoder", "", "encoder-decoder models are not supported"},
    {"logit_scale", "1", "scaled logits are not supported"},
    {"logits_scaling", "1", "scaled logits are not supported"},
    {"no_rope_layers", "", "layers without rotary embedding are not supported"},
    {"num_experts", "", "experts are not supported"},
    {"num_local_experts", "", "experts are not supported"},
    {"partial_rotary_factor", "1", "partial rotary embedding is not supported"},
    {"per_layer_config", "", "layers that differ are not supported"},
    {"pruned_heads", "", "pruned heads are not supported"},
    {"qk_layernorm", "", "norms of queries and keys are not supported"},
    {"qk_norm", "", "norms of queries and keys are not supported"},
    {"quantization_config", "",
     "quantised weights are not supported; dequantise the model first"},
    {"residual_multiplier", "1", "scaled residuals are not supported"},
    {"rope_interleaved", "", "interleaved rotary pairs are not supported"},
    {"tie_encoder_decoder", "", "encoder-decoder models are not supported"},
    {"use_bidirectional_attention", "", "only causal attention is supported"},
    {"use_parallel_residual", "", "parallel residuals are not supported"},
    {"use_qk_norm", "", "norms of queries and keys are not supported"},
};

/// Windows count unless they are switched off beside the size.
static void checkWindow(ConfigReader &config) {
  const json::Value *size = config.value("sliding_window");
  const json::Value *used = config.value("use_sliding_window");
  bool isOn = used ? !isOff(*used) : size && !isOff(*size);
  if (isOn)
    config.fail("field '{0}' is {1}; sliding windows are not supported",
                used ? "use_sliding_window" : "sliding_window",
                shortText(used ? *used : *size));
}

static void checkLayerTypes(ConfigReader &config) {
  const json::Value *types = config.value("layer_types");
  if (!types)
    return;
  const json::Array *list = types->getAsArray();
  if (!list)
    return config.fail("field 'layer_types' is {0}; wanted a list of "
                       "\"full_attention\"",
                       shortText(*types));
  for (const json::Value &type : *list)
    if (type.getAsString() != StringRef("full_attention"))
      return config.fail("field 'layer_types' has {0}; only "
                         "\"full_attention\" is supported",
                         shortText(type));
}

void checkUnreadFields(ConfigReader &config, raw_ostream &warnings) {
  checkWindow(config);
  checkLayerTypes(config);
  config.forEachUnread([&](StringRef field, const json::Value &value) {
    const RefusedField *refused = find_if(
        refusedFields, [&](const RefusedField &r) { return r.name == field; });
    if (refused != std::end(refusedFields)) {
      bool isOne = refused->neutral == "1" && value.getAsNumber() == 1.0;
      bool isTrue = refused->neutral == "true" && value.getAsBoolean() == true;
      // Where something other than off is neutral, off is not, except null.
      bool isNeutral = value.getAsNull() || isOne || isTrue ||
                       (refused->neutral.empty() && isOff(value));
      if (!isNeutral)
        config.fail("field '{0}' is {1}; {2}", field, shortText(value),
                    refused->why);
      return;
    }
    if (!is_contained(runtime::bookkeepingFields(), field))
      warnings << "warning: " << config.name() << ": field '" << oneLine(field)
               << "' is not known and is ignored\n";
  });
}

} // namespace colrow::import
