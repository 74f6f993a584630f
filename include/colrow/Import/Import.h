// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a Hugging Face model folder to a graph of tp ops (docs/import.md).

#ifndef COLROW_IMPORT_IMPORT_H
#define COLROW_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace colrow::import {

struct ImportOptions {
  /// A model folder, or a config.json alone: then nothing is checked against
  /// weights, and the graph is for random initial values.
  std::string path;
  int64_t batch = 0; ///< sequences of the global batch
  int64_t seq = 0;   ///< tokens a sequence that the model reads
  /// Receives a line for each config field that is not known.
  llvm::raw_ostream *warnings = &llvm::errs();
};

/// Builds the graph of a training step's forward pass: a module with the
/// parameters as symbols and one function
///   @main(ids [batch, seq], labels [batch, seq + 1])
///     -> (loss [], logits [batch, seq, vocab])
/// whose arguments and results carry `tp.role`. The loss is the mean over the
/// labels that are not -100; the logits at position i predict label i + 1.
///
/// Weights are read by their headers only. Errors are one line that names the
/// file, the field or tensor, what was found and what would work. Loads the
/// dialects it needs into `context`.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext &context, const ImportOptions &options);

} // namespace colrow::import

#endif // COLROW_IMPORT_IMPORT_H
