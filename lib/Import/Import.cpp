// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a path to a checked module: config, model type, graph, weights.

#include "colrow/Import/Import.h"
#include "Models.h"
#include "Weights.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mlir;
using colrow::runtime::failure;
using colrow::runtime::ModelFiles;

namespace colrow::import {

/// More than any config has; what is larger is another file.
static constexpr uint64_t maxConfigBytes = 16 << 20;

static std::string inFolder(StringRef folder, StringRef name) {
  SmallString<256> path(folder);
  sys::path::append(path, name);
  return std::string(path);
}

/// The folder's weights, nullopt where there are none.
static Expected<std::optional<ModelFiles>> openWeights(StringRef path) {
  if (!sys::fs::is_directory(path) ||
      !(sys::fs::exists(inFolder(path, "model.safetensors")) ||
        sys::fs::exists(inFolder(path, "model.safetensors.index.json"))))
    return std::nullopt;
  Expected<ModelFiles> files = ModelFiles::open(path);
  if (!files)
    return files.takeError();
  return std::optional<ModelFiles>(std::move(*files));
}

static Expected<const ModelType *> readModelType(ConfigReader &config) {
  std::string name = config.text("model_type", "");
  if (config.failed())
    return config.takeError();
  if (name.empty())
    return failure("{0}: field 'model_type' is missing; those known are {1}",
                   config.name(), knownModelTypes());
  if (const ModelType *type = findModelType(name))
    return type;
  return failure("{0}: field 'model_type' is \"{1}\"; those known are {2}",
                 config.name(), name, knownModelTypes());
}

/// Checks batch and seq against the model, and that sizes cannot overflow.
static Error checkStep(const ConfigReader &config, const Model &model,
                       const ImportOptions &options) {
  int64_t b = options.batch, s = options.seq;
  if (b < 1 || s < 1)
    return failure("{0} {1} is not possible; it must be at least 1",
                   b < 1 ? "batch" : "seq", b < 1 ? b : s);
  if (std::optional<int64_t> most = model.maxSeq(); most && s > *most)
    return failure("{0}: seq {1} exceeds the {2} positions that the model has "
                   "learned; seq can be at most {2}",
                   config.name(), s, *most);
  constexpr int64_t mostTokens = maxSize;
  if (b > mostTokens / s)
    return failure("batch {0} times seq {1} exceeds {2} tokens", b, s,
                   mostTokens);
  int64_t width = std::max(model.vocab(), model.widest());
  constexpr int64_t mostElements = int64_t(1) << 50;
  if (width > mostElements / (b * s))
    return failure("{0}: batch {1} times seq {2} times width {3} exceeds 2^50 "
                   "elements",
                   config.name(), b, s, width);
  return Error::success();
}

Expected<OwningOpRef<ModuleOp>> importModel(MLIRContext &context,
                                            const ImportOptions &options) {
  bool isFolder = sys::fs::is_directory(options.path);
  std::string file =
      isFolder ? inFolder(options.path, "config.json") : options.path;
  Expected<std::string> text = runtime::readTextFile(file, maxConfigBytes);
  if (!text)
    return text.takeError();
  Expected<json::Value> value = runtime::parseJson(file, *text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return failure("{0}: not a JSON object", file);

  ConfigReader config(file, *object);
  Expected<const ModelType *> type = readModelType(config);
  if (!type)
    return type.takeError();
  std::unique_ptr<Model> model = (*type)->read(config, *options.warnings);
  checkArchitecture(config, **type);
  checkUnreadFields(config, *options.warnings);
  if (Error error = config.takeError())
    return std::move(error);
  if (Error error = checkStep(config, *model, options))
    return std::move(error);

  Expected<std::optional<ModelFiles>> files = openWeights(options.path);
  if (!files)
    return files.takeError();
  context.loadDialect<func::FuncDialect, tp::TPDialect>();
  GraphBuilder graph(
      context,
      {(*type)->name.str(), *text, options.batch, options.seq, model->vocab()},
      *files ? findDroppedPrefix(**type, **files) : "");
  OwningOpRef<ModuleOp> module = graph.finish(model->build(graph));
  if (*files)
    if (Error error =
            checkWeights(*module, **type, model->tiesEmbeddings(), **files))
      return std::move(error);
  if (failed(verify(*module)))
    return failure("{0}: the graph does not verify", options.path);
  return module;
}

} // namespace colrow::import
