// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-lsp-server: the language server for .mlir files of Colrow's dialects.

#include "colrow/passes/Passes.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, colrow::tp::TPDialect,
                  colrow::planir::PlanDialect>();
  return llvm::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
