// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives between the ranks of several machines: shared memory within a
// machine, messages between machines. Bits are those of SharedMemoryTransport.

#ifndef COLROW_RUNTIME_MPI_NETWORKTRANSPORT_H
#define COLROW_RUNTIME_MPI_NETWORKTRANSPORT_H

#include "colrow/runtime/CPU/SharedMemory.h"
#include "colrow/runtime/Job/Placement.h"
#include "colrow/runtime/MPI/Network.h"
#include "llvm/Support/Error.h"

namespace colrow::runtime {

struct NetworkOptions {
  /// Let the last mesh axis be cut by the borders of machines.
  bool splitLastAxis = false;
  /// About how much memory a rank takes for the messages of a group.
  size_t bufferBytes = 8 << 20;
};

class NetworkTransport : public Transport {
public:
  /// `page`, `memory`: as SharedMemoryTransport's, of this machine, with all
  /// `axes`, the plan's lists. `page` and `network` must outlive this. Each
  /// process has as many ranks. Error: the last axis is cut, and that is not
  /// wanted; more ranks than the network has tags.
  static llvm::Expected<std::unique_ptr<NetworkTransport>>
  create(const Mesh &mesh, const JobPage &page, MachineMemory memory,
         Placement placement, std::vector<std::vector<uint8_t>> axes,
         Network &network, const NetworkOptions &options = {});

  std::unique_ptr<Communicator>
  communicator(unsigned rank, llvm::ArrayRef<uint8_t> axes) override;

private:
  NetworkTransport(const Mesh &mesh, const JobPage &page, MachineMemory memory,
                   Placement placement, std::vector<std::vector<uint8_t>> axes,
                   Network &network, const NetworkOptions &options);
  llvm::Error check() const;
  unsigned share() const;

  Mesh mesh;
  const JobPage &page;
  MachineMemory memory;
  Placement placement;
  std::vector<std::vector<uint8_t>> axes;
  Network &network;
  NetworkOptions options;
  SharedMemoryTransport within; // of groups on this machine
  unsigned spins;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_MPI_NETWORKTRANSPORT_H
