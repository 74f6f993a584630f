// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of one name, each for some ranks: together they are one program of
// the whole mesh, whose collectives meet.

#include "Check.h"
#include "colrow/runtime/Plan/Programs.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <numeric>

using namespace llvm;

namespace colrow::runtime {

namespace {

/// A collective in a program's sequence.
struct Step {
  uint32_t instruction;
  int64_t times; // that it runs, by the loops around it
};

/// The collectives of one program in order; those of a loop twice, so that the
/// order from one iteration to the next counts too.
using Sequence = std::vector<Step>;

/// The programs of one name.
class Group {
public:
  Group(const plan::Plan &plan, const Mesh &mesh, ArrayRef<int> members)
      : plan(plan), mesh(mesh), members(members.begin(), members.end()) {}

  std::optional<PlanFault> check();

private:
  std::optional<PlanFault> checkRanks();
  std::optional<PlanFault> checkInputs() const;
  std::optional<PlanFault> checkOutputs() const;
  std::optional<PlanFault> checkCollectives();
  void collect(const plan::Program &program, uint32_t begin, uint32_t end,
               int64_t times, Sequence &out) const;
  /// All members of the group of `rank`'s next collective stand at it.
  std::optional<PlanFault> advance(unsigned rank, bool &moved);

  const plan::Program &programOf(int member) const {
    return *plan.programs()->Get(members[member]);
  }
  /// Null: the rank is done.
  const Step *nextOf(unsigned rank) const;
  const plan::Instruction &at(unsigned rank, const Step &step) const {
    return *programOf(memberOf[rank]).instructions()->Get(step.instruction);
  }

