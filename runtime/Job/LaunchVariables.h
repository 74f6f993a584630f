// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of a launcher's variables, and where its processes are to meet.

#ifndef COLROW_RUNTIME_JOB_LAUNCHVARIABLES_H
#define COLROW_RUNTIME_JOB_LAUNCHVARIABLES_H

#include "colrow/runtime/Job/Launch.h"

namespace colrow::runtime {

/// A variable that must be set, to a decimal number of at most `most`.
llvm::Expected<unsigned> numberOf(llvm::StringRef name,
                                  EnvironmentLookup lookup, unsigned most);

/// Sets host, port, controlFds and run of several processes.
llvm::Error findRendezvous(LaunchInfo &info, llvm::StringRef rendezvous,
                           EnvironmentLookup lookup);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_LAUNCHVARIABLES_H
