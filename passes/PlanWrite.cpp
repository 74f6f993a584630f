// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan-write: the plan file.

#include "colrow/Plan/Tables.h"
#include "colrow/passes/Passes.h"
#include "colrow/runtime/Plan/PlanFile.h"
#include "colrow/runtime/Support/FileIdentity.h"

namespace colrow::passes {
#define GEN_PASS_DEF_PLANWRITE
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

namespace {
struct PlanWritePass : passes::impl::PlanWriteBase<PlanWritePass> {
  using PlanWriteBase::PlanWriteBase;
  explicit PlanWritePass(std::vector<uint8_t> &table) : receiver(&table) {}

  void runOnOperation() override {
    markAllAnalysesPreserved();
    const auto &plan = getAnalysis<planir::PackedPlan>();
    if (!plan.isValid())
      return signalPassFailure();
    if (receiver) {
      receiver->assign(plan.getBytes().begin(), plan.getBytes().end());
      return;
    }
    if (llvm::Error error = write(plan.getBytes())) {
      getOperation().emitError("plan-write: ")
          << llvm::toString(std::move(error));
      signalPassFailure();
    }
  }

  /// The file that the module comes from is not overwritten.
  llvm::Error write(ArrayRef<uint8_t> table) {
    auto source = getOperation().getLoc()->findInstanceOf<FileLineColLoc>();
    if (source)
      if (llvm::Error error = runtime::refuseOverwriting(
              "output", output, {{"the module", source.getFilename().str()}}))
        return error;
    return runtime::writePlanFile(output, table);
  }

  std::vector<uint8_t> *receiver = nullptr;
};
} // namespace

std::unique_ptr<Pass> passes::createPlanWrite(std::vector<uint8_t> &table) {
  return std::make_unique<PlanWritePass>(table);
}
