// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensors of a Hugging Face model folder: model.safetensors, or shards
// listed by model.safetensors.index.json.

#ifndef COLROW_RUNTIME_CHECKPOINT_MODELFILES_H
#define COLROW_RUNTIME_CHECKPOINT_MODELFILES_H

#include "colrow/runtime/Checkpoint/Safetensors.h"

namespace colrow::runtime {

/// A tensor and the file it stands in.
struct TensorPlace {
  const SafetensorsFile *file = nullptr;
  const TensorInfo *info = nullptr;
  explicit operator bool() const { return info; }
};

class ModelFiles {
public:
  /// Opens the folder's files, headers only. Errors: no weights there, a shard
  /// missing, a tensor that the index promises missing.
  static llvm::Expected<ModelFiles> open(llvm::StringRef folder);
  /// A single file.
  static llvm::Expected<ModelFiles> openFile(llvm::StringRef path);

  /// What the files are called in errors: the folder or file given to open.
  llvm::StringRef name() const { return title; }
  /// The contentMark() of all files, to tell other weights by. `onBlock`: see
  /// there.
  std::string mark(llvm::function_ref<void()> onBlock) const;
  /// Empty when no file has the tensor.
  TensorPlace find(llvm::StringRef tensor) const;
  /// All tensors, file after file.
  std::vector<TensorPlace> tensors() const;

private:
  llvm::Error openShards(llvm::StringRef folder, llvm::StringRef index);

  std::string title;
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  llvm::StringMap<unsigned> places; // tensor to file
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_MODELFILES_H
