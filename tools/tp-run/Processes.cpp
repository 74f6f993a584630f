// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meeting the other processes, and leaving them.

#include "Processes.h"
#include "colrow/runtime/Job/Connect.h"
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

static Expected<std::unique_ptr<StarControl>>
meet(const LaunchInfo &launch, const RunOptions &options) {
  ConnectOptions connecting;
  Expected<std::string> token = readToken(environmentOf);
  if (!token)
    return token.takeError();
  connecting.plan = sys::path::filename(options.plan).str();
  connecting.token = std::move(*token);
  connecting.trustNetwork = options.trustNetwork;
  connecting.limit = options.limit;
  return connectJob(launch, connecting);
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
  auto star = meet(launch, options);
  if (!star)
    return star.takeError();
  auto monitor =
      std::make_unique<Monitor>(std::move(*star), options.limit, "tp-run");
  result.watcher = monitor.get();
  result.jobOfAll = std::make_unique<Job>(std::move(monitor));
  return std::move(result);
}

} // namespace colrow::tprun
