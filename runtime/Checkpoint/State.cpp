// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a run as JSON. Version 2 adds run, folder, batch, seq, data and
// optimizer to version 1, whose checkpoints can still be resumed.

#include "State.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

static constexpr int64_t stateVersion = 2;
/// Larger numbers are no counts of a run: a step of a microsecond would have
/// taken 35 years. Sums with them stay in int64.
static constexpr int64_t maxSteps = int64_t(1) << 50;
static constexpr int64_t maxSamples = int64_t(1) << 62;

namespace {
struct OptimizerNumber {
  StringLiteral name;
  double value;
};
} // namespace

static std::vector<OptimizerNumber> numbersOf(const plan::Plan &plan) {
  const plan::Optimizer *optimizer = plan.optimizer();
  if (!optimizer)
    return {};
  return {{"beta1", optimizer->beta1()},
          {"beta2", optimizer->beta2()},
          {"eps", optimizer->eps()},
          {"weight_decay", optimizer->weight_decay()},
          {"clip_grad_norm", optimizer->clip_grad_norm()}};
}

TrainingBatch trainingBatch(const plan::Plan &plan) {
  Expected<Programs> train = Programs::find(plan, trainProgram);
  if (!train) {
    consumeError(train.takeError());
    return {};
  }
  return {train->batchRows(), train->rowTokens()};
}

std::string stateText(const Executor &executor, const TrainingState &state,
                      StringRef run, StringRef folder) {
  const plan::Plan &plan = executor.plan();
  std::string text;
  raw_string_ostream out(text);
  json::OStream json(out, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("version", stateVersion);
    json.attribute("run", run);
    json.attribute("folder", folder);
    json.attribute("step", state.step);
    // As text: not all JSON readers keep 64 bits.
    json.attribute("seed", std::to_string(state.seed));
    json.attribute("data_position", state.samples);
    json.attribute("batch", trainingBatch(plan).rows);
    json.attribute("seq", trainingBatch(plan).tokens);
    json.attributeObject("data", [&] {
      json.attribute("name", json::fixUTF8(state.data));
      json.attribute("mark", state.dataMark);
    });
    json.attribute("mesh", executor.mesh().text());
    json.attribute("persistent_fingerprint",
                   formatv("{0:x16}", plan.persistent_fingerprint()).str());
    json.attributeObject("optimizer", [&] {
      for (const OptimizerNumber &number : numbersOf(plan))
        json.attribute(number.name, number.value);
    });
  });
  return text + "\n";
}

static bool readString(const json::Object &object, StringRef key,
                       std::string &out) {
  std::optional<StringRef> value = object.getString(key);
  if (value)
    out = value->str();
  return bool(value);
}

static bool readCount(const json::Object &object, StringRef key, int64_t most,
                      int64_t &out) {
  std::optional<int64_t> value = object.getInteger(key);
  if (!value || *value < 0 || *value > most)
    return false;
  out = *value;
  return true;
}

static bool readVersion2(const json::Object &object, SavedState &state) {
  const json::Object *data = object.getObject("data");
  const json::Object *optimizer = object.getObject("optimizer");
  if (!data || !optimizer)
    return false;
  state.optimizer = *optimizer;
  StringRef run = object.getString("run").value_or("");
  StringRef folder = object.getString("folder").value_or("");
  if (!isRunName(run) || folder.contains('/') || !folder.starts_with("step-"))
    return false;
  state.run = run.str();
  state.folder = folder.str();
  return readCount(object, "batch", maxSamples, state.batch) &&
         readCount(object, "seq", maxSamples, state.seq) &&
         readString(*data, "name", state.training.data) &&
         readString(*data, "mark", state.training.dataMark);
}

Expected<SavedState> parseState(StringRef path, StringRef text) {
  Expected<json::Value> value = parseJson(path, text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  std::optional<int64_t> version =
      object ? object->getInteger("version") : std::nullopt;
  if (!version)
    return failure("{0}: not the state of a training run", path);
  if (*version < 1 || *version > stateVersion)
    return failure("{0}: has version {1}, this tp-run reads versions up to {2}",
                   path, *version, stateVersion);
  SavedState state;
  TrainingState &training = state.training;
  std::string seed;
  for (auto [key, most, out] :
       {std::tuple<StringRef, int64_t, int64_t *>("step", maxSteps,
                                                  &training.step),
        {"data_position", maxSamples, &training.samples}})
    if (!readCount(*object, key, most, *out))
      return failure("{0}: not the state of a training run: {1} is no number "
                     "from 0 to {2}",
                     path, key, most);
  if (!readString(*object, "seed", seed) ||
      StringRef(seed).getAsInteger(10, training.seed) ||
      !readString(*object, "mesh", state.mesh) ||
      !readString(*object, "persistent_fingerprint", state.fingerprint) ||
      (*version > 1 && !readVersion2(*object, state)))
    return failure("{0}: not the state of a training run", path);
  return state;
}

std::vector<std::string> optimizerDifferences(const SavedState &saved,
                                              const plan::Plan &plan) {
  std::vector<std::string> result;
  if (!saved.optimizer)
    return result;
  for (const OptimizerNumber &number : numbersOf(plan)) {
    std::optional<double> old = saved.optimizer->getNumber(number.name);
    if (old != number.value)
      result.push_back(formatv("{0} is {1}, this plan has {2}", number.name,
                               old ? textOfNumber(*old) : "none",
                               textOfNumber(number.value)));
  }
  return result;
}

Expected<std::string> newRunName() {
  uint8_t bytes[runNameSize / 2];
  if (::getentropy(bytes, sizeof(bytes)) != 0)
    return failure("cannot name this run: no random numbers: {0}",
                   strerror(errno));
  return toHex(bytes, /*LowerCase=*/true);
}

bool isRunName(StringRef text) {
  return text.size() == runNameSize && all_of(text, isHexDigit);
}

} // namespace colrow::runtime
