// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-opt: runs passes on .mlir files and prints the result.

#include "colrow/Passes/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, colrow::tp::TPDialect>();
  colrow::passes::registerColrowPasses();
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Colrow's pass driver\n", registry));
}
