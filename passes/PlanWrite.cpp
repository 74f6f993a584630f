// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan-write: the plan file.

#include "colrow/Plan/Tables.h"
#include "colrow/passes/Passes.h"
#include "colrow/runtime/Plan/PlanFile.h"

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
    if (llvm::Error error = runtime::writePlanFile(output, plan.getBytes())) {
      getOperation().emitError("plan-write: ")
          << llvm::toString(std::move(error));
      signalPassFailure();
    }
  }

  std::vector<uint8_t> *receiver = nullptr;
};
} // namespace

std::unique_ptr<Pass> passes::createPlanWrite(std::vector<uint8_t> &table) {
  return std::make_unique<PlanWritePass>(table);
}
