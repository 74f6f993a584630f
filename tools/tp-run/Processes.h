// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processes of a run: started by tp-run itself, or by a launcher.

#ifndef COLROW_TOOLS_TPRUN_PROCESSES_H
#define COLROW_TOOLS_TPRUN_PROCESSES_H

#include "Options.h"
#include "colrow/runtime/Core/Monitor.h"
#include "colrow/runtime/Job/Job.h"
#include "colrow/runtime/Job/Launch.h"
#include "colrow/runtime/MPI/MpiNetwork.h"

namespace colrow::tprun {

/// This process among the others of its run.
class Processes {
public:
  /// Meets the others. Error: they cannot be met, or are not to be.
  static llvm::Expected<Processes> join(const runtime::LaunchInfo &launch,
                                        const RunOptions &options);

  runtime::Job &job() { return *jobOfAll; }
  /// Null in a run of one process.
  runtime::Monitor *monitor() { return watcher; }

  /// Null where MPI's launcher has not started the run.
  runtime::Network *network() { return mpi.get(); }

  /// Whether this process is the one to print why the run has failed. To be
  /// asked before leave().
  bool mayTell();

  /// The end of all processes, whether the run has failed or not.
  void leave();

private:
  std::unique_ptr<runtime::MpiNetwork> mpi;
  runtime::Monitor *watcher = nullptr; // owned by the job
  std::unique_ptr<runtime::Job> jobOfAll;
};

/// Whether this process is to start others: -n asks for them, and it is none
/// itself.
bool isLauncher(const runtime::LaunchInfo &launch,
                const ProcessOptions &options);

/// Starts `processes` copies of this program with the same arguments, connected
/// with each other, and waits for them. They end when this one does. Returns
/// the exit status: 0 when all end with it.
int launchProcesses(unsigned processes, char **argv,
                    const ProcessOptions &options);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_PROCESSES_H
