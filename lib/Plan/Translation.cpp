// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan-to-mlir, mlir-to-plan.

#include "colrow/Plan/Translation.h"
#include "colrow/Plan/Tables.h"
#include "colrow/dialects/Plan/Plan.h"
#include "colrow/dialects/TP/TP.h"
#include "colrow/runtime/Plan/PlanFile.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace colrow;

/// What tp-run would refuse is refused here, in the same words.
static OwningOpRef<Operation *> readPlan(llvm::SourceMgr &source,
                                         MLIRContext *context) {
  const llvm::MemoryBuffer *file =
      source.getMemoryBuffer(source.getMainFileID());
  auto loaded = runtime::readPlanBuffer(
      file->getBufferIdentifier(),
      llvm::arrayRefFromStringRef<uint8_t>(file->getBuffer()));
  if (!loaded) {
    emitError(UnknownLoc::get(context)) << llvm::toString(loaded.takeError());
    return nullptr;
  }
  std::unique_ptr<plan::PlanT> tables(loaded->get().UnPack());
  return planir::fromTables(*tables, context);
}

/// Only translates: tp-run and plan-verify say what is wrong with a plan.
static LogicalResult writePlan(ModuleOp module, raw_ostream &os) {
  planir::PackedPlan plan(module);
  if (!plan.isValid())
    return failure();
  std::array<uint8_t, 32> header = runtime::planFileHeader(plan.getBytes());
  os << llvm::toStringRef(header) << llvm::toStringRef(plan.getBytes());
  return success();
}

void planir::registerPlanTranslations() {
  auto dialects = [](DialectRegistry &registry) {
    registry.insert<tp::TPDialect, PlanDialect>();
  };
  static TranslateToMLIRRegistration read(
      "plan-to-mlir", "show a plan file as plan IR",
      TranslateRawSourceMgrToMLIRFunction(readPlan), dialects);
  static TranslateFromMLIRRegistration write(
      "mlir-to-plan", "write placed plan IR as a plan file, unverified",
      writePlan, dialects);
}
