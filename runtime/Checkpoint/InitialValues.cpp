// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of parameters by their init rule. Each rank fills its own blocks on
// its own thread, so its memory is near it.

#include "ParameterBlock.h"
#include "WholeTensor.h"
#include "colrow/runtime/Checkpoint/Init.h"

using namespace llvm;

namespace colrow::runtime {

/// Elements between two signs of progress.
static constexpr int64_t initialized = 1 << 20;

void initializeParameters(Executor &executor, uint64_t seed,
                          bool onlyWithoutSources) {
  const plan::Plan &plan = executor.plan();
  if (!plan.parameters())
    return;
  executor.onRanks([&](unsigned rank) {
    for (const plan::Parameter *parameter : *plan.parameters()) {
      const plan::Parameter &value = valueOf(plan, *parameter);
      if (onlyWithoutSources && hasSources(value))
        continue;
      ParameterBlock block(executor, rank, *parameter);
      block.clear();
      executor.job().progress();
      block.blocks().forEachRun([&](int64_t local, int64_t whole,
                                    int64_t count) {
        for (int64_t at = 0; at < count; at += initialized) {
          int64_t part = std::min(initialized, count - at);
          block.set(local + at, part, [&](int64_t done, int64_t n, float *out) {
            initialValues(value.init(), seed, value.id(), whole + at + done, n,
                          out);
          });
          if (part == initialized)
            executor.job().progress();
        }
      });
    }
  });
}

} // namespace colrow::runtime
