// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meeting the other processes, and leaving them.

#include "Processes.h"
#include "colrow/runtime/Job/Rendezvous.h"
#include "colrow/runtime/Job/Token.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

bool isLauncher(const LaunchInfo &launch, const ProcessOptions &options) {
  return options.processes > 1 && launch.kind == LauncherKind::threads;
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

static Expected<std::vector<Socket>> socketsOf(const LaunchInfo &launch,
                                               const RunOptions &options) {
  if (launch.kind == LauncherKind::own)
    return takeSockets(launch.controlFds);
  Expected<std::string> token = readToken(environmentOf);
  if (!token)
    return token.takeError();
  if (!launch.hasRendezvous())
    return failure("started by {0} as one of {1} processes: give --rendezvous "
                   "HOST:PORT, where process 0 is to listen",
                   nameOf(launch.kind), launch.processes);
  JobDescription job;
  job.name = sys::path::filename(options.plan).str();
  job.run = launch.run;
  job.processes = launch.processes;
  job.token = std::move(*token);
  return rendezvous({launch.host, launch.port, options.trustNetwork}, job,
                    launch.process, options.limit);
}

Expected<Processes> Processes::join(const LaunchInfo &launch,
                                    const RunOptions &options) {
  Processes result;
  if (launch.kind == LauncherKind::threads) {
    result.jobOfAll = std::make_unique<Job>();
    return std::move(result);
  }
  if (Error error = checkCount(launch, options))
    return std::move(error);
  auto sockets = socketsOf(launch, options);
  if (!sockets)
    return sockets.takeError();
  auto star = StarControl::create(launch.process, launch.processes,
                                  std::move(*sockets), options.limit);
  if (!star)
    return star.takeError();
  auto monitor =
      std::make_unique<Monitor>(std::move(*star), options.limit, "tp-run");
  result.watcher = monitor.get();
  result.jobOfAll = std::make_unique<Job>(std::move(monitor));
  return std::move(result);
}

} // namespace colrow::tprun
