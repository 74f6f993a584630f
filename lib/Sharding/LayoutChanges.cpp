// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work and prices of the changes of layout.

#include "colrow/Sharding/LayoutChanges.h"
#include "colrow/dialects/TP/TP.h"

using namespace colrow;
using namespace colrow::sharding;
using layout::State;
using layout::StateKind;
using llvm::SmallVector;
using solver::Cost;

GradientFactors sharding::gradientFactorsOf(mlir::Value value) {
  // The analyzer does not know that no type has no bits.
  int64_t bytes = std::max<int64_t>(tp::elementBytes(value.getType()), 1);
  auto factor = [&](bool isShare) {
    return tp::elementBytes(tp::gradientElement(value, isShare)) / bytes;
  };
  return {factor(/*isShare=*/false), factor(/*isShare=*/true)};
}

uint8_t sharding::indexOf(const ChangeQuery &query, const ValueState &state) {
  return llvm::find(query.states, state) - query.states.begin();
}

std::optional<NamedItem> sharding::changeWork(StateKind from, StateKind to,
                                              int64_t before, int64_t after,
                                              unsigned ranks, unsigned stride) {
  using K = StateKind;
  auto change = [&](llvm::StringRef op, cost::ChangeKind kind, int64_t bytes) {
    return NamedItem{op, cost::Change{kind, bytes, ranks, stride}};
  };
  if (ranks == 1)
    return std::nullopt;
  if (from == K::Split && to == K::Split)
    return change(tp::AllToAllOp::getOperationName(),
                  cost::ChangeKind::AllToAll, before);
  if (from == K::Split)
    return change(tp::AllGatherOp::getOperationName(),
                  cost::ChangeKind::AllGather, after);
  if (from == K::Partial && to == K::Split)
    return change(tp::ReduceScatterOp::getOperationName(),
                  cost::ChangeKind::ReduceScatter, before);
  if (to == K::Split)
    return NamedItem{tp::LocalSliceOp::getOperationName(),
                     cost::Rows{0, after}};
  if (from == K::Partial || from == K::PartialMax)
    return change(tp::AllReduceOp::getOperationName(),
                  cost::ChangeKind::AllReduce, before);
  return std::nullopt; // R to C
}

/// Whether one op leads from state `from` to state `to`.
static bool isOffered(const ChangeQuery &query, unsigned from, unsigned to) {
  using K = StateKind;
  K a = query.states[from].state.kind, b = query.states[to].state.kind;
  bool gradient = query.states[to].gradient;
  if (a == K::Replicated && b == K::Copied) // f
    return true;
  if (query.isParameter) // used where it is stored
    return false;
  if (b == K::Replicated) // unslice; a gradient's slice would need no padding
    return a == K::Partial || a == K::PartialMax ||
           (a == K::Split && !(gradient && query.padded[from]));
  // gather; a gradient's scatter is not offered
  return a == K::Split && b == K::Copied && !gradient;
}

std::optional<SmallVector<NamedItem, 2>>
sharding::changeWork(const ChangeQuery &query, unsigned from, unsigned to) {
  const ValueState &a = query.states[from], &b = query.states[to];
  SmallVector<NamedItem, 2> items;
  if (b.gradient && !a.gradient)
    return std::nullopt;
  if (a.state == b.state) // the same value
    return items;
  if (!isOffered(query, from, to))
    return std::nullopt;
  auto add = [&](StateKind before, StateKind after, unsigned i, unsigned j,
                 int64_t factor) {
    if (auto work =
            changeWork(before, after, query.heldBytes[i] * factor,
                       query.heldBytes[j] * factor, query.ranks, query.stride))
      items.push_back(*work);
  };
  add(a.state.kind, b.state.kind, from, to, 1);
  StateKind incoming = b.state.dual().kind;
  if (b.gradient)
    add(incoming, a.state.dual().kind, to, from,
        incoming == StateKind::Partial ? query.gradientFactors.share
                                       : query.gradientFactors.whole);
  return items;
}

Cost sharding::priceOf(llvm::ArrayRef<NamedItem> items,
                       const cost::CostModel &model) {
  Cost cost;
  for (const NamedItem &named : items)
    cost += {model.workPs(named.item), cost::collectivesOf(named.item),
             cost::sentBytesOf(named.item)};
  return cost;
}

solver::ConversionTable
sharding::makeConversions(const ChangeQuery &query,
                          const cost::CostModel &model) {
  solver::ConversionTable table;
  table.numStates = query.states.size();
  for (unsigned from = 0; from < table.numStates; ++from)
    for (unsigned to = 0; to < table.numStates; ++to) {
      auto work = changeWork(query, from, to);
      table.cost.push_back(work ? priceOf(*work, model) : Cost::infinite());
    }
  return table;
}

ChangeQuery sharding::makeQuery(mlir::Value value, bool reached, unsigned axis,
                                const layout::Mesh &mesh,
                                llvm::ArrayRef<ValueState> wanted) {
  auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
  layout::Layout layout = tp::getLayoutAttr(type).getLayout();
  ValueState produced{layout.state(axis), reached};
  ChangeQuery query;
  query.states = {produced};
  auto add = [&](ValueState state) {
    if (!llvm::is_contained(query.states, state))
      query.states.push_back(state);
  };
  bool without = llvm::any_of(
      wanted, [](const ValueState &want) { return !want.gradient; });
  add({State::R(), reached});
  add({State::C(), reached});
  if (without) {
    add({State::R(), false});
    add({State::C(), false});
  }
  llvm::for_each(wanted, add);
  int64_t block = tp::localBytes(type);
  int64_t whole = tp::localBytes(tp::withLayout(
      type, tp::LayoutAttr::get(tp::getLayoutAttr(type).getMesh(),
                                layout.withState(axis, State::R()))));
  for (const ValueState &state : query.states) {
    bool split = state.state.isSplit() && state.state == produced.state;
    query.heldBytes.push_back(split ? block : whole);
    query.padded.push_back(split && layout.isPadded(state.state.dim));
  }
  query.ranks = mesh.groupSize(axis);
  query.stride = mesh.stride(axis);
  query.isParameter = mlir::isa_and_nonnull<tp::ParamOp>(value.getDefiningOp());
  query.gradientFactors = gradientFactorsOf(value);
  return query;
}

std::optional<ChangePlan> sharding::planChanges(
    mlir::Value value, bool reached, unsigned axis, const layout::Mesh &mesh,
    llvm::ArrayRef<ValueState> wanted, const cost::CostModel &model) {
  // Most values are used as they are made.
  State produced = tp::getLayoutAttr(value).getLayout().state(axis);
  if (llvm::all_of(wanted, [&](auto &want) { return want.state == produced; }))
    return ChangePlan();
  ChangePlan plan{makeQuery(value, reached, axis, mesh, wanted), {}};
  solver::StateSet set = 0;
  for (const ValueState &want : wanted)
    set |= 1 << indexOf(plan.query, want);
  unsigned ranks = plan.query.ranks;
  plan.query.ranks = std::max(2u, ranks);
  solver::ConversionTrees trees(makeConversions(plan.query, model));
  plan.query.ranks = ranks;
  if (trees.cost(0, set).isInfinite())
    return std::nullopt;
  plan.edges = trees.edges(0, set);
  return plan;
}
