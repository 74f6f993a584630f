// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Large collectives publish operands, meet, move data, meet. Small all-reduces
// copy their operand into a shared slot and meet once; two sets of slots
// alternate, since a rank can be at most one collective ahead.

#include "colrow/runtime/CPU/SharedMemory.h"
#include "Operands.h"
#include "Reduce.h"
#include "colrow/runtime/Plan/DType.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

namespace {

class SharedCommunicator : public Communicator {
public:
  SharedCommunicator(const Mesh &mesh, const JobPage &page,
                     const MachineMemory &memory, unsigned spins, unsigned rank,
                     ArrayRef<uint8_t> axes);

  void run(const CollectiveCall &call) override;

private:
  struct Member {
    GroupMember *shared;
    char *arena;
    // Of the collective that runs.
    const char *src;
    char *dst;
  };

  bool meet() { return barrier.wait(&status.waitingSince); }
  void readPlaces();
  void smallAllReduce(const CollectiveCall &call);
  void allReduce(const CollectiveCall &call);
  void allGather(const CollectiveCall &call);
  void reduceScatter(const CollectiveCall &call);
  void allToAll(const CollectiveCall &call);

  /// Columns of the whole row that member `m` holds.
  static int64_t columns(const CollectiveCall &call, unsigned m) {
    return std::clamp<int64_t>(call.total - m * call.block, 0, call.block);
  }

  Operands operands;
  RankStatus &status;
  Barrier barrier;
  unsigned index, size, parity = 0;
  std::vector<Member> members;   // in the collective's order
  std::vector<unsigned> rising;  // the same, in the order of ranks: of sums
  std::vector<unsigned> sumAxes; // see reduceInOrder()
  // Scratch, so that a step allocates nothing.
  std::vector<const char *> sources;
  std::vector<char *> destinations;
};

} // namespace

/// Sizes of a group's axes, the mesh's innermost first.
static std::vector<unsigned> sizesInside(const Mesh &mesh,
                                         ArrayRef<uint8_t> axes) {
  std::vector<uint8_t> order = axes.vec();
  llvm::sort(order, std::greater<>());
  std::vector<unsigned> sizes;
  sizes.reserve(order.size() + 1);
  for (uint8_t axis : order)
    sizes.push_back(mesh.sizes[axis]);
  if (sizes.empty())
    sizes.push_back(1);
  return sizes;
}

SharedCommunicator::SharedCommunicator(const Mesh &mesh, const JobPage &page,
                                       const MachineMemory &memory,
                                       unsigned spins, unsigned rank,
                                       ArrayRef<uint8_t> axes)
    : operands(memory), status(page.status(rank)),
      barrier(page.barrier(*page.layout().group(rank, axes)),
              mesh.groupSize(axes), spins, &page.failed()),
      index(mesh.memberIndex(rank, axes)), size(mesh.groupSize(axes)),
      members(size), sumAxes(sizesInside(mesh, axes)), sources(size),
      destinations(size) {
  const PageLayout::Group &group = *page.layout().group(rank, axes);
  assert(group.members.size() == size && "a group of several machines");
  rising.reserve(size);
  for (unsigned local = 0; local < size; ++local) {
    unsigned other = group.members[local];
    unsigned m = mesh.memberIndex(other, axes);
    members[m] = {&page.member(group, local),
                  memory.arenas[other - page.layout().firstRank()], nullptr,
                  nullptr};
    rising.push_back(m);
  }
}

void SharedCommunicator::readPlaces() {
  for (Member &member : members) {
    member.src = operands.sourceAt(member.arena, member.shared->src);
    member.dst = member.arena + member.shared->dst;
  }
}

void SharedCommunicator::run(const CollectiveCall &call) {
  if (call.kind == plan::CollectiveKind::all_reduce &&
      call.count * elementBytes(call.dtype) <= GroupMember::slotBytes)
    return smallAllReduce(call);
  Member &own = members[index];
  own.shared->src = operands.placeOf(own.arena, call.src);
  own.shared->dst = operands.placeOf(own.arena, call.dst);
  if (!meet())
    return;
  readPlaces();
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
  meet();
}

void SharedCommunicator::smallAllReduce(const CollectiveCall &call) {
  std::memcpy(members[index].shared->slots[parity], call.src,
              call.count * elementBytes(call.dtype));
  if (!meet())
    return;
  for (unsigned i = 0; i < size; ++i)
    sources[i] = members[rising[i]].shared->slots[parity];
  char *dst = static_cast<char *>(call.dst);
  reduceInOrder(call.dtype, call.reduction, sumAxes, sources, dst, call.count);
  parity ^= 1;
}

/// Each member reduces its chunk for all.
void SharedCommunicator::allReduce(const CollectiveCall &call) {
  int64_t item = elementBytes(call.dtype);
  int64_t chunk = ((call.count + size - 1) / size + 15) / 16 * 16;
  int64_t first = std::min(call.count, index * chunk);
  int64_t count = std::min(call.count - first, chunk);
  for (unsigned i = 0; i < size; ++i) {
    const Member &member = members[rising[i]];
    sources[i] = member.src + first * item;
    destinations[i] = member.dst + first * item;
  }
  reduceInOrder(call.dtype, call.reduction, sumAxes, sources, destinations,
                count);
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
                  members[m].src + row * call.block * item, bytes);
  }
}

void SharedCommunicator::reduceScatter(const CollectiveCall &call) {
  int64_t item = elementBytes(call.dtype);
  int64_t mine = columns(call, index);
  for (int64_t row = 0; row < call.outer; ++row) {
    char *dst = static_cast<char *>(call.dst) + row * call.block * item;
    if (mine > 0) {
      for (unsigned i = 0; i < size; ++i)
        sources[i] = members[rising[i]].src +
                     (row * call.total + index * call.block) * item;
      reduceInOrder(call.dtype, plan::Reduction::sum, sumAxes, sources, dst,
                    mine);
    }
    std::memset(dst + mine * item, 0, (call.block - mine) * item);
  }
}

void SharedCommunicator::allToAll(const CollectiveCall &call) {
  int64_t bytes = call.outer * call.block * elementBytes(call.dtype);
  for (unsigned m = 0; m < size; ++m)
    std::memcpy(static_cast<char *>(call.dst) + m * bytes,
                members[m].src + index * bytes, bytes);
}

SharedMemoryTransport::SharedMemoryTransport(const Mesh &mesh,
                                             const JobPage &page,
                                             MachineMemory memory,
                                             unsigned processRanks)
    : mesh(mesh), page(page), memory(std::move(memory)),
      spins(Barrier::spinsFor(processRanks, page.layout().ranks())) {}

std::unique_ptr<Communicator>
SharedMemoryTransport::communicator(unsigned rank, ArrayRef<uint8_t> axes) {
  return std::make_unique<SharedCommunicator>(mesh, page, memory, spins, rank,
                                              axes);
}

} // namespace colrow::runtime
