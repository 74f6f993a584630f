// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a graph to a solver problem.

#include "colrow/Sharding/AxisProblem.h"
#include "colrow/Sharding/Scratch.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::sharding;
using layout::FactorRule;
using layout::State;
using layout::Way;

LogicalResult AxisProblem::build() {
  if (failed(checkUnits()))
    return failure();
  for (Value argument : step.getArguments()) {
    if (failed(addValue(argument)))
      return failure();
    solver::ChoiceTable onlyWhole;
    onlyWhole.choices.push_back({{}, {0}, {}});
    addNode(nullptr, {}, argument, intern(onlyWhole));
    addLeaving(argument);
  }
  Block &body = step.getBody().front();
  for (Operation &op : body.without_terminator()) {
    auto param = dyn_cast<tp::ParamOp>(op);
    if (failed(param ? addParameter(param) : addOp(&op)))
      return failure();
    for (Value result : op.getResults())
      addLeaving(result);
  }
  return success();
}

/// Heads are not cut: fewer of them than ranks cannot be dealt out.
LogicalResult AxisProblem::checkUnits() {
  const layout::MeshAxis &dealt = mesh.axes[axis];
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (isa<tp::ParamOp>(op))
      continue;
    for (Value value : op.getResults())
      for (auto [d, size] : llvm::enumerate(tp::shapeOf(value))) {
        int64_t units = classes.units(value, d);
        if (!classes.isFeature(value, d) || units == size ||
            units >= dealt.size)
          continue;
        return op.emitOpError()
               << "has " << units << " units of " << size / units
               << " along dimension " << d << " (heads or key-value groups), "
               << "fewer than the " << dealt.size << " ranks of axis \""
               << dealt.name << "\"; use at most " << dealt.name << "="
               << units;
      }
  }
  return success();
}

