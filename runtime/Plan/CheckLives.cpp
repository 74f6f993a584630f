// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the instructions leave in memory. A buffer's life is from its first to
// its last access in the list; a loop inside which not all of them stand counts
// as one, since its iterations repeat them.

#include "Check.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <queue>

using namespace llvm;

namespace colrow::runtime {

namespace {

/// Disjoint intervals of bytes.
class ByteSet {
public:
  void add(uint64_t low, uint64_t high) {
    auto it = intervals.upper_bound(low);
    if (it != intervals.begin() && std::prev(it)->second >= low) {
      --it;
      low = it->first;
      high = std::max(high, it->second);
    }
    while (it != intervals.end() && it->first <= high) {
      high = std::max(high, it->second);
      it = intervals.erase(it);
    }
    intervals[low] = high;
  }

  bool contains(uint64_t byte) const {
    auto it = intervals.upper_bound(byte);
    return it != intervals.begin() && std::prev(it)->second > byte;
  }

private:
  std::map<uint64_t, uint64_t> intervals; // begin to end
};

struct Life {
  int home = -2; // innermost loop around all accesses, -1: none; -2: no access
  uint32_t first = 0, last = 0;
};

} // namespace

static std::optional<PlanFault> fault(const CheckedProgram &program,
                                      uint32_t instruction,
                                      std::string message) {
  bool isHost = instruction >= program.instructionCount();
  return PlanFault{-1, isHost ? -1 : int(instruction), std::move(message)};
}

/// The first and the last byte that are read for certain have been written.
/// (What lies between may have holes that nothing reads.)
static std::optional<PlanFault> checkWritten(const CheckedProgram &program) {
  std::vector<ByteSet> written(program.buffers.size());
  for (const BufferAccess &access : program.accesses) {
    const plan::Buffer &buffer = *program.buffers[access.buffer];
    if (buffer.region() != plan::Region::scratch)
      continue;
    ByteSet &bytes = written[access.buffer];
    if (access.reads() && access.sure > access.low)
      for (uint64_t byte : {access.low, access.sure - 1})
        if (!bytes.contains(byte))
          return fault(program, access.instruction,
                       formatv("reads byte {0} of {1} before it is written",
                               byte, bufferText(program.buffers, access.buffer))
                           .str());
    if (access.writes())
      bytes.add(access.low, access.high);
  }
  return std::nullopt;
}

static std::optional<PlanFault> checkUpdates(const CheckedProgram &program) {
  constexpr int64_t none = -1, free = -2; // free: no parameter's
  std::vector<int64_t> writer(program.buffers.size(), free);
  for (size_t p = 0, n = lengthOf(program.plan.parameters()); p < n; ++p)
    writer[program.plan.parameters()->Get(p)->buffer()] = none;
  for (const BufferAccess &access : program.accesses) {
    int64_t &first = writer[access.buffer];
    if (!access.writes() || first == free)
      continue;
    if (first != none && first != access.instruction)
      return fault(program, access.instruction,
                   formatv("updates {0}, which instruction {1} updates too",
                           bufferText(program.buffers, access.buffer), first)
                       .str());
    first = access.instruction;
  }
  return std::nullopt;
}

/// The innermost loop around both, -1: none. Loops are listed outermost first.
static int common(const CheckedProgram &program, int a, int b) {
  while (a != b) {
    int &inner = a > b ? a : b;
    inner = program.loops[inner].parent;
  }
  return a;
}

/// The part of `home`'s body that instruction `i` belongs to.
static std::pair<uint32_t, uint32_t> partOf(const CheckedProgram &program,
                                            uint32_t i, int home) {
  if (i >= program.instructionCount())
    return {i, i};
  int loop = program.loopOf[i], inner = -1;
  for (; loop != home; loop = program.loops[loop].parent)
    inner = loop;
  if (inner == -1)
    return {i, i};
  return {program.loops[inner].begin, program.loops[inner].end - 1};
}

static std::vector<Life> livesOf(const CheckedProgram &program) {
  std::vector<Life> lives(program.buffers.size());
  for (const BufferAccess &access : program.accesses) {
    Life &life = lives[access.buffer];
    int loop = access.instruction < program.instructionCount()
                   ? program.loopOf[access.instruction]
                   : -1;
    if (life.home == -2)
      life = {loop, access.instruction, access.instruction};
    life.home = common(program, life.home, loop);
    life.last = access.instruction;
  }
  for (Life &life : lives)
    if (life.home != -2) {
      life.first = partOf(program, life.first, life.home).first;
      life.last = partOf(program, life.last, life.home).second;
    }
  return lives;
}

/// Sweeps over the list with the scratch buffers that live, by place.
static std::optional<PlanFault> checkPlaces(const CheckedProgram &program) {
  std::vector<Life> lives = livesOf(program);
  std::vector<uint32_t> order;
  for (uint32_t b = 0; b < lives.size(); ++b)
    if (lives[b].home != -2 &&
        program.buffers[b]->region() == plan::Region::scratch)
      order.push_back(b);
  sort(order, [&](uint32_t a, uint32_t b) {
    return std::make_pair(lives[a].first, a) <
           std::make_pair(lives[b].first, b);
  });
  std::map<uint64_t, uint32_t> living;       // offset to buffer
  using End = std::pair<uint32_t, uint32_t>; // last, buffer
  std::priority_queue<End, std::vector<End>, std::greater<End>> ends;
  auto endOf = [&](uint32_t b) {
    return program.buffers[b]->offset() + program.buffers[b]->bytes();
  };
  for (uint32_t b : order) {
    for (; !ends.empty() && ends.top().first < lives[b].first; ends.pop())
      living.erase(program.buffers[ends.top().second]->offset());
    auto next = living.lower_bound(program.buffers[b]->offset());
    uint32_t other = UINT32_MAX;
    if (next != living.end() && next->first < endOf(b))
      other = next->second;
    else if (next != living.begin() &&
             endOf(std::prev(next)->second) > program.buffers[b]->offset())
      other = std::prev(next)->second;
    if (other != UINT32_MAX)
      return fault(program, lives[b].first,
                   formatv("{0} is first used while {1} still lives at the "
                           "same place",
                           bufferText(program.buffers, b),
                           bufferText(program.buffers, other))
                       .str());
    living.emplace(program.buffers[b]->offset(), b);
    ends.emplace(lives[b].last, b);
  }
  return std::nullopt;
}

std::optional<PlanFault> checkLives(const CheckedProgram &program) {
  if (std::optional<PlanFault> found = checkWritten(program))
    return found;
  if (std::optional<PlanFault> found = checkUpdates(program))
    return found;
  return checkPlaces(program);
}

} // namespace colrow::runtime
