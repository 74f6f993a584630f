// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the processes of a job run.

#ifndef COLROW_RUNTIME_JOB_PLACEMENT_H
#define COLROW_RUNTIME_JOB_PLACEMENT_H

#include <optional>
#include <string>
#include <vector>

namespace colrow::runtime {

/// Which processes share a machine.
struct Placement {
  std::vector<unsigned> machines; // of each process; rising from 0
  std::vector<std::string> hosts; // of each machine, as people call it
  /// A process that the kernel does not tell its machine, so that it stands
  /// here as one of its own.
  std::optional<unsigned> unplaced;

  bool isOneMachine() const { return hosts.size() <= 1; }
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_PLACEMENT_H
