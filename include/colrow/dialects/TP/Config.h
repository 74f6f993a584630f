// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model's config.json in a module, as a resource: it is printed at the end
// of the file, out of the way of the ops.

#ifndef COLROW_DIALECTS_TP_CONFIG_H
#define COLROW_DIALECTS_TP_CONFIG_H

#include "mlir/IR/BuiltinOps.h"

namespace colrow::tp {

/// Keeps `text`, the whole config.json, in the module attribute `tp.config`.
void setConfig(mlir::ModuleOp module, llvm::StringRef text);

/// The text that setConfig() kept, or that a string attribute `tp.config`
/// holds; empty without one. Lives as long as the module's context.
llvm::StringRef getConfig(mlir::ModuleOp module);

} // namespace colrow::tp

#endif // COLROW_DIALECTS_TP_CONFIG_H
