// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the parameters of a graph with the tensors of a model folder.

#ifndef COLROW_LIB_IMPORT_WEIGHTS_H
#define COLROW_LIB_IMPORT_WEIGHTS_H

#include "Models.h"
#include "colrow/runtime/Checkpoint/ModelFiles.h"

namespace colrow::import {

/// What the names in `files` lack in front of the type's own: "" or its
/// prefix.
std::string findDroppedPrefix(const ModelType &type,
                              const runtime::ModelFiles &files);

/// Every source must be there with its shape in a type that can be read, and
/// every tensor must be some parameter's source, a known buffer, or the copy
/// of a tied embedding.
llvm::Error checkWeights(mlir::ModuleOp module, const ModelType &type,
                         bool tiesEmbeddings, const runtime::ModelFiles &files);

} // namespace colrow::import

#endif // COLROW_LIB_IMPORT_WEIGHTS_H
