// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All-reduces between two processes that mpirun of Open MPI starts.

#ifndef COLROW_BENCH_COLLECTIVES_OVERMPI_H
#define COLROW_BENCH_COLLECTIVES_OVERMPI_H

#include <cstdint>
#include <cstdio>
#include <string>
#include <sys/types.h>
#include <vector>

namespace colrow::bench {

/// Two processes that take turns when asked.
class MpiPair {
public:
  /// Starts `program` twice.
  explicit MpiPair(const std::vector<std::string> &program);
  ~MpiPair();
  /// Seconds of a call; negative when the processes are gone.
  double turn(int64_t bytes, unsigned calls);

private:
  pid_t child = -1;
  FILE *orders = nullptr, *times = nullptr;
};

/// One of two such processes, with the transport between machines: each is
/// taken for one. Returns the exit status.
int serveOverMpi(int64_t largest);

} // namespace colrow::bench

#endif // COLROW_BENCH_COLLECTIVES_OVERMPI_H
