// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of model types, and what they share in reading a config.

#include "Models.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace colrow::import {

static const ModelType *const modelTypes[] = {&gpt2, &llama};

const ModelType *findModelType(StringRef name) {
  for (const ModelType *type : modelTypes)
    if (type->name == name)
      return type;
  return nullptr;
}

std::string knownModelTypes() {
  return join(
      map_range(modelTypes, [](const ModelType *t) { return t->name.str(); }),
      ", ");
}

namespace {
struct ActivationName {
  StringLiteral name;
  Activation kind;
};
} // namespace

// The names are those of transformers; several stand for one function.
static constexpr ActivationName activationNames[] = {
    {"gelu", Activation::GeluExact},
    {"gelu_python", Activation::GeluExact},
    {"gelu_new", Activation::GeluTanh},
    {"gelu_fast", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"relu", Activation::Relu},
    {"silu", Activation::Silu},
    {"swish", Activation::Silu},
};

Activation readActivation(ConfigReader &config, StringRef field,
                          StringRef fallback) {
  std::string name = config.text(field, fallback);
  std::string known;
  for (const ActivationName &entry : activationNames) {
    if (entry.name == name)
      return entry.kind;
    known += (known.empty() ? "" : ", ") + entry.name.str();
  }
  config.fail("field '{0}' is \"{1}\"; those supported are {2}", field, name,
              known);
  return Activation::Relu;
}

void checkArchitecture(ConfigReader &config, const ModelType &type) {
  const json::Value *field = config.value("architectures");
  if (!field)
    return;
  const json::Array *list = field->getAsArray();
  if (!list)
    return config.fail("field 'architectures' is {0}; wanted a list",
                       shortText(*field));
  for (const json::Value &entry : *list)
    if (entry.getAsString() != StringRef(type.architecture))
      return config.fail("field 'architectures' has {0}; of model type {1} "
                         "only {2} is supported",
                         shortText(entry), type.name, type.architecture);
}

void checkProduct(ConfigReader &config, StringRef a, int64_t aSize, StringRef b,
                  int64_t bSize) {
  if (aSize > maxSize / bSize)
    config.fail("{0} ({1}) times {2} ({3}) exceeds {4}", a, aSize, b, bSize,
                maxSize);
}

} // namespace colrow::import
