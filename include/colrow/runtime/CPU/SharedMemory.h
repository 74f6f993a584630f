// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives between ranks that share memory, threads of one process or of
// several on one machine: ranks publish where their operands are, each reads
// and writes the others' memory directly.

#ifndef COLROW_RUNTIME_CPU_SHAREDMEMORY_H
#define COLROW_RUNTIME_CPU_SHAREDMEMORY_H

#include "colrow/runtime/CPU/JobPage.h"
#include "colrow/runtime/Core/Communicator.h"
#include "colrow/runtime/Plan/Mesh.h"
#include <vector>

namespace colrow::runtime {

/// Where this process sees the memory of a machine's ranks.
struct MachineMemory {
  /// Of each rank of the machine, in order: start of its arena.
  std::vector<char *> arenas;
  /// Of each arena.
  uint64_t arenaBytes = 0;
  /// Region `constant`, the same in every process.
  const char *constants = nullptr;
};

/// Operands of collectives are in the rank's arena or, sources, in `constants`.
class SharedMemoryTransport : public Transport {
public:
  /// `page` must outlive this; `processRanks`: how many of its ranks are of
  /// this process.
  SharedMemoryTransport(const Mesh &mesh, const JobPage &page,
                        MachineMemory memory, unsigned processRanks);

  /// Of a group whose ranks are all of this machine; its axes must be in the
  /// page's layout.
  std::unique_ptr<Communicator>
  communicator(unsigned rank, llvm::ArrayRef<uint8_t> axes) override;

private:
  Mesh mesh;
  const JobPage &page;
  MachineMemory memory;
  unsigned spins;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_SHAREDMEMORY_H
