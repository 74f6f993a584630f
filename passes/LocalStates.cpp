// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States of local values, inferred op by op. R and C are one here: whether a
// gradient is shared shows in the backward, where its ops stand.

#include "LocalChecks.h"
#include "colrow/Layout/FactorRule.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using layout::FactorRule;
using layout::State;
using layout::StateKind;
using layout::Way;

namespace {
/// The states that a local value may be in on one axis: one, but behind a
/// reshape of dimensions of size 1, which leave open where a split stands.
class States {
public:
  States() = default;
  States(State state) : bits(bit(state)) {}

  /// Blocks of any of `rank` dimensions.
  static States split(unsigned rank) {
    States states;
    for (unsigned dim = 0; dim < rank; ++dim)
      states.add(State::S(dim));
    return states;
  }
  void add(States other) { bits |= other.bits; }
  bool may(State state) const { return bits & bit(state); }
  bool isWhole() const { return bits == bit(State::R()); }
  bool maySplit() const { return bits >= bit(State::S(0)); }
  std::string str() const {
    std::string text;
    auto list = [&](State state) {
      if (may(state))
        text += (text.empty() ? "" : " or ") + state.str();
    };
    list(State::R());
    list(State::P());
    list({StateKind::PartialMax, 0});
    for (unsigned dim = 0; dim < maxDims; ++dim)
      list(State::S(dim));
    return text;
  }

private:
  static constexpr unsigned maxDims = 60; // dimensions behind them count as it
  static uint64_t bit(State state) {
    switch (state.kind) {
    case StateKind::Replicated:
    case StateKind::Copied:
      return 1;
    case StateKind::Partial:
      return 2;
    case StateKind::PartialMax:
      return 4;
    case StateKind::Split:
      return uint64_t(8) << std::min(state.dim, maxDims);
    }
    return 0;
  }
  uint64_t bits = 0;
};

/// Infers and checks on one axis.
class AxisChecker {
public:
  AxisChecker(ModuleOp module, func::FuncOp step, tp::MeshAttr mesh,
              unsigned axis)
      : step(step), symbols(module), name(mesh.getNames()[axis]), axis(axis) {}

  LogicalResult run() {
    for (BlockArgument argument : step.getArguments())
      states[argument] = State::R();
    for (Block &block : step.getBody())
      for (Operation &op : block.without_terminator())
        if (failed(visit(&op)))
          return failure();
    return success();
  }

private:
  LogicalResult visit(Operation *op) {
    if (auto param = dyn_cast<tp::ParamOp>(op)) {
      states[param.getResult()] = stored(param.getSymbol());
      return success();
    }
    if (auto update = dyn_cast<tp::UpdateOp>(op))
      return wants(op, update.getValue(), stored(update.getSymbol()));
    if (auto output = dyn_cast<tp::OutputOp>(op))
      return wants(op, output.getValue(),
                   stateIn(tp::getLayoutAttr(output.getWhole().value_or(
                       output.getValue().getType()))));
    if (isa<tp::AllReduceOp, tp::AllGatherOp, tp::ReduceScatterOp>(op))
      return visitCollective(cast<tp::CollectiveOpInterface>(op));
    if (auto slice = dyn_cast<tp::LocalSliceOp>(op)) {
      if (!names(slice))
        return pass(op);
      states[slice.getResult()] = State::S(slice.getDim());
      return wants(op, slice.getInput(), State::R());
    }
    if (auto mask = dyn_cast<tp::MaskPaddingOp>(op)) {
      states[mask.getResult()] = states.lookup(mask.getInput());
      return wants(op, mask.getInput(), stateIn(mask.getLayout()));
    }
    if (auto shardable = dyn_cast<tp::ShardableOpInterface>(op))
      return visitShardable(shardable);
    return success();
  }

  /// State that the layout of a whole tensor gives; R without one.
  State stateIn(tp::LayoutAttr layout) const {
    return layout ? layout.getLayout().state(axis) : State::R();
  }

  State stored(StringRef symbol) const {
    Operation *op = symbols.lookup(symbol);
    if (auto parameter = dyn_cast<tp::ParameterOp>(op))
      return stateIn(tp::getLayoutAttr(parameter.getWholeType()));
    return stateIn(tp::getLayoutAttr(cast<tp::StateOp>(op).getWholeType()));
  }

  LogicalResult wants(Operation *op, Value value, State wanted) {
    States found = states.lookup(value);
    if (found.may(wanted))
      return success();
    return op->emitOpError("reads a value that is ")
           << found.str() << " on axis " << name << ", wanted " << wanted.str()
           << "; is a collective missing or one too many?";
  }

  /// True if the collective `op` works over this axis.
  bool names(tp::CollectiveOpInterface op) const {
    return llvm::is_contained(op.getAxes(), name);
  }

