// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every verb starts with: the processes of the run, a plan and ranks to
// run it, and inputs.

#ifndef COLROW_TOOLS_TPRUN_SESSION_H
#define COLROW_TOOLS_TPRUN_SESSION_H

#include "Options.h"
#include "Processes.h"
#include "colrow/runtime/Core/Executor.h"
#include "colrow/runtime/Data/InputData.h"

namespace colrow::tprun {

struct Session {
  runtime::LoadedPlan plan;
  std::unique_ptr<runtime::Executor> executor;

  /// Errors: the plan is none, or for other ranks or another machine.
  static llvm::Expected<Session> start(const RunOptions &options,
                                       Processes &processes, bool trace);
  /// The program called `name`, errors with the plan's file.
  llvm::Expected<runtime::LoadedProgram *> open(const RunOptions &options,
                                                llvm::StringRef name);
};

/// Hands a program its inputs.
class Feed {
public:
  /// All of them come from `data`.
  Feed(runtime::Executor &executor, runtime::LoadedProgram &program,
       std::unique_ptr<runtime::InputData> data);

  /// Reads and deals out the inputs of `step`. Error: also when other processes
  /// have others.
  llvm::Error set(int64_t step);

private:
  runtime::Executor &executor;
  runtime::LoadedProgram &program;
  std::unique_ptr<runtime::InputData> data;
  std::vector<std::vector<char>> values; // whole, one an input
};

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_SESSION_H
