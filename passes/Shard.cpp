// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-shard: the graph as a solver problem, and the solution as layouts.

#include "Conversions.h"
#include "DimClasses.h"
#include "Gradients.h"
#include "Prediction.h"
#include "colrow/Cost/CostModel.h"
#include "colrow/Passes/Passes.h"
#include "colrow/Solver/Solver.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

namespace colrow::passes {
#define GEN_PASS_DEF_SHARD
#include "colrow/Passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using layout::FactorRule;
using layout::State;
using layout::Way;
using layout::WayKind;
using solver::Cost;

namespace {

/// Choices of layouts on one feature axis.
class AxisProblem {
public:
  AxisProblem(ModuleOp module, func::FuncOp step, layout::Mesh mesh,
              unsigned axis, const cost::CostModel &model)
      : module(module), step(step), mesh(std::move(mesh)), axis(axis),
        ranks(this->mesh.axes[axis].size), model(model), symbols(module) {}

  LogicalResult run(ArrayRef<std::string> pinTexts);
  /// Tries all assignments and compares the cost of the best.
  LogicalResult checkExhaustively();
  uint64_t getTransitions() const { return solution.transitionsComputed; }

private:
  LogicalResult readRules();
  LogicalResult readPins(ArrayRef<std::string> texts);
  LogicalResult checkUnits();
  void addValue(Value value);
  unsigned addParameter(tp::ParamOp param);
  void addOp(Operation *op);
  void addReturn(Operation *op);
  LogicalResult solve();
  void write();

  tp::ParameterOp parameterOf(tp::ParamOp param) {
    return symbols.lookup<tp::ParameterOp>(param.getSymbol());
  }
  /// Layout of `value` in `state`.
  layout::Layout layoutOf(Value value, State state);
  SmallVector<int64_t> localShape(Value value, State state) {
    auto shape = cast<RankedTensorType>(value.getType()).getShape();
    return layoutOf(value, state).localShape(shape, mesh);
  }
  std::optional<uint8_t> stateIndex(Value value, State state);
  Cost costOf(Operation *op, const FactorRule &rule, Way way);
  unsigned intern(solver::ChoiceTable table);
  unsigned intern(solver::ConversionTable table);

  ModuleOp module;
  func::FuncOp step;
  layout::Mesh mesh;
  unsigned axis;
  int64_t ranks;
  const cost::CostModel &model;
  SymbolTable symbols;

  llvm::MapVector<Operation *, FactorRule> rules;
  std::unique_ptr<DimClasses> classes;
  llvm::DenseMap<Operation *, unsigned> pins; // tp.parameter -> dimension
  llvm::DenseSet<Value> needsGradient;

