// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model types that can be imported. A new one is a file that defines a
// ModelType, and a line in Models.cpp (docs/import.md).

#ifndef COLROW_LIB_IMPORT_MODELS_H
#define COLROW_LIB_IMPORT_MODELS_H

#include "ConfigReader.h"
#include "GraphBuilder.h"
#include <memory>

namespace colrow::import {

/// A model's config, read and checked; it can build the model's graph.
class Model {
public:
  virtual ~Model() = default;
  virtual int64_t vocab() const = 0;
  /// The longest sequence that the model defines, nullopt: any.
  virtual std::optional<int64_t> maxSeq() const { return std::nullopt; }
  /// Elements a token of the widest activation.
  virtual int64_t widest() const = 0;
  virtual bool tiesEmbeddings() const = 0;
  /// Builds the ops up to the logits [batch, seq, vocab].
  virtual mlir::Value build(GraphBuilder &graph) const = 0;
};

struct ModelType {
  llvm::StringLiteral name;         ///< "model_type" in the config
  llvm::StringLiteral architecture; ///< the class that computes this graph
  /// Prefix of all names but the head's. Checkpoints of the base class lack
  /// it; a file that has `embedding` without it is one of them.
  llvm::StringLiteral prefix;
  llvm::StringLiteral embedding; ///< the embedding's name, without prefix
  /// Ends of names of tensors that are saved but are no parameters.
  llvm::ArrayRef<llvm::StringLiteral> buffers;
  /// Reads the config's fields; an error is kept in `config`.
  std::unique_ptr<Model> (*read)(ConfigReader &config,
                                 llvm::raw_ostream &warnings);
};

extern const ModelType gpt2;
extern const ModelType llama;

/// Null when the type is not known.
const ModelType *findModelType(llvm::StringRef name);
/// "gpt2, llama".
std::string knownModelTypes();

/// Reads the name of an element-wise function.
Activation readActivation(ConfigReader &config, llvm::StringRef field,
                          llvm::StringRef fallback);
/// Checks that the config is for the class that computes the graph.
void checkArchitecture(ConfigReader &config, const ModelType &type);
/// Refuses fields whose product exceeds maxSize.
void checkProduct(ConfigReader &config, llvm::StringRef a, int64_t aSize,
                  llvm::StringRef b, int64_t bSize);

} // namespace colrow::import

#endif // COLROW_LIB_IMPORT_MODELS_H
