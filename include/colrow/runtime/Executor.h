// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a plan on the ranks of one process, a thread a rank. All decisions are
// made when the plan is loaded: a step looks nothing up and allocates nothing.

#ifndef COLROW_RUNTIME_EXECUTOR_H
#define COLROW_RUNTIME_EXECUTOR_H

#include "colrow/runtime/Mesh.h"
#include "colrow/runtime/PlanFile.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <optional>
#include <vector>

namespace colrow::runtime {

struct ExecutorOptions {
  /// Record when each instruction starts and ends, see Executor::events().
  bool trace = false;
};

/// What the host sets before a step; see ScalarBlock in plan.fbs.
struct StepInputs {
  float learningRate = 0;
  int64_t seed = 0;
  int64_t step = 1; // from 1
};

/// What a step leaves, read on rank 0.
struct StepResult {
  float loss = 0;
  float gradNorm = 0; // 0 when the plan has none
  /// What the loss is the mean of: valid labels. Nothing when the plan does not
  /// count them.
  std::optional<float> labels;
};

struct TraceEvent {
  uint32_t instruction;
  int64_t begin, end; // nanoseconds of the steady clock
};

class Executor {
public:
  static constexpr unsigned maxRanks = 1024;

  /// `plan` must outlive the executor. Errors: more ranks than that, kernels
  /// that cannot be loaded or are missing, not enough memory.
  static llvm::Expected<std::unique_ptr<Executor>>
  create(const plan::Plan &plan, const ExecutorOptions &options = {});
  ~Executor();

  const plan::Plan &plan() const;
  const Mesh &mesh() const;

  /// Start of a rank's persistent region, 64-byte aligned, zero at first.
  char *persistent(unsigned rank);
  /// The batch, shared by all ranks: see inputIdsOffset, inputLabelsOffset.
  char *input();
  /// Resolves an operand that stands outside all loops.
  char *address(unsigned rank, const plan::Operand &operand);

  /// Calls f(rank) for every rank at once, each on its own thread; rank 0 on
  /// the caller's. Returns when all have.
  void onRanks(llvm::function_ref<void(unsigned)> f);

  /// Runs one step on all ranks.
  StepResult runStep(const StepInputs &inputs);

  /// Events of a rank since the start, oldest first. At most maxTraceEvents.
  llvm::ArrayRef<TraceEvent> events(unsigned rank) const;
  static constexpr size_t maxTraceEvents = size_t(1) << 20;

private:
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_EXECUTOR_H
