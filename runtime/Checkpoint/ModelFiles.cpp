// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding tensors by name in one file or many.

#include "colrow/runtime/Checkpoint/ModelFiles.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/FileIdentity.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace llvm;

namespace colrow::runtime {

static std::string inFolder(StringRef folder, StringRef name) {
  SmallString<256> path(folder);
  sys::path::append(path, name);
  return std::string(path);
}

Expected<ModelFiles> ModelFiles::openFile(StringRef path) {
  ModelFiles result;
  result.title = path.str();
  auto file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  for (const TensorInfo &tensor : (*file)->tensors())
    result.places[tensor.name] = 0;
  result.files.push_back(std::move(*file));
  return result;
}

Expected<ModelFiles> ModelFiles::open(StringRef folder) {
  if (!sys::fs::is_directory(folder))
    return failure("{0}: not a folder", folder);
  std::string single = inFolder(folder, "model.safetensors");
  if (sys::fs::exists(single)) {
    Expected<ModelFiles> result = openFile(single);
    if (result)
      result->title = folder.str();
    return result;
  }
  std::string index = inFolder(folder, "model.safetensors.index.json");
  if (!sys::fs::exists(index))
    return failure("{0}: holds neither model.safetensors nor "
                   "model.safetensors.index.json",
                   folder);
  ModelFiles result;
  result.title = folder.str();
  if (Error error = result.openShards(folder, index))
    return std::move(error);
  return result;
}

Error ModelFiles::openShards(StringRef folder, StringRef index) {
  Expected<json::Value> value = readJsonFile(index);
  if (!value)
    return value.takeError();
  const json::Object *root = value->getAsObject();
  const json::Object *map = root ? root->getObject("weight_map") : nullptr;
  if (!map)
    return failure("{0}: has no weight_map", index);
  std::map<std::string, unsigned> opened;
  for (const auto &[tensor, shard] : *map) {
    StringRef name = shard.getAsString().value_or("");
    if (name.empty() || name.contains('/') || name == "." || name == "..")
      return failure("{0}: tensor {1} is in '{2}', which is no file name",
                     index, StringRef(tensor), name);
    auto [entry, isNew] = opened.try_emplace(name.str(), files.size());
    if (isNew) {
      auto file = SafetensorsFile::open(inFolder(folder, name));
      if (!file)
        return file.takeError();
      files.push_back(std::move(*file));
    }
    if (!files[entry->second]->find(tensor))
      return failure("{0}: says that {1} holds {2}, which it does not", index,
                     name, StringRef(tensor));
    places[tensor] = entry->second;
  }
  return Error::success();
}

TensorPlace ModelFiles::find(StringRef tensor) const {
  auto found = places.find(tensor);
  if (found == places.end())
    return {};
  const SafetensorsFile *file = files[found->second].get();
  return {file, file->find(tensor)};
}

std::string ModelFiles::mark(function_ref<void()> onBlock) const {
  std::vector<std::string> marks;
  marks.reserve(files.size());
  for (const auto &file : files)
    marks.push_back(contentMark(file->path(), onBlock));
  return join(marks, ",");
}

std::vector<TensorPlace> ModelFiles::tensors() const {
  std::vector<TensorPlace> result;
  for (const auto &file : files)
    for (const TensorInfo &tensor : file->tensors())
      result.push_back({file.get(), &tensor});
  return result;
}

} // namespace colrow::runtime