  LogicalResult pass(Operation *op) {
    states[op->getResult(0)] = states.lookup(op->getOperand(0));
    return success();
  }

  LogicalResult visitCollective(tp::CollectiveOpInterface op) {
    if (!names(op))
      return pass(op);
    // One without a reduction joins blocks; one with it may leave some.
    std::optional<int64_t> dim = op.getDimension();
    std::optional<tp::Reduction> reduction = op.getReductionKind();
    State from = !reduction ? State::S(*dim)
                 : *reduction == tp::Reduction::Sum
                     ? State::P()
                     : State{StateKind::PartialMax, 0};
    State to = reduction && dim ? State::S(*dim) : State::R();
    states[op->getResult(0)] = to;
    return wants(op, op->getOperand(0), from);
  }

  /// State of what `op` indexes into, by its position; R without one.
  State position(Operation *op) const {
    return stateIn(op->getAttrOfType<tp::LayoutAttr>("layout"));
  }

  bool fits(tp::ShardableOpInterface op, const FactorRule &rule, Way way,
            Value indexed) const {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (!states.lookup(operand).may(rule.operandState(way, i)))
        return false;
    // Of a result that an op fills by index its position tells the state.
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      if (result == indexed && !agree(rule.resultState(way, i), position(op)))
        return false;
    return true;
  }

  /// True if a value in `states` may have the position `said`, which tells
  /// blocks only.
  static bool agree(States states, State said) {
    return said.isSplit() ? states.may(said)
                          : states.may(State::R()) || states.may(State::P());
  }

  /// The rule is not asked: what is made of whole values is whole, unless a
  /// position says otherwise.
  bool makesWhole(Operation *op) {
    if (position(op).isSplit() ||
        !llvm::all_of(op->getOperands(), [&](Value operand) {
          return states.lookup(operand).isWhole();
        }))
      return false;
    for (Value result : op->getResults())
      states[result] = State::R();
    return true;
  }

  LogicalResult visitShardable(tp::ShardableOpInterface op) {
    if (makesWhole(op))
      return success();
    const FactorRule &rule = llvm::cantFail(tp::getRule(op));
    Value indexed = op.getIndexedValue();
    bool used = false;
    if (isa<tp::ReshapeOp>(op) && hasUnit(op) &&
        states.lookup(op->getOperand(0)).maySplit()) {
      states[op->getResult(0)].add(States::split(rule.results[0].size()));
      used = true;
    }
    for (Way way : rule.ways()) {
      if (!fits(op, rule, way, indexed))
        continue;
      used = true;
      for (auto [i, result] : llvm::enumerate(op->getResults()))
        states[result].add(rule.resultState(way, i));
    }
    return used ? checkPosition(op, indexed) : refuse(op);
  }

  LogicalResult refuse(Operation *op) {
    InFlightDiagnostic diag = op->emitOpError("has operands that are (");
    llvm::interleaveComma(op->getOperands(), diag, [&](Value operand) {
      diag << states.lookup(operand).str();
    });
    return diag << ") on axis " << name
                << ", in which it cannot be used; is a collective missing or "
                   "one too many, or a layout attribute wrong?";
  }

  /// True if a dimension of size 1 leaves open which dimensions a reshape joins
  /// and splits.
  static bool hasUnit(Operation *op) {
    auto unit = [](Value value) {
      return llvm::is_contained(
          cast<RankedTensorType>(value.getType()).getShape(), 1);
    };
    return unit(op->getOperand(0)) || unit(op->getResult(0));
  }

  LogicalResult checkPosition(Operation *op, Value indexed) {
    if (!indexed)
      return success();
    States found = states.lookup(indexed);
    State said = position(op);
    if (agree(found, said))
      return success();
    if (!op->hasAttr("layout"))
      return op->emitOpError(
                 "has no layout attribute, but what it indexes into "
                 "is ")
             << found.str() << " on axis " << name;
    return op->emitOpError("has a layout attribute of ")
           << said.str() << " on axis " << name << ", but what it indexes into "
           << "is " << found.str();
  }

  func::FuncOp step;
  SymbolTable symbols;
  StringAttr name;
  unsigned axis;
  llvm::DenseMap<Value, States> states;
};
} // namespace

LogicalResult passes::checkLocalStates(ModuleOp module, func::FuncOp step) {
  auto mesh = module->getAttrOfType<tp::MeshAttr>(tp::getMeshAttrName());
  for (unsigned axis = 0; mesh && axis < mesh.getNames().size(); ++axis)
    // How arguments lie on a batch axis their types do not tell.
    if (mesh.getSizes()[axis] > 1 && !mesh.getBatch()[axis] &&
        failed(AxisChecker(module, step, mesh, axis).run()))
      return failure();
  return success();
}
