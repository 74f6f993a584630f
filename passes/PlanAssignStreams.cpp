// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan-assign-streams: on a CPU everything runs on one stream.

#include "colrow/dialects/Plan/Plan.h"
#include "colrow/passes/Passes.h"

namespace colrow::passes {
#define GEN_PASS_DEF_PLANASSIGNSTREAMS
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

namespace {
struct PlanAssignStreamsPass
    : passes::impl::PlanAssignStreamsBase<PlanAssignStreamsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> events;
    getOperation()->walk([&](planir::PlanInstructionOpInterface op) {
      op.setStream(0);
      if (isa<planir::RecordOp, planir::WaitOp>(op))
        events.push_back(op);
    });
    // Order alone says who waits for whom.
    for (Operation *op : events)
      op->erase();
  }
};
} // namespace
