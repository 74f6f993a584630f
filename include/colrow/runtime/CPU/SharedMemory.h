// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives between threads of one process: ranks publish addresses, each
// reads the others' memory directly.

#ifndef COLROW_RUNTIME_CPU_SHAREDMEMORY_H
#define COLROW_RUNTIME_CPU_SHAREDMEMORY_H

#include "colrow/runtime/Core/Communicator.h"
#include "colrow/runtime/Plan/Mesh.h"
#include <map>
#include <mutex>
#include <vector>

namespace colrow::runtime {

struct SharedGroup;

class SharedMemoryTransport : public Transport {
public:
  explicit SharedMemoryTransport(const Mesh &mesh);
  ~SharedMemoryTransport() override;

  std::unique_ptr<Communicator>
  communicator(unsigned rank, llvm::ArrayRef<uint8_t> axes) override;

private:
  Mesh mesh;
  std::mutex mutex;
  /// By axes and the group's first rank.
  std::map<std::pair<std::vector<uint8_t>, unsigned>,
           std::unique_ptr<SharedGroup>>
      groups;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_SHAREDMEMORY_H
