// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a sharded graph will cost, predicted before gradients and collectives
// exist: the sums that tp-count finds in the partitioned step.

#ifndef COLROW_PASSES_PREDICTION_H
#define COLROW_PASSES_PREDICTION_H

#include "colrow/Passes/Passes.h"

namespace colrow::passes {

/// Totals of one step on one rank.
struct StepTotals {
  int64_t flops = 0;      ///< of contractions, forward and backward
  int64_t bytes = 0;      ///< sent by this rank in collectives (ring)
  int64_t savedBytes = 0; ///< forward values that the backward reads

  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
};

/// Predicts from layouts and ways on axis `axis`, after tp-shard.
StepTotals predictStep(mlir::ModuleOp module, mlir::func::FuncOp step,
                       unsigned axis);

/// Counts in the output of tp-partition.
StepTotals countStep(mlir::ModuleOp module, mlir::func::FuncOp step);

} // namespace colrow::passes

#endif // COLROW_PASSES_PREDICTION_H
