// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices of the changes of layout.

#include "Conversions.h"
#include "colrow/TP/TP.h"

using namespace colrow;
using namespace colrow::passes;
using layout::StateKind;
using solver::Cost;

namespace {
class Pricer {
public:
  Pricer(const ConversionQuery &query, const cost::CostModel &model)
      : query(query), model(model) {}

  Cost price(unsigned from, unsigned to) const {
    using K = StateKind;
    K a = query.states[from].kind, b = query.states[to].kind;
    if (from == to)
      return {};
    if (a == K::Replicated && b == K::Copied) // f; backward g
      return query.needsGradient ? allReduce() : Cost{};
    if (query.isParameter) // used where it is stored
      return Cost::infinite();
    if (a == K::Partial && b == K::Replicated) // g; backward f
      return allReduce();
    if (a == K::PartialMax && b == K::Replicated)
      return allReduce();
    // gather; its backward would be a scatter, which is not offered.
    if (a == K::Split && b == K::Copied)
      return query.needsGradient ? Cost::infinite() : gather();
    if (a == K::Split && b == K::Replicated) // unslice; backward slice
      return query.padded[from] ? Cost::infinite() : gather();
    return Cost::infinite();
  }

private:
  Cost allReduce() const {
    return free()
               ? Cost{}
               : Cost{model.allReducePs(query.bytes, query.ranks, query.stride),
                      1, cost::allReduceBytes(query.bytes, query.ranks)};
  }
  Cost gather() const {
    return free()
               ? Cost{}
               : Cost{model.allGatherPs(query.bytes, query.ranks, query.stride),
                      1, cost::allGatherBytes(query.bytes, query.ranks)};
  }
  bool free() const { return query.ranks == 1; }

  const ConversionQuery &query;
  const cost::CostModel &model;
};
} // namespace

solver::ConversionTable passes::makeConversions(const ConversionQuery &query,
                                                const cost::CostModel &model) {
  solver::ConversionTable table;
  table.numStates = query.states.size();
  Pricer pricer(query, model);
  for (unsigned from = 0; from < table.numStates; ++from)
    for (unsigned to = 0; to < table.numStates; ++to)
      table.cost.push_back(pricer.price(from, to));
  return table;
}

ConversionQuery passes::makeQuery(mlir::Value value, unsigned axis,
                                  const layout::Mesh &mesh,
                                  llvm::ArrayRef<layout::State> wanted) {
  using layout::State;
  layout::Layout layout = tp::getLayoutAttr(value).getLayout();
  State produced = layout.state(axis);
  ConversionQuery query;
  query.states = {produced};
  auto add = [&](State state) {
    if (!llvm::is_contained(query.states, state))
      query.states.push_back(state);
  };
  add(State::R());
  add(State::C());
  llvm::for_each(wanted, add);
  for (State state : query.states)
    query.padded.push_back(state.isSplit() && state == produced &&
                           layout.isPadded(state.dim));
  query.bytes =
      mlir::cast<mlir::RankedTensorType>(value.getType()).getNumElements() * 4;
  query.ranks = mesh.axes[axis].size;
  query.isParameter = mlir::isa_and_nonnull<tp::ParamOp>(value.getDefiningOp());
  return query;
}