layout::Layout AxisProblem::layoutOf(Value value, State state) {
  ArrayRef<int64_t> shape = tp::shapeOf(value);
  layout::Layout layout(shape.size());
  if (!state.isSplit())
    return layout.withState(axis, state);
  layout.dims[state.dim] = layout::splitDim(
      shape[state.dim], classes.units(value, state.dim), axis, mesh);
  return layout;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// All states in which `value` can be; `mixed` if some of its uses take no
/// gradient though others do.
AxisProblem::ValueClass AxisProblem::makeValue(Value value, bool mixed) {
  auto type = cast<RankedTensorType>(value.getType());
  ValueClass info;
  bool reached = gradients.reach(value);
  SmallVector<State> states = {State::R()};
  if (tp::carriesGradient(type)) {
    states.append({State::C(), State::P()});
    for (unsigned d = 0; d < type.getRank(); ++d)
      if (classes.isFeature(value, d))
        states.push_back(State::S(d));
  }
  SmallVector<bool, 2> gradients = {reached};
  if (mixed)
    gradients.push_back(false);
  for (bool gradient : gradients)
    for (State state : states) {
      layout::Layout layout = layoutOf(value, state);
      auto attr = tp::LayoutAttr::get(table.getMeshAttr(), layout);
      info.query.states.push_back({state, gradient});
      info.query.heldBytes.push_back(
          tp::localBytes(tp::withLayout(type, attr)));
      info.query.padded.push_back(state.isSplit() &&
                                  layout.isPadded(state.dim));
      info.layouts.push_back(attr);
    }
  info.query.ranks = mesh.groupSize(axis);
  info.query.stride = mesh.stride(axis);
  info.query.isParameter = isa_and_nonnull<tp::ParamOp>(value.getDefiningOp());
  info.query.gradientFactors = gradientFactorsOf(value);
  return info;
}

LogicalResult AxisProblem::addValue(Value value) {
  bool reached = gradients.reach(value);
  bool mixed =
      reached && llvm::any_of(value.getUses(), [&](OpOperand &use) {
        return !gradients.pass(use) &&
               !(use.getOwner() == step.getBody().front().getTerminator() &&
                 findLoss(step) == use.getOperandNumber());
      });
  GradientFactors factors = gradientFactorsOf(value);
  std::vector<int64_t> key = {
      int64_t(reinterpret_cast<intptr_t>(value.getType().getAsOpaquePointer())),
      reached,
      mixed,
      isa_and_nonnull<tp::ParamOp>(value.getDefiningOp()),
      factors.whole,
      factors.share};
  for (unsigned d = 0; d < tp::shapeOf(value).size(); ++d)
    key.push_back(classes.isFeature(value, d) ? classes.units(value, d) : 0);
  auto [it, isNew] = valueKinds.try_emplace(key, values.size());
  if (isNew) {
    ValueClass info = makeValue(value, mixed);
    if (info.query.states.size() > solver::maxStates)
      return emitError(value.getLoc())
             << "a value of type " << value.getType() << " has "
             << info.query.states.size() << " states on axis "
             << table.getAxisName() << ", and the solver holds "
             << solver::maxStates << "; a tensor of fewer dimensions has fewer";
    info.conversion = problem.conversions.size();
    problem.conversions.push_back(
        makeConversions(info.query, table.getModel()));
    values.push_back(std::move(info));
  }
  valueIndex[value] = valueKind.size();
  valueKind.push_back(it->second);
  problem.valueConversion.push_back(values[it->second].conversion);
  return success();
}

std::optional<uint8_t> AxisProblem::stateIndex(Value value,
                                               ValueState state) const {
  const ChangeQuery &query = infoOf(value).query;
  uint8_t index = indexOf(query, state);
  if (index == query.states.size())
    return std::nullopt;
  return index;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

unsigned AxisProblem::intern(solver::ChoiceTable table) {
  problem.choices.push_back(std::move(table));
  return problem.choices.size() - 1;
}

void AxisProblem::addNode(Operation *op, ValueRange operands,
                          ValueRange results, unsigned choiceTable) {
  solver::Node node;
  for (Value operand : operands)
    node.operands.push_back(valueIndex.lookup(operand));
  for (Value result : results)
    node.results.push_back(valueIndex.lookup(result));
  node.choiceTable = choiceTable;
  problem.nodes.push_back(std::move(node));
  opOfNode.push_back(op);
}

/// A parameter is stored as it is already, or whole or split.
LogicalResult AxisProblem::addParameter(tp::ParamOp param) {
  Value value = param.getResult();
  if (failed(addValue(value)))
    return failure();
  tp::LayoutAttr stored = tp::getLayoutAttr(parameterOf(param).getType());
  anyStored |= bool(stored);
  const ValueClass &info = infoOf(value);
  solver::ChoiceTable choices;
  for (auto [i, state] : llvm::enumerate(info.query.states)) {
    bool fits = stored ? info.layouts[i] == stored
                       : state.state == State::R() || state.state.isSplit();
    if (!fits || state.gradient != gradients.reach(value))
      continue;
    solver::Cost cost;
    if (state.gradient)
      cost = priceOf(
          table.getUpdate(tp::withLayout(value.getType(), info.layouts[i])),
          table.getModel());
    choices.choices.push_back({{}, {uint8_t(i)}, cost});
  }
  unsigned choiceTable = intern(choices);
  addNode(param, {}, value, choiceTable);
  if (!stored)
    parameters.insert(
        {parameterOf(param), {value, choiceTable, std::move(choices)}});
  return success();
}

/// Adds the choice of `way` if all its states are possible.
bool AxisProblem::addChoice(Operation *op, const FactorRule &rule, Way way,
                            solver::ChoiceTable &choices) {
  solver::Choice choice;
  OpUse use;
  use.way = StringAttr::get(op->getContext(), rule.wayName(way));
  // In a gradient's path or not, a layout is the same.
  auto add = [&](Value value, ValueState state, auto &indices, auto &types) {
    std::optional<uint8_t> i = stateIndex(value, state);
    if (!i)
      return false;
    indices.push_back(*i);
    types.push_back(tp::withLayout(value.getType(), infoOf(value).layouts[*i]));
    return true;
  };
  for (OpOperand &operand : op->getOpOperands()) {
    State state = rule.operandState(way, operand.getOperandNumber());
    if (!add(operand.get(), {state, gradients.pass(operand)},
             choice.operandStates, use.operands))
      return false;
    use.wanted.push_back(gradients.pass(operand));
    use.parameters.push_back(tp::findParam(operand.get()));
  }
  for (auto [i, value] : llvm::enumerate(op->getResults())) {
    bool reached = gradients.reach(value);
    if (!add(value, {rule.resultState(way, i), reached}, choice.resultStates,
             use.results))
      return false;
    use.incoming.push_back(reached);
  }
  choice.cost = priceOf(table.get(op, use).items, table.getModel());
  choices.choices.push_back(std::move(choice));
  return true;
}

AxisProblem::OpClass AxisProblem::makeOp(Operation *op,
                                         const FactorRule &rule) {
  solver::ChoiceTable choices;
  OpClass info;
  for (Way way : rule.ways())
    if (addChoice(op, rule, way, choices))
      info.ways.push_back(StringAttr::get(op->getContext(), rule.wayName(way)));
  info.choiceTable = intern(std::move(choices));
  return info;
}

LogicalResult AxisProblem::addOp(Operation *op) {
  for (Value result : op->getResults())
    if (failed(addValue(result)))
      return failure();
  auto key = signatureOf(op, {}, {});
  auto note = [&](Value value, bool flag) {
    uintptr_t number = valueKind[valueIndex.lookup(value)];
    key.push_back(reinterpret_cast<const void *>(number << 1 | flag));
  };
  for (OpOperand &use : op->getOpOperands())
    note(use.get(), gradients.pass(use));
  for (Value result : op->getResults())
    note(result, false);
  auto [it, isNew] = opKinds.try_emplace(std::move(key), ops.size());
  if (isNew)
    ops.push_back(makeOp(op, classes.getRule(op)));
  nodeOf.insert({op, {unsigned(problem.nodes.size()), it->second}});
  addNode(op, op->getOperands(), op->getResults(), ops[it->second].choiceTable);
  return success();
}

/// `value` as a result, if it is one: a result that leaves whole is wanted so,
/// others may leave in blocks. Where the value is made, for until its last
/// consumer the solver keeps all its states apart.
void AxisProblem::addLeaving(Value value) {
  Operation *op = step.getBody().front().getTerminator();
  for (OpOperand &use : value.getUses()) {
    if (use.getOwner() != op)
      continue;
    unsigned number = use.getOperandNumber();
    bool gradient = findLoss(step) == number && gradients.reach(value);
    solver::ChoiceTable choices;
    for (auto [i, state] : llvm::enumerate(infoOf(value).query.states)) {
      bool fits = tp::leavesWhole(step, number)
                      ? state.state == State::R()
                      : state.state == State::R() || state.state.isSplit();
      if (fits && state.gradient == gradient)
        choices.choices.push_back({{uint8_t(i)}, {}, {}});
    }
    addNode(op, value, {}, intern(std::move(choices)));
  }
}
