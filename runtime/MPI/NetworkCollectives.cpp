// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of several machines but for their sums (NetworkSums.cpp): how
// members meet, and how results come to all of a machine.

#include "NetworkCommunicator.h"
#include "Rows.h"
#include "colrow/runtime/Plan/DType.h"
#include <cstring>
#include <mutex>

using namespace llvm;

namespace colrow::runtime {

/// Pieces of at most this, at least what goes through slots as float32.
static constexpr int64_t maxPieceBytes = 1 << 20;
static constexpr int64_t minPieceBytes = 2 * GroupMember::slotBytes;

NetworkCommunicator::NetworkCommunicator(NetworkGroup made, const JobPage &page,
                                         const PageLayout::Group &place,
                                         const MachineMemory &memory,
                                         unsigned spins, Network &network,
                                         size_t bufferBytes)
    : group(std::move(made)), operands(memory),
      status(page.status(group.members[group.self].rank)),
      barrier(page.barrier(place), group.count, spins, &page.failed()),
      messages(network, status, page.failed(), 4 * group.size(), spins != 0),
      bases(group.count), sources(group.size()) {
  for (unsigned local = 0; local < group.count; ++local) {
    unsigned rank = group.members[group.first + local].rank;
    localMembers.push_back({&page.member(place, local),
                            memory.arenas[rank - page.layout().firstRank()],
                            nullptr, nullptr});
  }
  size_t rooms = group.terms() + group.served.size() + group.taken.size() + 1;
  pieceBytes =
      std::clamp(int64_t(bufferBytes / rooms), minPieceBytes, maxPieceBytes) /
      64 * 64;
  room.reset(new char[rooms * pieceBytes]);
  targets.reserve(group.count + 1);
  destinations.reserve(group.count + 1);
  termMessages.reserve(group.terms());
  resultMessages.reserve(group.taken.size());
}

/// Until the process ends.
static void keepForMessages(std::unique_ptr<char[]> memory) {
  static std::mutex mutex;
  static auto *kept = new std::vector<std::unique_ptr<char[]>>;
  std::lock_guard<std::mutex> lock(mutex);
  kept->push_back(std::move(memory));
}

/// What is under way when the job has failed still has this memory.
NetworkCommunicator::~NetworkCommunicator() {
  if (messages.areUnderWay())
    keepForMessages(std::move(room));
}

size_t NetworkCommunicator::send(const void *from, int64_t bytes,
                                 unsigned member, Phase phase) {
  return messages.send(from, bytes, group.members[member].process,
                       group.tagFrom(group.self, member, phase));
}

size_t NetworkCommunicator::receive(void *to, int64_t bytes, unsigned member,
                                    Phase phase) {
  return messages.receive(to, bytes, group.members[member].process,
                          group.tagFrom(member, group.self, phase));
}

/// Tells the machine's members where operands are, and hears where theirs are.
bool NetworkCommunicator::publish(const CollectiveCall &call) {
  LocalMember &mine = own();
  mine.shared->src = operands.placeOf(mine.arena, call.src);
  mine.shared->dst = operands.placeOf(mine.arena, call.dst);
  if (!meet())
    return false;
  for (unsigned local = 0; local < group.count; ++local) {
    LocalMember &member = localMembers[local];
    member.src = operands.sourceAt(member.arena, member.shared->src);
    member.dst = member.arena + member.shared->dst;
    bases[local] = member.src;
  }
  return true;
}

void NetworkCommunicator::run(const CollectiveCall &call) {
  pieceElements = pieceBytes / elementBytes(sumType(call.dtype));
  if (call.kind == plan::CollectiveKind::all_reduce &&
      call.count * elementBytes(call.dtype) <= GroupMember::slotBytes) {
    smallAllReduce(call);
    return;
  }
  if (!publish(call))
    return;
  bool isDone = false;
  switch (call.kind) {
  case plan::CollectiveKind::all_reduce:
  case plan::CollectiveKind::reduce_scatter:
    isDone =
        inPieces(call, [&](int64_t first) { return reducePiece(call, first); });
    break;
  case plan::CollectiveKind::all_gather:
    isDone =
        inPieces(call, [&](int64_t first) { return gatherPiece(call, first); });
    break;
  case plan::CollectiveKind::all_to_all:
    isDone = allToAll(call);
    break;
  }
  if (isDone)
    meet();
}

Slice NetworkCommunicator::sliceOf(const CollectiveCall &call,
                                   unsigned member) const {
  if (call.kind == plan::CollectiveKind::all_reduce) {
    int64_t size = group.size();
    int64_t chunk = ((call.count + size - 1) / size + 15) / 16 * 16;
    int64_t first = std::min(call.count, member * chunk);
    return {1, std::min(call.count - first, chunk), 0, first};
  }
  int64_t first = group.members[member].position * call.block;
  return {call.outer, std::clamp<int64_t>(call.total - first, 0, call.block),
          call.total, first};
}

/// All members take as many turns, whatever each has to do in them.
template <typename F>
bool NetworkCommunicator::inPieces(const CollectiveCall &call, F f) {
  int64_t longest = 1;
  for (unsigned member = 0; member < group.size(); ++member)
    longest = std::max(longest, sliceOf(call, member).elements());
  for (int64_t first = 0; first < longest; first += pieceElements) {
    if (!f(first))
      return false;
    // The monitor sees that a long collective gets on.
    status.executed.fetch_add(1, std::memory_order_relaxed);
  }
  return true;
}

void NetworkCommunicator::receiveResults(const CollectiveCall &call,
                                         int64_t first) {
  resultMessages.clear();
  for (unsigned i = 0; i < group.taken.size(); ++i) {
    int64_t count = pieceOf(sliceOf(call, group.taken[i]), first);
    if (count > 0)
      resultMessages.push_back(receive(takenRoom(i),
                                       count * elementBytes(call.dtype),
                                       group.taken[i], Phase::result));
  }
}

void NetworkCommunicator::sendResult(int64_t bytes) {
  for (unsigned taker : group.takers)
    send(resultRoom(), bytes, taker, Phase::result);
}

/// Into the destinations of all of this machine.
bool NetworkCommunicator::takeResults(const CollectiveCall &call,
                                      int64_t first) {
  int64_t item = elementBytes(call.dtype);
  size_t next = 0;
  for (unsigned i = 0; i < group.taken.size(); ++i) {
    Slice slice = sliceOf(call, group.taken[i]);
    int64_t count = pieceOf(slice, first);
    if (count == 0)
      continue;
    if (!messages.wait(resultMessages[next++]))
      return false;
    for (const LocalMember &local : localMembers)
      forRows(slice.width, first, count,
              [&](int64_t at, int64_t row, int64_t column, int64_t n) {
                std::memcpy(local.dst +
                                (slice.offset + row * slice.stride + column) *
                                    item,
                            takenRoom(i) + at * item, n * item);
              });
  }
  return true;
}

/// Blocks of this machine's members, to this one.
void NetworkCommunicator::gatherHere(const CollectiveCall &call) {
  int64_t item = elementBytes(call.dtype);
  for (unsigned local = 0; local < group.count; ++local) {
    Slice slice = sliceOf(call, group.first + local);
    for (int64_t row = 0; slice.width > 0 && row < slice.rows; ++row)
      std::memcpy(own().dst + (slice.offset + row * slice.stride) * item,
                  bases[local] + row * call.block * item, slice.width * item);
  }
}

bool NetworkCommunicator::gatherPiece(const CollectiveCall &call,
                                      int64_t first) {
  int64_t item = elementBytes(call.dtype);
  Slice mine = sliceOf(call, group.self);
  int64_t count = pieceOf(mine, first);
  receiveResults(call, first);
  forRows(mine.width, first, count,
          [&](int64_t at, int64_t row, int64_t column, int64_t n) {
            std::memcpy(resultRoom() + at * item,
                        own().src + (row * call.block + column) * item,
                        n * item);
          });
  if (count > 0)
    sendResult(count * item);
  if (first == 0)
    gatherHere(call);
  return takeResults(call, first) && messages.finish();
}

/// From everybody's memory into everybody's memory.
bool NetworkCommunicator::allToAll(const CollectiveCall &call) {
  constexpr int64_t most = 8 << 20;
  int64_t bytes = call.outer * call.block * elementBytes(call.dtype);
  unsigned index = group.members[group.self].position;
  for (unsigned local = 0; local < group.count; ++local)
    std::memcpy(own().dst + group.members[group.first + local].position * bytes,
                bases[local] + index * bytes, bytes);
  for (int64_t first = 0; first < bytes; first += most) {
    int64_t piece = std::min(bytes - first, most);
    for (unsigned m = 0; m < group.size(); ++m)
      if (!group.isHere(m))
        receive(own().dst + group.members[m].position * bytes + first, piece, m,
                Phase::result);
    for (unsigned m = 0; m < group.size(); ++m)
      if (!group.isHere(m))
        send(own().src + group.members[m].position * bytes + first, piece, m,
             Phase::result);
    if (!messages.finish())
      return false;
    status.executed.fetch_add(1, std::memory_order_relaxed);
  }
  return true;
}

} // namespace colrow::runtime
