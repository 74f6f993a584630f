// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases of a row kernel, and what is kept from one phase to the next.

#include "Schedule.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace colrow::kernel {

namespace {

class Scheduler {
public:
  Scheduler(const RowKernel &kernel) : kernel(kernel) {}
  Schedule run(bool keepRows);

private:
  void findLive();
  void findLevels();
  bool goesOverColumns(const Node &node) const;
  void placeEffects();
  bool isExpensive(const Node &node) const;
  void findCosts();
  void keepFrom(int32_t node, unsigned phase);
  void need(int32_t node, unsigned phase);
  template <typename Visit> void forRoots(unsigned phase, Visit visit) const;

  const RowKernel &kernel;
  Schedule result;
  /// Whether a node or anything below it, within the columns, is expensive.
  SmallVector<bool, 32> heavy;
  /// The first phase that computes a node.
  DenseMap<int32_t, unsigned> firstPhase;
  /// What `need` has visited in the phase at hand.
  DenseSet<int32_t> seen;
};

void Scheduler::findLive() {
  result.live.assign(kernel.nodes.size(), false);
  for (size_t i = kernel.nodes.size(); i-- > 0;) {
    const Node &node = kernel.nodes[i];
    result.live[i] = result.live[i] || isEffect(node.kind);
    if (result.live[i])
      for (int32_t operand : node.operands)
        if (operand >= 0)
          result.live[operand] = true;
  }
}

void Scheduler::findLevels() {
  for (const Node &node : kernel.nodes) {
    unsigned level = 0;
    for (int32_t operand : node.operands)
      if (operand >= 0)
        level = std::max(level, result.level[operand]);
    result.level.push_back(level + isRowReduction(node.kind));
  }
}

bool Scheduler::goesOverColumns(const Node &node) const {
  if (node.kind == NodeKind::TotalSum)
    return kernel.nodes[node.operands[0]].byCol;
  return kernel.args[node.arg].colStride != 0;
}

void Scheduler::placeEffects() {
  SmallVector<int32_t, 4> effects;
  unsigned last = 0, count = 0;
  for (auto [i, node] : enumerate(kernel.nodes)) {
    if (!result.live[i])
      continue;
    if (isRowReduction(node.kind)) {
      count = std::max(count, result.level[i]);
    } else if (isEffect(node.kind) && goesOverColumns(node)) {
      effects.push_back(i);
      last = std::max(last, result.level[i]);
    } else if (isEffect(node.kind)) {
      result.rowEffects.push_back(i);
    }
  }
  result.phases.resize(effects.empty() ? count : std::max(count, last + 1));
  for (auto [i, node] : enumerate(kernel.nodes))
    if (result.live[i] && isRowReduction(node.kind))
      result.phases[result.level[i] - 1].reductions.push_back(i);
  if (effects.empty())
    return;
  // The last phase, so that no load of a later phase sees what is stored.
  unsigned place = result.phases.size() - 1;
  result.phases[place].effects = effects;
}

bool Scheduler::isExpensive(const Node &node) const {
  switch (node.kind) {
  case NodeKind::Exp:
  case NodeKind::Log:
  case NodeKind::Tanh:
  case NodeKind::Erf:
  case NodeKind::Sqrt:
  case NodeKind::Rsqrt:
  case NodeKind::Reciprocal:
  case NodeKind::Div:
  case NodeKind::Philox:
  case NodeKind::PhiloxUniform:
    return true;
  case NodeKind::Load:
  case NodeKind::LoadRow:
    return kernel.args[node.arg].colStride != 1;
  default:
    return false;
  }
}

void Scheduler::findCosts() {
  for (const Node &node : kernel.nodes) {
    bool cost = node.byCol && isExpensive(node);
    for (int32_t operand : node.operands)
      if (operand >= 0 && kernel.nodes[operand].byCol &&
          !isRowReduction(node.kind))
        cost |= heavy[operand];
    heavy.push_back(cost);
  }
}

template <typename Visit>
void Scheduler::forRoots(unsigned phase, Visit visit) const {
  const Phase &tasks = result.phases[phase];
  for (int32_t task : concat<const int32_t>(tasks.reductions, tasks.effects))
    for (int32_t operand : kernel.nodes[task].operands)
      if (operand >= 0)
        visit(operand);
}

/// Keeps, of what `phase` needs below `node`, the topmost expensive values that
/// an earlier phase computes.
void Scheduler::keepFrom(int32_t node, unsigned phase) {
  if (!kernel.nodes[node].byCol || !heavy[node] || result.kept.count(node))
    return;
  auto first = firstPhase.find(node);
  bool computedBefore = first != firstPhase.end() && first->second < phase;
  if (computedBefore && kernel.nodes[node].type == Type::F32) {
    unsigned slot = result.kept.size();
    result.kept[node] = {slot, first->second};
    return;
  }
  for (int32_t operand : kernel.nodes[node].operands)
    if (operand >= 0)
      keepFrom(operand, phase);
}

/// Notes that `phase` computes `node` and what is below it.
void Scheduler::need(int32_t node, unsigned phase) {
  if (!kernel.nodes[node].byCol ||
      (result.kept.count(node) && result.kept[node].phase < phase))
    return;
  if (!firstPhase.try_emplace(node, phase).second && firstPhase[node] == phase)
    return;
  for (int32_t operand : kernel.nodes[node].operands)
    if (operand >= 0)
      need(operand, phase);
}

Schedule Scheduler::run(bool keepRows) {
  findLive();
  findLevels();
  placeEffects();
  if (!keepRows)
    return std::move(result);
  findCosts();
  for (unsigned phase = 0; phase < result.phases.size(); ++phase) {
    seen.clear();
    forRoots(phase, [&](int32_t node) { keepFrom(node, phase); });
    forRoots(phase, [&](int32_t node) { need(node, phase); });
  }
  return std::move(result);
}

} // namespace

Schedule schedule(const RowKernel &kernel, bool keepRows) {
  return Scheduler(kernel).run(keepRows);
}

} // namespace colrow::kernel
