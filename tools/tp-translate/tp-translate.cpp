// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-translate: plan files as IR, and IR as plan files.

#include "colrow/Plan/Translation.h"
#include "colrow/runtime/Support/FileIdentity.h"
#include "colrow/runtime/Support/ProgramEnd.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  colrow::runtime::guardProgramEnd("tp-translate");
  if (llvm::Error error = colrow::runtime::refuseOverwriting(
          llvm::ArrayRef<const char *>(argv, argc))) {
    llvm::errs() << "tp-translate: error: " << llvm::toString(std::move(error))
                 << '\n';
    return 1;
  }
  colrow::planir::registerPlanTranslations();
  return mlir::failed(mlir::mlirTranslateMain(
      argc, argv, "Colrow's translations of plan files\n"));
}
