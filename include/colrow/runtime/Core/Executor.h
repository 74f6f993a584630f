// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a plan on this process' ranks, a thread a rank; the job's other
// processes run the others. All decisions are made when a program is opened:
// running it looks nothing up and allocates nothing.

#ifndef COLROW_RUNTIME_CORE_EXECUTOR_H
#define COLROW_RUNTIME_CORE_EXECUTOR_H

#include "colrow/runtime/Core/Device.h"
#include "colrow/runtime/Core/Monitor.h"
#include "colrow/runtime/Job/Job.h"
#include "colrow/runtime/MPI/NetworkTransport.h"
#include "colrow/runtime/Plan/Mesh.h"
#include "colrow/runtime/Plan/PlanFile.h"
#include "colrow/runtime/Plan/Programs.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <optional>
#include <vector>

namespace colrow::runtime {

struct ExecutorOptions {
  /// Record when each instruction starts and ends, see Executor::events().
  bool trace = false;
  /// The processes that run the plan, whose executors are created at once;
  /// null: this one alone. Must outlive the executor.
  Job *job = nullptr;
  /// Is told of the ranks as long as the executor exists; null: nobody.
  Monitor *monitor = nullptr;
  /// Carries data between machines; null: all ranks must be of one. Must
  /// outlive the executor.
  Network *network = nullptr;
  NetworkOptions networkOptions;
};

/// What the host sets before a program runs; see ScalarBlock.
struct StepInputs {
  float learningRate = 0;
  int64_t seed = 0;
  int64_t step = 1; // from 1
};

/// What a program leaves in the outputs with these roles on the ranks of this
/// process.
struct StepResult {
  std::optional<float> loss;
  std::optional<float> gradNorm;
  /// What the loss is the mean of: valid labels. Nothing when the program does
  /// not count them.
  std::optional<double> labels;
};

/// A program decoded for this process' ranks, see Executor::open().
class LoadedProgram {
public:
  ~LoadedProgram();
  const Programs &tables() const { return programs; }

private:
  friend class Executor;
  explicit LoadedProgram(Programs programs);
  struct Impl;
  Programs programs;
  std::unique_ptr<Impl> impl;
};

class Executor {
public:
  /// Most ranks of a process.
  static constexpr unsigned maxRanks = 1024;

  /// `plan` must outlive the executor. Errors: more ranks than that, or ranks
  /// that the processes cannot share evenly; kernels that cannot be loaded or
  /// are missing, libraries that are not there, not enough memory, threads that
  /// cannot be started.
  static llvm::Expected<std::unique_ptr<Executor>>
  create(const plan::Plan &plan, const ExecutorOptions &options = {});
  ~Executor();

  const plan::Plan &plan() const;
  const Mesh &mesh() const;
  Job &job() const;
  /// The ranks that this process runs. Memory of others cannot be asked for.
  RankRange ranks() const;
  /// The libraries that compute, with the code paths chosen for this CPU: runs
  /// whose lines are equal are equal to the bit. One line, empty for none.
  const std::string &libraries() const;

  /// Start of a rank's persistent region, 64-byte aligned, zero at first.
  char *persistent(unsigned rank);
  /// Start of a rank's inputs: those of the program that was given any last.
  char *input(unsigned rank);
  /// A parameter's block on a rank.
  char *parameter(unsigned rank, const plan::Parameter &parameter);

  /// A program, ready to run; valid as long as the executor. All programs share
  /// the persistent region; scratch and inputs hold what the last one left.
  /// Errors: there is none of this name, a library refuses a matrix product.
  llvm::Expected<LoadedProgram *> open(llvm::StringRef name);

  /// Gives this process' ranks their blocks of `input`, one of
  /// program.tables().inputs(). `whole` is its value, row-major, of its type
  /// and shape. What is padding in a block becomes the input's padding.
  void setInput(LoadedProgram &program, const plan::Input &input,
                const void *whole);

  /// Runs a program on this process' ranks; the other processes do so too.
  StepResult run(LoadedProgram &program, const StepInputs &inputs);

  /// A rank's block of an output of `program`, which this rank has.
  char *output(unsigned rank, const plan::Program &program,
               const plan::Output &output);

  /// Calls f(rank) for every rank of this process at once, each on its own
  /// thread, the first on the caller's. Returns when all have.
  void onRanks(llvm::function_ref<void(unsigned)> f);

  /// Events of a rank since the start, oldest first. At most maxTraceEvents.
  llvm::ArrayRef<TraceEvent> events(unsigned rank) const;
  static constexpr size_t maxTraceEvents = RankProgram::maxTraceEvents;

private:
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_EXECUTOR_H
