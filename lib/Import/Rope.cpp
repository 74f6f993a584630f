// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rope types default, linear and llama3 in both spellings of the config.

#include "Rope.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;

namespace colrow::import {

/// The object with the type's parameters, null when all are the defaults.
static const json::Object *findParameters(ConfigReader &config,
                                          StringRef &field) {
  const json::Object *newer = config.objectField("rope_parameters");
  const json::Object *older = config.objectField("rope_scaling");
  field = older && !older->empty() ? "rope_scaling" : "rope_parameters";
  if (newer && older && !newer->empty() && !older->empty() && *newer != *older)
    config.fail("fields 'rope_parameters' and 'rope_scaling' differ; keep one");
  return older && !older->empty() ? older : newer;
}

static Rope::Type readType(ConfigReader &parameters) {
  // Older configs say "type"; some say both.
  std::string older = parameters.text("type", "default");
  std::string name = parameters.text("rope_type", older);
  if (name == "default")
    return Rope::Type::Default;
  if (name == "linear")
    return Rope::Type::Linear;
  if (name == "llama3")
    return Rope::Type::Llama3;
  parameters.fail("rope type '{0}' is not supported; those supported are "
                  "default, linear, llama3",
                  name);
  return Rope::Type::Default;
}

static void readLlama3(ConfigReader &config, ConfigReader &parameters,
                       int64_t maxPositions, Rope &rope) {
  rope.factor = parameters.positive("factor");
  rope.lowFrequencyFactor = parameters.positive("low_freq_factor");
  rope.highFrequencyFactor = parameters.positive("high_freq_factor");
  // A top-level value stands above the one beside the factors.
  int64_t inner =
      parameters.size("original_max_position_embeddings", maxPositions);
  rope.originalPositions =
      double(config.size("original_max_position_embeddings", inner));
  if (rope.highFrequencyFactor <= rope.lowFrequencyFactor)
    parameters.fail("high_freq_factor ({0}) must be greater than "
                    "low_freq_factor ({1})",
                    shortText(rope.highFrequencyFactor),
                    shortText(rope.lowFrequencyFactor));
}

/// Refuses what would change the frequencies, and names what does not.
static void checkRest(ConfigReader &parameters, raw_ostream &warnings) {
  parameters.forEachUnread([&](StringRef field, const json::Value &value) {
    if (value.getAsObject())
      parameters.fail("field '{0}' is an object: parameters that differ by "
                      "layer are not supported",
                      field);
    else if (field == "partial_rotary_factor") {
      if (!value.getAsNull() && value.getAsNumber() != 1.0)
        parameters.fail("field '{0}' is {1}; only 1 is supported", field,
                        shortText(value));
    } else {
      warnings << "warning: " << parameters.name() << ": field '"
               << oneLine(field)
               << "' has no meaning for this rope type and is ignored\n";
    }
  });
}

Rope readRope(ConfigReader &config, int64_t maxPositions,
              raw_ostream &warnings) {
  Rope rope;
  rope.theta = config.positive("rope_theta", rope.theta);
  StringRef field;
  const json::Object *object = findParameters(config, field);
  if (!object || config.failed())
    return rope;
  ConfigReader parameters((config.name() + ": " + field).str(), *object);
  rope.theta = parameters.positive("rope_theta", rope.theta);
  rope.type = readType(parameters);
  if (rope.type == Rope::Type::Linear)
    rope.factor = parameters.positive("factor");
  if (rope.type == Rope::Type::Llama3)
    readLlama3(config, parameters, maxPositions, rope);
  if (!parameters.failed())
    checkRest(parameters, warnings);
  config.absorb(parameters);
  return rope;
}

static double scaleLlama3(const Rope &rope, double frequency) {
  double wavelength = 2 * numbers::pi / frequency;
  double longest = rope.originalPositions / rope.lowFrequencyFactor;
  double shortest = rope.originalPositions / rope.highFrequencyFactor;
  if (wavelength > longest)
    return frequency / rope.factor;
  if (wavelength < shortest)
    return frequency;
  double smooth =
      (rope.originalPositions / wavelength - rope.lowFrequencyFactor) /
      (rope.highFrequencyFactor - rope.lowFrequencyFactor);
  return (1 - smooth) * frequency / rope.factor + smooth * frequency;
}

std::vector<double> ropeFrequencies(const Rope &rope, int64_t headDim) {
  std::vector<double> result(headDim / 2);
  for (int64_t i = 0; i < headDim / 2; ++i) {
    double frequency = std::pow(rope.theta, -2.0 * double(i) / double(headDim));
    if (rope.type == Rope::Type::Linear)
      frequency /= rope.factor;
    if (rope.type == Rope::Type::Llama3)
      frequency = scaleLlama3(rope, frequency);
    result[i] = frequency;
  }
  return result;
}

} // namespace colrow::import
