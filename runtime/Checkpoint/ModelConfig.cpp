// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparing the configs of models.

#include "colrow/runtime/Checkpoint/ModelConfig.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace llvm;

namespace colrow::runtime {

static constexpr StringLiteral bookkeeping[] = {
    "_attn_implementation_autoset",
    "_commit_hash",
    "_name_or_path",
    "attn_implementation",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "chunk_size_feed_forward",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "gradient_checkpointing",
    "id2label",
    "is_llama_config",
    "label2id",
    "length_penalty",
    "max_length",
    "max_window_layers",
    "min_length",
    "n_ctx",
    "name_or_path",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_labels",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "output_scores",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict",
    "return_dict_in_generate",
    "sep_token_id",
    "summary_activation",
    "summary_first_dropout",
    "summary_last_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers.js_config",
    "transformers_version",
    "typical_p",
    "unk_token_id",
    "use_bfloat16",
    "use_cache",
};

ArrayRef<StringLiteral> bookkeepingFields() { return bookkeeping; }

/// Fields that the importer reads and a trained model does not depend on.
static constexpr StringLiteral initialOnly[] = {"architectures",
                                                "initializer_range"};

static bool matters(StringRef field) {
  return !field.starts_with("_") && !is_contained(bookkeeping, field) &&
         !is_contained(initialOnly, field);
}

/// The value as text of one line, cut where it is long; "none" for none.
static std::string textOfValue(const json::Value *value) {
  if (!value)
    return "none";
  if (std::optional<double> number = value->getAsNumber())
    return textOfNumber(*number);
  std::string text;
  raw_string_ostream(text) << *value;
  constexpr size_t most = 60;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

static const json::Value *valueOf(const json::Object &object, StringRef field) {
  const json::Value *value = object.get(field);
  return value && value->kind() != json::Value::Null ? value : nullptr;
}

static bool same(const json::Value *a, const json::Value *b) {
  return a && b ? *a == *b : a == b;
}

static Expected<json::Object> parseConfig(StringRef name, StringRef text) {
  Expected<json::Value> value = parseJson(name, text);
  if (!value)
    return value.takeError();
  json::Object *object = value->getAsObject();
  if (!object)
    return failure("{0}: not a JSON object", name);
  return std::move(*object);
}

Expected<std::vector<std::string>>
configDifferences(StringRef path, StringRef saved, StringRef plans) {
  Expected<json::Object> theirs = parseConfig(path, saved);
  if (!theirs)
    return theirs.takeError();
  Expected<json::Object> ours = parseConfig("the plan's config.json", plans);
  if (!ours)
    return ours.takeError();
  std::set<std::string> fields;
  for (const json::Object *object : {&*theirs, &*ours})
    for (const auto &[field, value] : *object)
      if (matters(field))
        fields.insert(StringRef(field).str());
  std::vector<std::string> result;
  for (const std::string &field : fields) {
    const json::Value *old = valueOf(*theirs, field);
    const json::Value *now = valueOf(*ours, field);
    if (!same(old, now))
      result.push_back(formatv("{0} is {1}, this plan has {2}", field,
                               textOfValue(old), textOfValue(now)));
  }
  return result;
}

bool isKnownBuffer(StringRef tensor) {
  return tensor.ends_with(".attn.bias") ||
         tensor.ends_with(".attn.masked_bias") ||
         tensor.ends_with(".rotary_emb.inv_freq");
}

std::string firstOf(ArrayRef<std::string> items, StringRef separator) {
  constexpr size_t most = 4;
  std::string text = join(items.take_front(most), separator);
  if (items.size() > most)
    text += formatv(" and {0} more", items.size() - most).str();
  // Names come from files: an error stays one line.
  for (char &c : text)
    if (!isPrint(c) && uint8_t(c) < 0x80)
      c = '?';
  return text;
}

} // namespace colrow::runtime
