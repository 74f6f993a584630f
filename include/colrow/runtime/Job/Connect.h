// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what a launcher said to the job's control plane.

#ifndef COLROW_RUNTIME_JOB_CONNECT_H
#define COLROW_RUNTIME_JOB_CONNECT_H

#include "colrow/runtime/Job/Launch.h"
#include "colrow/runtime/Job/StarControl.h"

namespace colrow::runtime {

struct ConnectOptions {
  std::string plan;  // the file's name: others are told it
  std::string token; // readToken()
  bool trustNetwork = false;
  double limit = 60;       // seconds that a process waits for others
  double meetSeconds = 60; // the same for all to be there at the start
};

/// Meets all other processes of the job, over TCP or over the sockets that
/// tp-run -n has made. One process has nobody to meet. `info` of several that
/// have neither (MPI) is an error: set host and port first.
llvm::Expected<std::unique_ptr<StarControl>>
connectJob(const LaunchInfo &info, const ConnectOptions &options);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_CONNECT_H
