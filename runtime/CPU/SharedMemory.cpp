// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of threads. Large ones publish addresses, meet, move data, meet.
// Small all-reduces copy their operand into a shared slot and meet once; two
// sets of slots alternate, since a rank can be at most one collective ahead.

#include "colrow/runtime/CPU/SharedMemory.h"
#include "Reduce.h"
#include "colrow/runtime/CPU/Barrier.h"
#include <algorithm>
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

static constexpr int64_t smallBytes = 4096;

struct SharedGroup {
  struct alignas(64) Member {
    const char *src;
    char *dst;
    alignas(64) char slots[2][smallBytes];
  };

  SharedGroup(unsigned size, unsigned ranks)
      : barrier(size, Barrier::spinsFor(ranks)), members(size) {}

  Barrier barrier;
  std::vector<Member> members;
};

namespace {

class SharedCommunicator : public Communicator {
public:
  SharedCommunicator(SharedGroup &group, unsigned index)
      : group(group), index(index), size(group.members.size()), sources(size),
        destinations(size) {}

  void run(const CollectiveCall &call) override;

private:
  void smallAllReduce(const CollectiveCall &call);
  void allReduce(const CollectiveCall &call);
  void allGather(const CollectiveCall &call);
  void reduceScatter(const CollectiveCall &call);
  void allToAll(const CollectiveCall &call);

  /// Columns of the whole row that member `m` holds.
  static int64_t columns(const CollectiveCall &call, unsigned m) {
    return std::clamp<int64_t>(call.total - m * call.block, 0, call.block);
  }

  SharedGroup &group;
  unsigned index, size, parity = 0;
  // Scratch, so that a step allocates nothing.
  std::vector<const char *> sources;
  std::vector<char *> destinations;
};

void SharedCommunicator::run(const CollectiveCall &call) {
  if (call.kind == plan::CollectiveKind::all_reduce &&
      call.count * elementBytes(call.dtype) <= smallBytes)
    return smallAllReduce(call);
  group.members[index].src = static_cast<const char *>(call.src);
  group.members[index].dst = static_cast<char *>(call.dst);
  group.barrier.wait();
  switch (call.kind) {
  case plan::CollectiveKind::all_reduce:
    allReduce(call);
    break;
  case plan::CollectiveKind::all_gather:
    allGather(call);
    break;
  case plan::CollectiveKind::reduce_scatter:
    reduceScatter(call);
    break;
  case plan::CollectiveKind::all_to_all:
    allToAll(call);
    break;
  }
  group.barrier.wait();
}

void SharedCommunicator::smallAllReduce(const CollectiveCall &call) {
  std::memcpy(group.members[index].slots[parity], call.src,
              call.count * elementBytes(call.dtype));
  group.barrier.wait();
  for (unsigned m = 0; m < size; ++m)
    sources[m] = group.members[m].slots[parity];
  char *dst = static_cast<char *>(call.dst);
  reduceInOrder(call.dtype, call.reduction, sources, dst, call.count);
  parity ^= 1;
}

/// Each member reduces its chunk for all.
void SharedCommunicator::allReduce(const CollectiveCall &call) {
  int64_t item = elementBytes(call.dtype);
  int64_t chunk = ((call.count + size - 1) / size + 15) / 16 * 16;
  int64_t first = std::min(call.count, index * chunk);
  int64_t count = std::min(call.count - first, chunk);
  for (unsigned m = 0; m < size; ++m) {
    sources[m] = group.members[m].src + first * item;
    destinations[m] = group.members[m].dst + first * item;
  }
  reduceInOrder(call.dtype, call.reduction, sources, destinations, count);
}

void SharedCommunicator::allGather(const CollectiveCall &call) {
  int64_t item = elementBytes(call.dtype);
  char *dst = static_cast<char *>(call.dst);
  for (unsigned m = 0; m < size; ++m) {
    int64_t bytes = columns(call, m) * item;
    if (bytes == 0)
      continue;
    for (int64_t row = 0; row < call.outer; ++row)
      std::memcpy(dst + (row * call.total + m * call.block) * item,
                  group.members[m].src + row * call.block * item, bytes);
  }
}

void SharedCommunicator::reduceScatter(const CollectiveCall &call) {
  int64_t item = elementBytes(call.dtype);
  int64_t mine = columns(call, index);
  for (int64_t row = 0; row < call.outer; ++row) {
    char *dst = static_cast<char *>(call.dst) + row * call.block * item;
    if (mine > 0) {
      for (unsigned m = 0; m < size; ++m)
        sources[m] = group.members[m].src +
                     (row * call.total + index * call.block) * item;
      reduceInOrder(call.dtype, plan::Reduction::sum, sources, dst, mine);
    }
    std::memset(dst + mine * item, 0, (call.block - mine) * item);
  }
}

void SharedCommunicator::allToAll(const CollectiveCall &call) {
  int64_t bytes = call.outer * call.block * elementBytes(call.dtype);
  for (unsigned m = 0; m < size; ++m)
    std::memcpy(static_cast<char *>(call.dst) + m * bytes,
                group.members[m].src + index * bytes, bytes);
}

} // namespace

SharedMemoryTransport::SharedMemoryTransport(const Mesh &mesh) : mesh(mesh) {}
SharedMemoryTransport::~SharedMemoryTransport() = default;

std::unique_ptr<Communicator>
SharedMemoryTransport::communicator(unsigned rank, ArrayRef<uint8_t> axes) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<SharedGroup> &group =
      groups[{axes.vec(), mesh.leader(rank, axes)}];
  if (!group)
    group = std::make_unique<SharedGroup>(mesh.groupSize(axes), mesh.ranks());
  return std::make_unique<SharedCommunicator>(*group,
                                              mesh.memberIndex(rank, axes));
}

} // namespace colrow::runtime
