// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes and the pipeline that tools run.

#ifndef COLROW_PASSES_PASSES_H
#define COLROW_PASSES_PASSES_H

#include "colrow/dialects/Plan/Plan.h"
#include "colrow/dialects/TP/Step.h"
#include "colrow/dialects/TP/TP.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace colrow::passes {

#define GEN_PASS_DECL
#include "colrow/passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "colrow/passes/Passes.h.inc"

/// Options of `tp-step`, the pipeline from a graph to a step: those of the
/// passes under the same names.
struct StepPipelineOptions : mlir::PassPipelineOptions<StepPipelineOptions> {
  Option<std::string> mesh{*this, "mesh", llvm::cl::desc("Mesh, as in tp=4"),
                           llvm::cl::init(ShardOptions().mesh)};
  Option<std::string> topology{
      *this, "topology",
      llvm::cl::desc("Topology file; without one the stated defaults")};
  ListOption<std::string> pins{
      *this, "pin",
      llvm::cl::desc("PARAM=DIM:AXIS: store a parameter split on a dimension")};
  Option<std::string> dtype{
      *this, "dtype", llvm::cl::desc("f32, or bf16 where the model allows it"),
      llvm::cl::init("f32")};
  Option<std::string> gradReduce{
      *this, "grad-reduce",
      llvm::cl::desc("f32, or bf16 for gradients of bf16 parameters that are "
                     "summed over ranks"),
      llvm::cl::init(MixedPrecisionOptions().gradReduce)};
  Option<double> beta1{*this, "beta1",
                       llvm::cl::desc("Decay of the first moment"),
                       llvm::cl::init(OptimizeOptions().beta1)};
  Option<double> beta2{*this, "beta2",
                       llvm::cl::desc("Decay of the second moment"),
                       llvm::cl::init(OptimizeOptions().beta2)};
  Option<double> eps{*this, "eps", llvm::cl::desc("Added to the denominator"),
                     llvm::cl::init(OptimizeOptions().eps)};
  Option<double> weightDecay{
      *this, "weight-decay",
      llvm::cl::desc("Decoupled decay of parameters of rank 2 and more"),
      llvm::cl::init(OptimizeOptions().weightDecay)};
  Option<double> clipGradNorm{
      *this, "clip-grad-norm",
      llvm::cl::desc("Largest gradient norm; 0: no clipping"),
      llvm::cl::init(OptimizeOptions().clipGradNorm)};
  Option<bool> keepGradients{*this, "keep-gradients",
                             llvm::cl::desc("Keep the gradients' tp.output"),
                             llvm::cl::init(OptimizeOptions().keepGradients)};
};

/// Options of `tp-to-plan`, the pipeline from a step to a plan.
struct ToPlanPipelineOptions
    : mlir::PassPipelineOptions<ToPlanPipelineOptions> {
  Option<std::string> output{
      *this, "output",
      llvm::cl::desc("The plan file; without one the plan stays a module")};
};

/// plan-write that hands the file's table over instead of writing it.
std::unique_ptr<mlir::Pass> createPlanWrite(std::vector<uint8_t> &table);

/// From an imported graph to a step. Each phase ends in its verifier.
void buildStepPipeline(mlir::OpPassManager &manager,
                       const StepPipelineOptions &options);

/// From a step, by local ops, to a verified plan, and to the plan file that the
/// options name.
void buildToPlanPipeline(mlir::OpPassManager &manager,
                         const ToPlanPipelineOptions &options);

/// Makes both known to tp-opt.
void registerColrowPipelines();

/// The functions of a module, each of which becomes a program.
struct StepFunctions {
  mlir::func::FuncOp trained; ///< null if all are forward only
  /// The trained one, then the others in their order.
  llvm::SmallVector<mlir::func::FuncOp, 2> all;
};

/// The functions of a module, or an error: if it has none, a private one, or
/// two that are trained. Their blocks are the phases that they have so far.
llvm::FailureOr<StepFunctions> getStepFunctions(mlir::ModuleOp module);

/// The same before tp-differentiate, while all have a forward only: an error if
/// one has other phases.
llvm::FailureOr<StepFunctions> getForwardFunctions(mlir::ModuleOp module);

/// Makes each result of a forward a tp.output under its role, or result0,
/// result1, ...; what leaves for a value is `leaving` of it.
void leaveResults(mlir::func::FuncOp step,
                  llvm::function_ref<mlir::Value(mlir::Value)> leaving);

/// Erases ops whose results nothing reads, from the last to the first.
void eraseUnread(mlir::func::FuncOp step);

} // namespace colrow::passes

#endif // COLROW_PASSES_PASSES_H
