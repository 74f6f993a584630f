// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-translate: plan files as IR, and IR as plan files.

#include "colrow/Plan/Translation.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  colrow::planir::registerPlanTranslations();
  return mlir::failed(mlir::mlirTranslateMain(
      argc, argv, "Colrow's translations of plan files\n"));
}
