// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipeline from a graph to a plan, phase by phase.

#include "colrow/Passes/Passes.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

static void verifyPhase(OpPassManager &manager, StringRef phase) {
  VerifyPhaseOptions options;
  options.phase = phase.str();
  manager.addPass(createVerifyPhase(options));
}

/// [graph] to [step]: layouts, changes of layout, gradients, optimizer.
static void buildStep(OpPassManager &manager, const PipelineOptions &options) {
  // What the tools hand over is checked before anything is decided.
  verifyPhase(manager, "graph");
  // On whole shapes one sees what the inputs' integers index.
  manager.addPass(createCompleteInputs());
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
  manager.addPass(createOptimize(options.optimizer));
  verifyPhase(manager, "step");
}

/// [local] to the table of a plan file.
static void buildPlan(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createLowerToPlan());
  // Here a target with a library for attention would keep it.
  manager.addPass(createPlanExpandAttention());
  // Streams decide which buffers live at once.
  manager.addPass(createPlanAssignStreams());
  manager.addPass(createPlanPlace());
  manager.addPass(createPlanCompileKernels());
  // What is written is what was verified.
  manager.addPass(createPlanVerify());
  manager.addPass(createPlanWrite(*options.table));
}

void passes::buildPipeline(OpPassManager &manager,
                           const PipelineOptions &options) {
  buildStep(manager, options);
  // One program for all ranks, on local shapes.
  manager.addPass(createPartition());
  verifyPhase(manager, "local");
  // What was minimised is what the step does, or the layouts mean nothing.
  manager.addPass(createCount());
  // Kernels are chosen on local shapes, which decide what fits together.
  manager.addPass(createFuse());
  verifyPhase(manager, "local");
  buildPlan(manager, options);
}