  const plan::Plan &plan;
  const Mesh &mesh;
  std::vector<int> members;
  std::vector<int> memberOf; // a rank, -1: none
  std::vector<Sequence> sequences;
  std::vector<size_t> position; // of a rank in its sequence
};

} // namespace

std::optional<PlanFault> Group::checkRanks() {
  memberOf.assign(mesh.ranks(), -1);
  for (int m = 0, n = int(members.size()); m < n; ++m) {
    std::vector<uint32_t> ranks = listOf(programOf(m).ranks()).vec();
    if (ranks.empty()) {
      ranks.resize(mesh.ranks());
      std::iota(ranks.begin(), ranks.end(), 0);
    }
    for (uint32_t rank : ranks) {
      if (memberOf[rank] != -1)
        return PlanFault{
            members[m], -1,
            formatv("rank {0} has another program of this name", rank).str()};
      memberOf[rank] = m;
    }
  }
  for (unsigned rank = 0; rank < mesh.ranks(); ++rank)
    if (memberOf[rank] == -1)
      return PlanFault{
          members[0], -1,
          formatv("rank {0} has no program of this name", rank).str()};
  return std::nullopt;
}

static bool areAlike(const plan::Input &a, const plan::Input &b) {
  return textOf(a.role()) == textOf(b.role()) && a.dtype() == b.dtype() &&
         listOf(a.shape()) == listOf(b.shape()) &&
         a.batch_dim() == b.batch_dim() && a.low() == b.low() &&
         a.high() == b.high() && a.padding() == b.padding();
}

std::optional<PlanFault> Group::checkInputs() const {
  StringMap<const plan::Input *> known;
  for (int m = 0, n = int(members.size()); m < n; ++m)
    for (size_t i = 0, e = lengthOf(programOf(m).inputs()); i < e; ++i) {
      const plan::Input *input = programOf(m).inputs()->Get(i);
      StringRef name = textOf(input->name());
      if (!areAlike(*known.try_emplace(name, input).first->second, *input))
        return PlanFault{
            members[m], -1,
            formatv("input {0} is another one for other ranks", name).str()};
    }
  return std::nullopt;
}

std::optional<PlanFault> Group::checkOutputs() const {
  StringMap<int> names, roles;
  for (int m = 0, n = int(members.size()); m < n; ++m)
    for (size_t i = 0, e = lengthOf(programOf(m).outputs()); i < e; ++i) {
      const plan::Output *output = programOf(m).outputs()->Get(i);
      StringRef name = textOf(output->name()), role = textOf(output->role());
      bool isNew = names.try_emplace(name, m).second;
      if (isMeasure(role))
        isNew &= roles.try_emplace(role, m).second;
      if (!isNew)
        return PlanFault{members[m], -1,
                         formatv("output {0} or its role {1} is another "
                                 "program's of this name too",
                                 name, role)
                             .str()};
    }
  return std::nullopt;
}

void Group::collect(const plan::Program &program, uint32_t begin, uint32_t end,
                    int64_t times, Sequence &out) const {
  for (uint32_t i = begin; i < end; ++i) {
    const plan::Instruction &instruction = *program.instructions()->Get(i);
    if (instruction.op_type() == plan::Op::Collective)
      out.push_back({i, times});
    const plan::Loop *loop = instruction.op_as_Loop();
    if (!loop)
      continue;
    uint32_t bodyEnd = i + 1 + loop->body();
    for (int pass = 0; pass < 1 + (loop->trips() > 1); ++pass)
      collect(program, i + 1, bodyEnd, times * loop->trips(), out);
    i = bodyEnd - 1;
  }
}

const Step *Group::nextOf(unsigned rank) const {
  const Sequence &sequence = sequences[memberOf[rank]];
  return position[rank] < sequence.size() ? &sequence[position[rank]] : nullptr;
}

static bool areAlike(const plan::Collective &a, const plan::Collective &b) {
  return a.kind() == b.kind() && a.reduction() == b.reduction() &&
         a.dtype() == b.dtype() && listOf(a.axes()) == listOf(b.axes()) &&
         a.count() == b.count() && a.outer() == b.outer() &&
         a.block() == b.block() && a.total() == b.total();
}

/// Ranks that differ from `rank` on `axes` only.
static std::vector<unsigned> groupOf(const Mesh &mesh, unsigned rank,
                                     ArrayRef<uint8_t> axes) {
  std::vector<unsigned> ranks = {mesh.leader(rank, axes)};
  for (uint8_t axis : axes) {
    unsigned stride = 1;
    for (size_t a = axis + 1; a < mesh.sizes.size(); ++a)
      stride *= mesh.sizes[a];
    for (size_t i = 0, n = ranks.size(); i < n; ++i)
      for (unsigned c = 1; c < mesh.sizes[axis]; ++c)
        ranks.push_back(ranks[i] + c * stride);
  }
  return ranks;
}

/// Runs `rank`'s next collective if its whole group stands at it.
std::optional<PlanFault> Group::advance(unsigned rank, bool &moved) {
  const Step *next = nextOf(rank);
  if (!next)
    return std::nullopt;
  const plan::Collective &mine = *at(rank, *next).op_as_Collective();
  std::vector<unsigned> group = groupOf(mesh, rank, listOf(mine.axes()));
  for (unsigned other : group) {
    const Step *step = nextOf(other);
    if (!step)
      return std::nullopt; // waits for ever
    const plan::Instruction &there = at(other, *step);
    const plan::Collective &its = *there.op_as_Collective();
    if (listOf(its.axes()) != listOf(mine.axes()))
      return std::nullopt; // waits, perhaps for ever
    if (!areAlike(mine, its) || step->times != next->times)
      return PlanFault{members[memberOf[rank]], int(next->instruction),
                       formatv("is the collective of rank {0} where rank {1} "
                               "has another, instruction {2} ({3})",
                               rank, other, step->instruction,
                               textOf(there.name()))
                           .str()};
  }
  for (unsigned other : group)
    ++position[other];
  moved = true;
  return std::nullopt;
}

/// Lets the ranks run their collectives, each in the order of its list: all
/// end, or some wait for each other.
std::optional<PlanFault> Group::checkCollectives() {
  for (int m = 0, n = int(members.size()); m < n; ++m) {
    sequences.emplace_back();
    collect(programOf(m), 0, lengthOf(programOf(m).instructions()), 1,
            sequences.back());
  }
  position.assign(mesh.ranks(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned rank = 0; rank < mesh.ranks(); ++rank)
      for (bool again = true; again;) {
        again = false;
        if (std::optional<PlanFault> found = advance(rank, again))
          return found;
        moved |= again;
      }
  }
  for (unsigned rank = 0; rank < mesh.ranks(); ++rank)
    if (const Step *stuck = nextOf(rank))
      return PlanFault{members[memberOf[rank]], int(stuck->instruction),
                       formatv("is a collective that rank {0} runs and others "
                               "of its axes do not, or in another order",
                               rank)
                           .str()};
  return std::nullopt;
}

std::optional<PlanFault> Group::check() {
  if (std::optional<PlanFault> found = checkRanks())
    return found;
  if (members.size() == 1)
    return std::nullopt; // all ranks run one list
  if (std::optional<PlanFault> found = checkInputs())
    return found;
  if (std::optional<PlanFault> found = checkOutputs())
    return found;
  return checkCollectives();
}

std::optional<PlanFault> checkGroups(const plan::Plan &plan, const Mesh &mesh) {
  MapVector<StringRef, SmallVector<int, 1>> groups;
  for (int p = 0, n = int(lengthOf(plan.programs())); p < n; ++p)
    groups[textOf(plan.programs()->Get(p)->name())].push_back(p);
  for (const auto &[name, members] : groups)
    if (std::optional<PlanFault> found = Group(plan, mesh, members).check())
      return found;
  return std::nullopt;
}

} // namespace colrow::runtime
