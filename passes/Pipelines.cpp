// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipeline from a graph to a plan, phase by phase.

#include "colrow/passes/Passes.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

static void verifyPhase(OpPassManager &manager, StringRef phase) {
  VerifyPhaseOptions options;
  options.phase = phase.str();
  manager.addPass(createVerifyPhase(options));
}

void passes::buildStepPipeline(OpPassManager &manager,
                               const StepPipelineOptions &options) {
  // What the tools hand over is checked before anything is decided.
  verifyPhase(manager, "graph");
  // On whole shapes one sees what the inputs' integers index.
  manager.addPass(createCompleteInputs());
  // Layouts are chosen by bytes and times, which types decide.
  if (options.dtype != "f32" || options.gradReduce != "f32")
    manager.addPass(createMixedPrecision({options.dtype, options.gradReduce}));
  // Every later pass obeys the layouts chosen here.
  ShardOptions shard;
  shard.mesh = options.mesh;
  shard.topology = options.topology;
  shard.pins.assign(options.pins.begin(), options.pins.end());
  manager.addPass(createShard(std::move(shard)));
  verifyPhase(manager, "sharded");
  // f and g must stand in the graph before it is differentiated: their
  // conjugates are the backward's collectives.
  manager.addPass(createInsertConjugates());
  verifyPhase(manager, "step");
  manager.addPass(createDifferentiate());
  // The norm needs all gradients in their final states.
  manager.addPass(createOptimize({options.beta1, options.beta2, options.eps,
                                  options.weightDecay, options.clipGradNorm,
                                  options.keepGradients}));
  verifyPhase(manager, "step");
}

void passes::buildToPlanPipeline(OpPassManager &manager,
                                 const ToPlanPipelineOptions &options) {
  // One program for all ranks, on local shapes.
  manager.addPass(createPartition());
  verifyPhase(manager, "local");
  // Kernels are chosen on local shapes, which decide what fits together.
  manager.addPass(createFuse());
  verifyPhase(manager, "fused");
  // What was minimised is what the step does, or the layouts mean nothing.
  manager.addPass(createCount());
  manager.addPass(createLowerToPlan());
  // Here a target with a library for attention would keep it.
  manager.addPass(createPlanExpandAttention());
  // Streams decide which buffers live at once.
  manager.addPass(createPlanAssignStreams());
  manager.addPass(createPlanPlace());
  manager.addPass(createPlanCompileKernels());
  // What is written is what was verified.
  manager.addPass(createPlanVerify());
  if (!options.output.empty())
    manager.addPass(createPlanWrite({options.output}));
}

void passes::registerColrowPipelines() {
  PassPipelineRegistration<StepPipelineOptions>(
      "tp-step", "from a graph to a step with backward and optimizer",
      buildStepPipeline);
  PassPipelineRegistration<ToPlanPipelineOptions>(
      "tp-to-plan", "from a step to a verified plan", buildToPlanPipeline);
}