  solver::Problem problem;
  llvm::DenseMap<Value, unsigned> valueIndex;
  llvm::StringMap<unsigned> parameterValue;
  llvm::DenseMap<Operation *, unsigned> nodeOf;
  SmallVector<Operation *> opOfNode;
  SmallVector<SmallVector<State, 6>> states; // per solver value
  SmallVector<SmallVector<Way>> waysOfNode;  // per node with an op
  solver::Solution solution;
};

LogicalResult AxisProblem::run(ArrayRef<std::string> pinTexts) {
  if (failed(readRules()) || failed(readPins(pinTexts)) || failed(checkUnits()))
    return failure();
  needsGradient = findValuesWithGradient(module, step);
  for (Value argument : step.getArguments())
    addValue(argument);
  for (Operation &op : step.getBody().front()) {
    if (auto param = dyn_cast<tp::ParamOp>(op))
      addParameter(param);
    else if (isa<func::ReturnOp>(op))
      addReturn(&op);
    else
      addOp(&op);
  }
  if (failed(solve()))
    return failure();
  write();
  return success();
}

LogicalResult AxisProblem::readRules() {
  for (Operation &op : step.getBody().front()) {
    if (auto param = dyn_cast<tp::ParamOp>(op); param && !parameterOf(param))
      return op.emitOpError("reads @")
             << param.getSymbol()
             << ", which is optimizer state; a graph reads parameters only";
    if (isa<tp::ParamOp, func::ReturnOp>(op))
      continue;
    auto shardable = dyn_cast<tp::ShardableOpInterface>(op);
    if (!shardable)
      return op.emitOpError("has no factor rule, so tp-shard cannot tell how "
                            "to split it; express it by tp ops");
    auto rule = shardable.getFactorRule();
    if (!rule)
      return op.emitOpError() << llvm::toString(rule.takeError());
    rules.insert({&op, *rule});
  }
  classes = std::make_unique<DimClasses>(step, rules, [&](Operation *param) {
    return parameterOf(cast<tp::ParamOp>(param)).getCheckpointRank();
  });
  return success();
}

/// Parses PARAM=DIM:AXIS.
LogicalResult AxisProblem::readPins(ArrayRef<std::string> texts) {
  for (StringRef text : texts) {
    auto [name, place] = text.rsplit('=');
    auto [dimText, axisName] = place.split(':');
    unsigned dim;
    if (name.empty() || dimText.getAsInteger(10, dim) || axisName.empty())
      return module.emitError() << "pin '" << text
                                << "': wanted PARAM=DIM:AXIS, as in "
                                   "transformer.wte.weight=0:tp";
    auto parameter = symbols.lookup<tp::ParameterOp>(name);
    if (!parameter)
      return module.emitError()
             << "pin '" << text << "': no parameter is called '" << name
             << "'; tp-import prints their names";
    std::optional<unsigned> pinned = mesh.find(axisName);
    if (!pinned)
      return module.emitError()
             << "pin '" << text << "': the mesh has no axis '" << axisName
             << "'";
    if (dim >= parameter.getTensorType().getRank())
      return module.emitError()
             << "pin '" << text << "': '" << name << "' has "
             << parameter.getTensorType().getRank() << " dimensions";
    StringRef wanted = name;
    bool isRead = false;
    step.walk([&](tp::ParamOp p) { isRead |= p.getSymbol() == wanted; });
    if (!isRead)
      return module.emitError()
             << "pin '" << text << "': the step never reads '" << name << "'";
    // One rank holds the whole, split or not. Types do not say so, and the
    // order of sums, of gradients for instance, would follow them.
    if (*pinned != axis || ranks == 1)
      continue;
    auto [it, isNew] = pins.try_emplace(parameter, dim);
    if (!isNew && it->second != dim)
      return module.emitError()
             << "pin '" << text << "': '" << name
             << "' is already pinned on dimension " << it->second;
  }
  return success();
}

/// Heads are not cut: fewer of them than ranks cannot be dealt out.
LogicalResult AxisProblem::checkUnits() {
  for (auto &[op, rule] : rules)
    for (auto [i, value] : llvm::enumerate(op->getResults()))
      for (unsigned d = 0; d < rule.results[i].size(); ++d) {
        int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(d);
        int64_t units = classes->units(value, d);
        if (!classes->isFeature(value, d) || units == size || units >= ranks)
          continue;
        return op->emitOpError()
               << "has " << units << " units of " << size / units
               << " along dimension " << d << " (heads or key-value groups), "
               << "fewer than the " << ranks << " ranks of axis \""
               << mesh.axes[axis].name << "\"; use at most "
               << mesh.axes[axis].name << "=" << units;
      }
  return success();
}

layout::Layout AxisProblem::layoutOf(Value value, State state) {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  layout::Layout layout(shape.size());
  switch (state.kind) {
  case layout::StateKind::Replicated:
    break;
  case layout::StateKind::Copied:
    layout.copied.push_back(axis);
    break;
  case layout::StateKind::Partial:
    layout.partial.push_back(axis);
    break;
  case layout::StateKind::PartialMax:
    layout.partialMax.push_back(axis);
    break;
  case layout::StateKind::Split:
    layout.dims[state.dim] = layout::splitDim(
        shape[state.dim], classes->units(value, state.dim), axis, mesh);
    break;
  }
  return layout;
}

/// Registers `value` with its possible states and conversions.
void AxisProblem::addValue(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  ConversionQuery query;
  query.states = {State::R()};
  bool isFloat = type.getElementType().isF32();
  if (isFloat) {
    query.states.push_back(State::C());
    query.states.push_back(State::P());
    for (unsigned d = 0; d < type.getRank(); ++d)
      if (classes->isFeature(value, d) &&
          query.states.size() < solver::kMaxStates)
        query.states.push_back(State::S(d));
  }
  for (State state : query.states)
    query.padded.push_back(state.isSplit() &&
                           layoutOf(value, state).isPadded(state.dim));
  query.bytes = type.getNumElements() * 4;
  query.ranks = ranks;
  for (unsigned inner = axis + 1; inner < mesh.axes.size(); ++inner)
    query.stride *= mesh.axes[inner].size;
  query.isParameter = isa_and_nonnull<tp::ParamOp>(value.getDefiningOp());
  query.needsGradient = needsGradient.contains(value);
  valueIndex[value] = problem.valueConversion.size();
  states.push_back(query.states);
  problem.valueConversion.push_back(intern(makeConversions(query, model)));
  if (isa<BlockArgument>(value)) {
    solver::ChoiceTable table;
    table.choices.push_back({{}, {0}, {}});
    problem.nodes.push_back({{}, {valueIndex[value]}, intern(table)});
    opOfNode.push_back(nullptr);
    waysOfNode.push_back({});
  }
}

unsigned AxisProblem::intern(solver::ChoiceTable table) {
  problem.choices.push_back(std::move(table));
  return problem.choices.size() - 1;
}

unsigned AxisProblem::intern(solver::ConversionTable table) {
  problem.conversions.push_back(std::move(table));
  return problem.conversions.size() - 1;
}

std::optional<uint8_t> AxisProblem::stateIndex(Value value, State state) {
  auto &list = states[valueIndex.lookup(value)];
  auto *it = llvm::find(list, state);
  if (it == list.end())
    return std::nullopt;
  return it - list.begin();
}

/// A parameter is one value however often it is read: one stored layout.
unsigned AxisProblem::addParameter(tp::ParamOp param) {
  auto [it, isNew] = parameterValue.try_emplace(param.getSymbol(), 0);
  if (!isNew) {
    valueIndex[param.getResult()] = it->second;
    return it->second;
  }
  addValue(param.getResult());
  it->second = valueIndex[param.getResult()];
  tp::ParameterOp parameter = parameterOf(param);
  auto pin = pins.find(parameter);
  solver::ChoiceTable table;
  for (auto [i, state] : llvm::enumerate(states[it->second])) {
    bool stored = state == State::R() || state.isSplit();
    if (pin != pins.end())
      stored = state == State::S(pin->second);
    if (!stored)
      continue;
    int64_t elements = 1;
    for (int64_t size : localShape(param.getResult(), state))
      elements *= size;
    // AdamW reads p, g, m, v and writes p, m, v; the norm reads g once more.
    int64_t bytes = parameter.getFrozen() ? 0 : 8 * 4 * elements;
    table.choices.push_back(
        {{}, {uint8_t(i)}, {model.computePs(0, bytes), 0, 0}});
  }
  problem.nodes.push_back({{}, {it->second}, intern(table)});
  opOfNode.push_back(param);
  waysOfNode.push_back({});
  return it->second;
}

/// Time of `op` and of its gradient used in `way`, decompositions' collectives
/// included.
Cost AxisProblem::costOf(Operation *op, const FactorRule &rule, Way way) {
  SmallVector<SmallVector<int64_t>> operands, results;
  SmallVector<bool> wanted = findWantedOperands(op, needsGradient);
  int64_t bytes = 0;
  // Rows fuse: a memory-bound op reads its operands where another one has just
  // made them, so what it moves is its result.
  bool fuses = isa<tp::RowLowerableOpInterface>(op);
  auto local = [&](Value value, State state, bool counts) {
    if (state.kind == layout::StateKind::PartialMax)
      state = State::P();
    SmallVector<int64_t> shape = localShape(value, state);
    int64_t elements = 1;
    for (int64_t size : shape)
      elements *= size;
    bytes += counts ? 4 * elements : 0;
    return shape;
  };
  for (auto [i, value] : llvm::enumerate(op->getOperands()))
    operands.push_back(local(value, rule.operandState(way, i), !fuses));
  for (auto [i, value] : llvm::enumerate(op->getResults()))
    results.push_back(local(value, rule.resultState(way, i), true));
  int64_t flops = 0, gradientFlops = 0;
  Cost cost;
  if (auto costed = dyn_cast<tp::CostedOpInterface>(op)) {
    flops = costed.getFlops(operands, results);
    gradientFlops = costed.getGradientFlops(operands, results, wanted);
    if (way.kind == WayKind::Split && rule.factors[way.factor].decomposed &&
        ranks > 1)
      for (int64_t elements : costed.getDecompositionReduces())
        cost += {model.allReducePs(4 * elements, ranks), 1,
                 cost::allReduceBytes(4 * elements, ranks)};
  }
  cost.picoseconds += model.computePs(flops, bytes);
  if (llvm::is_contained(wanted, true))
    cost.picoseconds += model.computePs(gradientFlops, (fuses ? 1 : 2) * bytes);
  return cost;
}

void AxisProblem::addOp(Operation *op) {
  for (Value result : op->getResults())
    addValue(result);
  const FactorRule &rule = rules.find(op)->second;
  solver::ChoiceTable table;
  SmallVector<Way> ways;
  for (Way way : tp::getWays(rule)) {
    solver::Choice choice;
    bool possible = true;
    auto add = [&](Value value, State state, auto &list) {
      std::optional<uint8_t> i = stateIndex(value, state);
      possible &= i.has_value();
      list.push_back(i.value_or(0));
    };
    for (auto [i, value] : llvm::enumerate(op->getOperands()))
      add(value, rule.operandState(way, i), choice.operandStates);
    for (auto [i, value] : llvm::enumerate(op->getResults()))
      add(value, rule.resultState(way, i), choice.resultStates);
    if (!possible)
      continue;
    choice.cost = costOf(op, rule, way);
    table.choices.push_back(choice);
    ways.push_back(way);
  }
  solver::Node node;
  for (Value operand : op->getOperands())
    node.operands.push_back(valueIndex.lookup(operand));
  for (Value result : op->getResults())
    node.results.push_back(valueIndex.lookup(result));
  node.choiceTable = intern(std::move(table));
  nodeOf[op] = problem.nodes.size();
  problem.nodes.push_back(node);
  opOfNode.push_back(op);
  waysOfNode.push_back(ways);
}

/// Results are wanted whole, but for those that only leave the step under a
/// role of their own ("logits"): these may leave in blocks.
void AxisProblem::addReturn(Operation *op) {
  for (auto [i, value] : llvm::enumerate(op->getOperands())) {
    auto role = step.getResultAttrOfType<StringAttr>(i, tp::getRoleAttrName());
    solver::ChoiceTable table;
    for (unsigned s = 0; s < states[valueIndex.lookup(value)].size(); ++s) {
      State state = states[valueIndex.lookup(value)][s];
      if (state != State::R() && !state.isSplit())
        continue;
      table.choices.push_back({{uint8_t(s)}, {}, {}});
      if (!role || role.getValue() == "loss")
        break; // state 0 is R
    }
    problem.nodes.push_back({{valueIndex.lookup(value)}, {}, intern(table)});
    opOfNode.push_back(op);
    waysOfNode.push_back({});
  }
}

LogicalResult AxisProblem::solve() {
  solver::Options options;
  options.nodeName = [&](unsigned node) -> std::string {
    Operation *op = opOfNode[node];
    if (!op)
      return "an argument";
    std::string name = op->getName().getStringRef().str();
    if (auto param = dyn_cast<tp::ParamOp>(op))
      name += " @" + param.getSymbol().str();
    return name;
  };
  auto result = solver::solve(problem, options);
  if (!result) {
    InFlightDiagnostic diag = module.emitError("tp-shard: ")
                              << llvm::toString(result.takeError());
    for (auto &[parameter, dim] : pins)
      diag << "; pinned: " << cast<tp::ParameterOp>(parameter).getSymName()
           << '=' << dim;
    return diag;
  }
  solution = std::move(*result);
  return success();
}

LogicalResult AxisProblem::checkExhaustively() {
  double assignments = 1;
  for (const solver::Node &node : problem.nodes)
    assignments *= problem.choices[node.choiceTable].choices.size();
  if (assignments > 1e8)
    return module.emitError("tp-shard: ")
           << problem.nodes.size() << " nodes have more than 10^8 assignments, "
           << "too many to try";
  Cost best = solver::bruteForce(problem).total;
  if (best == solution.total)
    return success();
  return module.emitError("tp-shard: the solver found ")
         << solution.total.picoseconds << " ps, but an assignment of "
         << best.picoseconds << " ps exists";
}

/// Writes layouts into types and the ways onto ops.
void AxisProblem::write() {
  MLIRContext *context = module.getContext();
  auto meshAttr = tp::MeshAttr::get(context, mesh);
  module->setAttr(tp::getMeshAttrName(), meshAttr);
  StringAttr axisName = StringAttr::get(context, mesh.axes[axis].name);
  for (auto &[value, i] : valueIndex) {
    State state = states[i][solution.state[i]];
    auto attr = tp::LayoutAttr::get(meshAttr, layoutOf(value, state));
    Value(value).setType(tp::withLayout(value.getType(), attr));
  }
  step.walk([&](tp::ParamOp param) {
    tp::ParameterOp parameter = parameterOf(param);
    auto type = cast<RankedTensorType>(param.getResult().getType());
    parameter.setType(type);
    parameter.setGradientAttr(tp::getLayoutAttr(type).dual());
    parameter.setStateAttr(tp::getLayoutAttr(type));
  });
  // Parameters that the step does not read stay whole.
  for (auto parameter : module.getOps<tp::ParameterOp>())
    if (!tp::getLayoutAttr(parameter.getType()))
      parameter.setType(
          tp::withLayout(parameter.getType(),
                         tp::LayoutAttr::replicated(
                             meshAttr, parameter.getTensorType().getRank())));
  for (auto [op, node] : nodeOf) {
    const FactorRule &rule = rules.find(op)->second;
    Way way = waysOfNode[node][solution.choice[node]];
    op->setAttr(tp::getWaysAttrName(),
                DictionaryAttr::get(
                    context,
                    NamedAttribute(axisName, StringAttr::get(
                                                 context, rule.wayName(way)))));
  }
  Operation *ret = step.getBody().front().getTerminator();
  step.setFunctionType(FunctionType::get(
      context, step.getBody().getArgumentTypes(), ret->getOperandTypes()));
  module->setAttr("tp.predicted",
                  predictStep(module, step, axis).toAttr(context));
}

struct ShardPass : passes::impl::ShardBase<ShardPass> {
  using ShardBase::ShardBase;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    auto parsed = layout::Mesh::parse(mesh);
    if (!parsed)
      return module.emitError("tp-shard: ")
             << llvm::toString(parsed.takeError());
    if (parsed->axes.size() != 1 ||
        parsed->axes[0].role != layout::AxisRole::Feature)
      return module.emitError("tp-shard: mesh '")
             << mesh << "': one feature axis is supported so far, as in tp=4; "
             << "batch axes and several axes are not";
    cost::Topology topo = cost::defaultTopology();
    if (!topology.empty()) {
      auto read = cost::readTopology(topology);
      if (!read)
        return module.emitError("tp-shard: ")
               << llvm::toString(read.takeError());
      topo = *read;
    }
    cost::CostModel model(topo);
    if (llvm::Error e = model.checkRanks(parsed->ranks()))
      return module.emitError("tp-shard: ") << llvm::toString(std::move(e));
    auto step = getForwardFunction(module);
    if (failed(step))
      return failure();
    eraseUnread(*step); // what tp-partition would erase costs nothing
    separateSideUses(module, *step);
    AxisProblem problem(module, *step, *parsed, 0, model);
    SmallVector<std::string> pinTexts(pins.begin(), pins.end());
    if (failed(problem.run(pinTexts)) ||
        (checkExhaustively && failed(problem.checkExhaustively())))
      return failure();
    transitions = problem.getTransitions();
    return success();
  }
};
} // namespace
