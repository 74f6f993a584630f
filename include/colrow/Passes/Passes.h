// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes and the pipeline that tools run.

#ifndef COLROW_PASSES_PASSES_H
#define COLROW_PASSES_PASSES_H

#include "colrow/Plan/Plan.h"
#include "colrow/TP/Step.h"
#include "colrow/TP/TP.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace colrow::passes {

#define GEN_PASS_DECL
#include "colrow/Passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "colrow/Passes/Passes.h.inc"

/// What `tp-compile` asks for, phase by phase.
struct PipelineOptions {
  std::string mesh = "tp=1";
  std::string topology;
  llvm::SmallVector<std::string> pins;
  OptimizeOptions optimizer;
  std::vector<uint8_t> *table = nullptr; ///< receives the plan file's table
};

/// plan-write that hands the file's table over instead of writing it.
std::unique_ptr<mlir::Pass> createPlanWrite(std::vector<uint8_t> &table);

/// From an imported graph to the plan file's table: graph, step, local, plan.
/// Each phase ends in its verifier.
void buildPipeline(mlir::OpPassManager &manager,
                   const PipelineOptions &options);

/// The step function of a module, or an error if there is not exactly one. Its
/// blocks are the phases that it has so far.
llvm::FailureOr<mlir::func::FuncOp> getStepFunction(mlir::ModuleOp module);

/// The same before tp-differentiate, while it is forward only: an error if it
/// has other phases.
llvm::FailureOr<mlir::func::FuncOp> getForwardFunction(mlir::ModuleOp module);

/// Erases ops whose results nothing reads, from the last to the first.
void eraseUnread(mlir::func::FuncOp step);

} // namespace colrow::passes

#endif // COLROW_PASSES_PASSES_H
