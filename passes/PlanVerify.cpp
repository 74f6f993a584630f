// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan-verify: the runtime's checker on the tables that the module becomes.

#include "colrow/Plan/Tables.h"
#include "colrow/passes/Passes.h"
#include "colrow/runtime/Plan/CheckPlan.h"

namespace colrow::passes {
#define GEN_PASS_DEF_PLANVERIFY
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

namespace {
struct PlanVerifyPass : passes::impl::PlanVerifyBase<PlanVerifyPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    const auto &plan = getAnalysis<planir::PackedPlan>();
    if (!plan.isValid())
      return signalPassFailure();
    auto fault = runtime::checkPlanTables(plan.getTables());
    if (!fault)
      return;
    signalPassFailure();
    if (fault->program < 0)
      getOperation().emitError("plan-verify: ") << fault->message;
    else
      plan.getOp(fault->program, fault->instruction)->emitOpError()
          << fault->message;
  }
};
} // namespace
