// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lives of buffers, and best-fit offsets in the arena.

#include "BufferPlan.h"
#include <map>
#include <set>

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

/// Scratch addresses hold the buffer's number above this bit until resolve().
static constexpr unsigned numberShift = 40;
static constexpr uint64_t alignment = 64;

BufferPlan::BufferPlan(func::FuncOp step,
                       ArrayRef<SmallVector<Operation *>> order)
    : step(step), steps(order.size()), firstBackward(order.size()) {
  for (auto [i, group] : llvm::enumerate(order))
    for (Operation *op : group) {
      stepIndex[op] = i;
      if (tp::getPhase(op) != tp::Phase::Forward)
        firstBackward = std::min<unsigned>(firstBackward, i);
    }
  for (BlockArgument argument : step.getArguments())
    bufferOf(argument);
  for (auto &group : order)
    for (Operation *op : group) {
      mergeInPlace(op);
      for (Value result : op->getResults())
        bufferOf(result);
    }
}

unsigned BufferPlan::lastUse(Value value) const {
  unsigned last = 0;
  for (Operation *user : value.getUsers())
    last = std::max(last, stepIndex.lookup(user));
  return last;
}

unsigned BufferPlan::bufferOf(Value value) {
  auto [it, isNew] = index.try_emplace(value, buffers.size());
  if (isNew) {
    Operation *maker = value.getDefiningOp();
    Buffer buffer;
    buffer.bytes =
        uint64_t(cast<RankedTensorType>(value.getType()).getNumElements()) * 4;
    buffer.begin = maker ? stepIndex.lookup(maker) : 0;
    buffer.end = std::max(buffer.begin, lastUse(value));
    buffers.push_back(buffer);
  }
  return it->second;
}

/// A reshape is its operand; an all-reduce works in place where nothing reads
/// the summand later.
void BufferPlan::mergeInPlace(Operation *op) {
  bool reshape = isa<tp::ReshapeOp>(op);
  bool reduces = isa<tp::AllReduceOp>(op) &&
                 op->getOperand(0).getDefiningOp() &&
                 !isa<tp::ParamOp>(op->getOperand(0).getDefiningOp()) &&
                 lastUse(op->getOperand(0)) == stepIndex.lookup(op);
  if (!reshape && !reduces)
    return;
  unsigned i = bufferOf(op->getOperand(0));
  // The operand's buffer may be shared already and read later than the operand.
  if (reduces && buffers[i].end > stepIndex.lookup(op))
    return;
  index[op->getResult(0)] = i;
  buffers[i].end = std::max(buffers[i].end, lastUse(op->getResult(0)));
}

void BufferPlan::fix(Value value, uint8_t region, uint64_t offset) {
  Buffer &buffer = buffers[bufferOf(value)];
  buffer.fixed = true;
  buffer.region = region;
  buffer.offset = offset;
}

bool BufferPlan::isAt(Value value, uint8_t region, uint64_t offset) {
  const Buffer &buffer = buffers[bufferOf(value)];
  return buffer.fixed && buffer.region == region && buffer.offset == offset;
}

void BufferPlan::keepToEnd(Value value) {
  buffers[bufferOf(value)].end = steps;
}

int64_t BufferPlan::addTemporary(unsigned at, uint64_t bytes) {
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.begin = buffer.end = at;
  buffers.push_back(buffer);
  return buffers.size() - 1;
}

Address BufferPlan::locateTemporary(int64_t number) {
  return {1, uint64_t(number) << numberShift, {}};
}

Address BufferPlan::locate(Value value) {
  unsigned i = bufferOf(value);
  if (buffers[i].fixed)
    return {buffers[i].region, buffers[i].offset, {}};
  return locateTemporary(i);
}

void BufferPlan::resolve(Address &address) const {
  if (address.region != 1)
    return;
  uint64_t within = address.offset & ((uint64_t(1) << numberShift) - 1);
  address.offset = buffers[address.offset >> numberShift].offset + within;
}

namespace {
/// Free intervals of the arena, which grows at its end.
class Arena {
public:
  uint64_t take(uint64_t bytes) {
    auto best = bySize.lower_bound({bytes, 0});
    if (best != bySize.end()) {
      auto [size, offset] = *best;
      bySize.erase(best);
      byOffset.erase(offset);
      if (size > bytes)
        insert(offset + bytes, size - bytes);
      return offset;
    }
    // Extend the last free interval if it touches the end.
    uint64_t offset = end;
    if (!byOffset.empty()) {
      auto last = std::prev(byOffset.end());
      if (last->first + last->second == end) {
        offset = last->first;
        bySize.erase({last->second, last->first});
        byOffset.erase(last);
      }
    }
    end = offset + bytes;
    return offset;
  }

  void give(uint64_t offset, uint64_t bytes) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.end() && offset + bytes == next->first) {
      bytes += next->second;
      bySize.erase({next->second, next->first});
      next = byOffset.erase(next);
    }
    if (next != byOffset.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        offset = previous->first;
        bytes += previous->second;
        bySize.erase({previous->second, previous->first});
        byOffset.erase(previous);
      }
    }
    insert(offset, bytes);
  }

  uint64_t getEnd() const { return end; }

private:
  void insert(uint64_t offset, uint64_t bytes) {
    byOffset[offset] = bytes;
    bySize.insert({bytes, offset});
  }

  std::map<uint64_t, uint64_t> byOffset;
  std::set<std::pair<uint64_t, uint64_t>> bySize;
  uint64_t end = 0;
};
} // namespace

uint64_t BufferPlan::allocate() {
  std::vector<unsigned> order;
  for (unsigned i = 0; i < buffers.size(); ++i)
    if (!buffers[i].fixed)
      order.push_back(i);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(buffers[a].begin, a) < std::pair(buffers[b].begin, b);
  });
  Arena arena;
  std::multimap<unsigned, unsigned> alive; // end -> buffer
  for (unsigned i : order) {
    while (!alive.empty() && alive.begin()->first < buffers[i].begin) {
      const Buffer &dead = buffers[alive.begin()->second];
      arena.give(dead.offset, llvm::alignTo(dead.bytes, alignment));
      alive.erase(alive.begin());
    }
    buffers[i].offset = arena.take(llvm::alignTo(buffers[i].bytes, alignment));
    alive.insert({buffers[i].end, i});
  }
  return arena.getEnd();
}

uint64_t BufferPlan::savedBytes() const {
  uint64_t bytes = 0;
  for (const Buffer &buffer : buffers)
    if (!buffer.fixed && buffer.begin < firstBackward &&
        buffer.end >= firstBackward && buffer.end < steps)
      bytes += buffer.bytes;
  return bytes;
}
