// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All-reduces of two processes that Open MPI's launcher has started: by our
// transport between machines, and by MPI itself, over the same connection.

#ifndef COLROW_BENCH_COLLECTIVES_MPIPAIR_H
#define COLROW_BENCH_COLLECTIVES_MPIPAIR_H

#include "colrow/runtime/MPI/MpiNetwork.h"
#include "colrow/runtime/MPI/NetworkTransport.h"

namespace colrow {

/// One of the two; both call the same turns in the same order.
class MpiPair {
public:
  /// Starts MPI. Each process has two buffers of `bytes`.
  static llvm::Expected<std::unique_ptr<MpiPair>>
  start(const runtime::LaunchInfo &launch, uint64_t bytes);

  runtime::Communicator &ours() { return *communicator; }
  /// As MPI's errors: 0 for success.
  int theirs(int count);
  float *source() { return reinterpret_cast<float *>(arena.get()); }
  float *destination() { return source() + bytes / sizeof(float); }

  /// Process 1 sleeps until process 0 is here too, so as to leave the cores to
  /// what is measured in between.
  void meet();
  /// Once neither sends any more.
  void finish() { network->finish(); }

private:
  using AllReduce = int (*)(const float *, float *, int);

  MpiPair(std::unique_ptr<runtime::MpiNetwork> network, runtime::JobPage page,
          runtime::SharedArena arena, uint64_t bytes);
  llvm::Error open();

  std::unique_ptr<runtime::MpiNetwork> network;
  runtime::JobPage page;
  runtime::SharedArena arena;
  uint64_t bytes;
  AllReduce allReduce = nullptr;
  std::unique_ptr<runtime::NetworkTransport> transport;
  std::unique_ptr<runtime::Communicator> communicator;
};

/// A mesh of two ranks on one axis.
runtime::Mesh meshOfTwo();

} // namespace colrow

#endif // COLROW_BENCH_COLLECTIVES_MPIPAIR_H
