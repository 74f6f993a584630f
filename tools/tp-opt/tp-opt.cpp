// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-opt: runs passes on .mlir files and prints the result.

#include "colrow/passes/Passes.h"
#include "colrow/runtime/Support/FileIdentity.h"
#include "colrow/runtime/Support/ProgramEnd.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"

/// Values that come from a model are printed with its names; the option of MLIR
/// that turns this off is --mlir-use-nameloc-as-prefix=false.
static void printModelNames() {
  mlir::registerAsmPrinterCLOptions();
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find("mlir-use-nameloc-as-prefix");
  if (found != options.end())
    static_cast<llvm::cl::opt<bool> *>(found->second)->setInitialValue(true);
}

int main(int argc, char **argv) {
  colrow::runtime::guardProgramEnd("tp-opt");
  if (llvm::Error error = colrow::runtime::refuseOverwriting(
          llvm::ArrayRef<const char *>(argv, argc))) {
    llvm::errs() << "tp-opt: error: " << llvm::toString(std::move(error))
                 << '\n';
    return 1;
  }
  printModelNames();
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, colrow::tp::TPDialect,
                  colrow::planir::PlanDialect>();
  colrow::passes::registerColrowPasses();
  colrow::passes::registerColrowPipelines();
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Colrow's pass driver\n", registry));
}
