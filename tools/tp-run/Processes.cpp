// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meeting the other processes, and leaving them.

#include "Processes.h"
#include "colrow/runtime/Job/Connect.h"
#include "colrow/runtime/Job/Rendezvous.h"
#include "colrow/runtime/Job/Token.h"
#include "colrow/runtime/MPI/MpiMeeting.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/LastWord.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

bool isLauncher(const LaunchInfo &launch, const ProcessOptions &options) {
  return options.processes > 1 && launch.kind == LauncherKind::threads &&
         !environmentOf("COLROW_PROCESS");
}

static Error checkCount(const LaunchInfo &launch,
                        const ProcessOptions &options) {
  if (options.processes == 0 || options.processes == launch.processes)
    return Error::success();
  return failure(
      "started by {0} as one of {1} processes, so -n {2} would start "
      "as many for each of them: leave out -n",
      nameOf(launch.kind), launch.processes, options.processes);
}

/// Where nobody says where the processes are to meet, MPI does.
static Expected<std::unique_ptr<StarControl>>
meetByMpi(MpiNetwork &mpi, const LaunchInfo &launch,
          const ConnectOptions &options) {
  JobDescription job{options.plan, "", launch.processes, options.token};
  auto sockets = rendezvousByMpi(mpi, std::move(job), options.trustNetwork,
                                 options.meetSeconds);
  if (!sockets)
    return sockets.takeError();
  return StarControl::create(launch.process, launch.processes,
                             std::move(*sockets), options.limit,
                             options.meetSeconds);
}

static Expected<std::unique_ptr<StarControl>>
meet(const LaunchInfo &launch, const RunOptions &options, MpiNetwork *mpi) {
  ConnectOptions connecting;
  Expected<std::string> token = readToken(environmentOf);
  if (!token)
    return token.takeError();
  connecting.plan = sys::path::filename(options.plan).str();
  connecting.token = std::move(*token);
  connecting.trustNetwork = options.trustNetwork;
  connecting.limit = options.limit;
  connecting.meetSeconds = options.limit;
  if (mpi && !launch.hasRendezvous())
    return meetByMpi(*mpi, launch, connecting);
  return connectJob(launch, connecting);
}

Expected<Processes> Processes::join(const LaunchInfo &launch,
                                    const RunOptions &options) {
  Processes result;
  pid_t parent = ::getppid();
  if (launch.kind == LauncherKind::threads) {
    if (options.processes > 1) // no launcher, so it is a process of one
      return failure("-n {0}: COLROW_PROCESS is set, so tp-run -n has started "
                     "this process, and it starts no others",
                     options.processes);
    result.jobOfAll = std::make_unique<Job>();
    return std::move(result);
  }
  if (Error error = checkCount(launch, options))
    return std::move(error);
  if (launch.isMpi()) {
    auto mpi = MpiNetwork::start(launch, options.limit, "tp-run");
    if (!mpi)
      return mpi.takeError();
    result.mpi = std::move(*mpi);
  }
  auto star = meet(launch, options, result.mpi.get());
  if (!star)
    return star.takeError();
  auto monitor =
      std::make_unique<Monitor>(std::move(*star), options.limit, "tp-run");
  result.watcher = monitor.get();
  if (result.mpi)
    result.mpi->onFailure(
        [watcher = result.watcher](StringRef text) { watcher->fail(text); });
  // Others may be left to run on by who started them.
  if (launch.kind == LauncherKind::own || launch.kind == LauncherKind::torchrun)
    monitor->endWith(parent);
  result.jobOfAll = std::make_unique<Job>(std::move(monitor));
  return std::move(result);
}

bool Processes::mayTell() {
  return watcher ? watcher->mayTell() : takeLastWord();
}

void Processes::leave() {
  if (watcher)
    watcher->leave();
  if (mpi)
    mpi->finish();
}

} // namespace colrow::tprun
