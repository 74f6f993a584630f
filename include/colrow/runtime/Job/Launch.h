// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How this process was started: by itself, or as one of the processes of a job
// by a launcher, which says so in the environment.

#ifndef COLROW_RUNTIME_JOB_LAUNCH_H
#define COLROW_RUNTIME_JOB_LAUNCH_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace colrow::runtime {

enum class LauncherKind {
  threads,     // one process; ranks are threads
  own,         // tp-run -n
  openmpi,     // mpirun of Open MPI
  mpich,       // mpiexec of MPICH and its kin (PMI)
  mvapich,     // mpirun of MVAPICH2
  pmix,        // srun --mpi=pmix: Open MPI
  pmi2,        // srun --mpi=pmi2: MPICH and its kin
  srun,        // srun --mpi=none
  torchrun,    // torchrun
  environment, // RANK and WORLD_SIZE by hand
};

/// The name that --launcher takes.
llvm::StringRef nameOf(LauncherKind kind);

/// Most processes of a job.
constexpr unsigned maxProcesses = 4096;

struct LaunchInfo {
  LauncherKind kind = LauncherKind::threads;
  unsigned process = 0, processes = 1;
  /// Counted within its machine, where the launcher says it.
  std::optional<unsigned> localProcess;
  /// Where process 0 listens; empty and 0 where the processes are connected
  /// already (own), or learn it through MPI.
  std::string host;
  uint16_t port = 0;
  /// Of tp-run -n: this process' ends of the sockets between process 0 and each
  /// other one: processes - 1 of them in process 0, in order; one elsewhere.
  std::vector<int> controlFds;
  /// Of tp-run -n: see LastWord.h; -1: none.
  int lastWordFd = -1;
  /// What the launcher calls this run, to tell it from others of the same plan;
  /// empty where it does not.
  std::string run;

  bool hasRendezvous() const { return port != 0; }
  /// Started so that an MPI's processes find each other: by its own launcher,
  /// or by srun.
  bool isMpi() const {
    return kind == LauncherKind::openmpi || kind == LauncherKind::mpich ||
           kind == LauncherKind::mvapich || kind == LauncherKind::pmix ||
           kind == LauncherKind::pmi2;
  }
};

/// A variable's value, nothing when it is not set.
using EnvironmentLookup =
    llvm::function_ref<std::optional<std::string>(llvm::StringRef)>;

/// That of this process.
std::optional<std::string> environmentOf(llvm::StringRef name);

/// Asks in this order: `launcher` (the option; empty: any), tp-run's own
/// variables, those of MPI launchers (srun's where it starts an MPI), RANK and
/// WORLD_SIZE, those of a step of srun. One process is `threads`, whoever
/// started it. `rendezvous`: HOST:PORT or [IPV6]:PORT, in place of what the
/// environment says; may be empty. Errors name the variable or option.
llvm::Expected<LaunchInfo> recognise(llvm::StringRef launcher,
                                     llvm::StringRef rendezvous,
                                     EnvironmentLookup lookup);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_LAUNCH_H
