// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks by name, shape and type, from headers alone.

#include "Weights.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::import {

std::string findDroppedPrefix(const ModelType &type, const ModelFiles &files) {
  std::string full = (type.prefix + type.embedding).str();
  return !files.find(full) && files.find(type.embedding) ? type.prefix.str()
                                                         : "";
}

static Error checkTensor(TensorPlace place, ArrayRef<int64_t> wanted) {
  const TensorInfo &tensor = *place.info;
  if (ArrayRef<int64_t>(tensor.shape) != wanted)
    return failure("{0}: tensor '{1}' has shape {2}, but config.json gives {3}",
                   place.file->path(), tensor.name, textOfShape(tensor.shape),
                   textOfShape(wanted));
  if (!isReadableAsFloat(tensor.type))
    return failure("{0}: tensor '{1}' has dtype {2}; F32, BF16 and F16 can be "
                   "read",
                   place.file->path(), tensor.name, nameOf(tensor.type));
  return Error::success();
}

/// The first of the missing tensors and how many more there are.
static Error missing(const ModelFiles &files, ArrayRef<tp::SourceAttr> absent) {
  std::string more = absent.size() > 1
                         ? formatv(" (and {0} more)", absent.size() - 1).str()
                         : "";
  return failure("{0}: tensor '{1}' of shape {2} is missing{3}; config.json "
                 "and the weights do not belong together",
                 files.name(), absent[0].getName(),
                 textOfShape(absent[0].getShape()), more);
}

/// Checks all sources and collects their names in `used`.
static Error checkSources(mlir::ModuleOp module, const ModelFiles &files,
                          StringMap<tp::SourceAttr> &used) {
  SmallVector<tp::SourceAttr> absent;
  for (auto parameter : module.getOps<tp::ParameterOp>()) {
    for (auto source : parameter.getSource()->getAsRange<tp::SourceAttr>()) {
      if (!used.try_emplace(source.getName(), source).second)
        continue;
      TensorPlace place = files.find(source.getName());
      if (!place)
        absent.push_back(source);
      else if (Error error = checkTensor(place, source.getShape()))
        return error;
    }
  }
  return absent.empty() ? Error::success() : missing(files, absent);
}

/// The head's tensor may stand in the file although it is the embedding; its
/// values are not read then, as transformers does not.
static Error checkTiedHead(TensorPlace place,
                           const StringMap<tp::SourceAttr> &used,
                           const ModelType &type) {
  auto embedding = used.find((type.prefix + type.embedding).str());
  if (embedding == used.end())
    embedding = used.find(type.embedding);
  return checkTensor(place, embedding->second.getShape());
}

Error checkWeights(mlir::ModuleOp module, const ModelType &type,
                   bool tiesEmbeddings, const ModelFiles &files) {
  StringMap<tp::SourceAttr> used;
  if (Error error = checkSources(module, files, used))
    return error;
  for (TensorPlace place : files.tensors()) {
    StringRef name = place.info->name;
    if (used.contains(name) || any_of(type.buffers, [&](StringRef buffer) {
          return name.ends_with(buffer);
        }))
      continue;
    if (!tiesEmbeddings || name != "lm_head.weight")
      return failure("{0}: no parameter of the model is made from tensor '{1}' "
                     "of shape {2}; config.json and the weights do not belong "
                     "together",
                     place.file->path(), oneLine(name),
                     textOfShape(place.info->shape));
    if (Error error = checkTiedHead(place, used, type))
      return error;
  }
  return Error::success();
}

} // namespace colrow::import
