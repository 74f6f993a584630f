// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what a launcher said to the job's control plane.

#include "colrow/runtime/Job/Connect.h"
#include "colrow/runtime/Job/Rendezvous.h"
#include "colrow/runtime/Support/Errors.h"

using namespace llvm;

namespace colrow::runtime {

static Expected<std::vector<FileDescriptor>>
socketsOf(const LaunchInfo &info, const ConnectOptions &options) {
  if (info.processes == 1)
    return std::vector<FileDescriptor>();
  if (info.kind == LauncherKind::own)
    return takeSockets(info.controlFds);
  if (!info.hasRendezvous())
    return failure("nothing says where {0}'s processes are to meet: give "
                   "--rendezvous HOST:PORT",
                   nameOf(info.kind));
  JobDescription job = {options.plan, info.run, info.processes, options.token};
  MeetingPlace place = {info.host, info.port, options.trustNetwork};
  return rendezvous(place, job, info.process, options.meetSeconds);
}

Expected<std::unique_ptr<StarControl>>
connectJob(const LaunchInfo &info, const ConnectOptions &options) {
  Expected<std::vector<FileDescriptor>> sockets = socketsOf(info, options);
  if (!sockets)
    return sockets.takeError();
  return StarControl::create(info.process, info.processes, std::move(*sockets),
                             options.limit, options.meetSeconds);
}

} // namespace colrow::runtime
