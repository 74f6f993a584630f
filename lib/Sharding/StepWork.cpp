// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prediction of a step's work from layouts and ways.

#include "colrow/Sharding/StepWork.h"
#include "BlockWork.h"
#include "colrow/Sharding/TopologyAttr.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::sharding;
using layout::State;

//===----------------------------------------------------------------------===//
// Totals
//===----------------------------------------------------------------------===//

std::string NamedItem::str() const {
  return (op + " " + cost::toString(item)).str();
}

WorkSum::Entry WorkSum::make(const NamedItem &named) {
  return {cost::flopsOf(named.item), cost::sentBytesOf(named.item),
          cost::collectivesOf(named.item), model.workPs(named.item),
          &totals.work[named.str()]};
}

void WorkSum::add(const NamedItem &named) {
  auto it = known.find(named);
  if (it == known.end())
    it = known.emplace(named, make(named)).first;
  const Entry &entry = it->second;
  totals.flops += entry.flops;
  totals.bytes += entry.bytes;
  totals.collectives += entry.collectives;
  totals.picoseconds += entry.picoseconds;
  ++*entry.times;
}

DictionaryAttr StepTotals::toAttr(MLIRContext *context) const {
  Builder b(context);
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  SmallVector<NamedAttribute> list;
  for (auto &[name, times] : work)
    list.push_back(number(name, times));
  return b.getDictionaryAttr(
      {number("bytes", bytes), number("collectives", collectives),
       number("flops", flops), number("picoseconds", picoseconds),
       number("saved_bytes", savedBytes),
       b.getNamedAttr("work", b.getDictionaryAttr(list))});
}

std::optional<StepTotals> StepTotals::fromAttr(Attribute attr) {
  auto dict = dyn_cast_if_present<DictionaryAttr>(attr);
  auto list = dict ? dict.getAs<DictionaryAttr>("work") : DictionaryAttr();
  if (!list)
    return std::nullopt;
  StepTotals totals;
  for (auto [name, place] : {std::pair(StringRef("bytes"), &totals.bytes),
                             {"collectives", &totals.collectives},
                             {"flops", &totals.flops},
                             {"picoseconds", &totals.picoseconds},
                             {"saved_bytes", &totals.savedBytes}}) {
    auto number = dict.getAs<IntegerAttr>(name);
    if (!number || !number.getType().isInteger(64))
      return std::nullopt;
    *place = number.getInt();
  }
  for (NamedAttribute entry : list) {
    auto times = dyn_cast<IntegerAttr>(entry.getValue());
    if (!times || !times.getType().isInteger(64))
      return std::nullopt;
    totals.work[entry.getName().str()] = times.getInt();
  }
  return totals;
}

//===----------------------------------------------------------------------===//
// Work of a block
//===----------------------------------------------------------------------===//

/// `value`'s type as an op sees it that wants it in `state`.
static Type typeIn(Value value, State state, const WorkTable &table) {
  tp::LayoutAttr attr = tp::getLayoutAttr(value);
  layout::Layout layout = attr.getLayout();
  if (layout.state(table.getAxis()) == state)
    return value.getType();
  return tp::withLayout(
      value.getType(),
      tp::LayoutAttr::get(attr.getMesh(),
                          layout.withState(table.getAxis(), state)));
}

LogicalResult BlockWork::add(Operation *op) {
  auto shardable = dyn_cast<tp::ShardableOpInterface>(op);
  if (!shardable)
    return success();
  auto rule = tp::getRule(shardable);
  if (!rule)
    return op->emitOpError() << llvm::toString(rule.takeError());
  auto way = tp::getChosenWay(op, *rule, table.getAxisName());
  if (failed(way))
    return failure();
  OpUse use;
  use.way = StringAttr::get(op->getContext(), rule->wayName(*way));
  for (OpOperand &operand : op->getOpOperands()) {
    State state = rule->operandState(*way, operand.getOperandNumber());
    use.operands.push_back(typeIn(operand.get(), state, table));
    use.wanted.push_back(gradients.pass(operand));
    use.parameters.push_back(tp::findParam(operand.get()));
    want(operand.get(), {state, use.wanted.back()});
  }
  for (Value result : op->getResults()) {
    use.results.push_back(result.getType());
    use.incoming.push_back(gradients.reach(result));
  }
  const OpWork &work = table.get(op, use);
  items.append(work.items.begin(), work.items.end());
  for (unsigned i : work.savedOperands)
    save(op->getOperand(i), use.operands[i]);
  for (unsigned i : work.savedResults)
    save(op->getResult(i), use.results[i]);
  insideBytes += work.savedInside;
  return success();
}

void BlockWork::want(Value value, ValueState state) {
  if (tp::carriesGradient(value))
    wanted[value].push_back(state);
}

/// A value is saved once in each form: whole (also copied: no other memory), as
/// a summand, as a block. One rank has one form. A tp.stop_gradient has no
/// memory of its own: the form in which it is made is its operand's.
void BlockWork::save(Value value, Type type) {
  auto formOf = [&](Type type) {
    State state = tp::getLayoutAttr(type).getLayout().state(table.getAxis());
    bool isWhole =
        state == State::C() || table.getMesh().groupSize(table.getAxis()) == 1;
    return isWhole ? State::R() : state;
  };
  State state = formOf(type);
  auto stop = value.getDefiningOp<tp::StopGradientOp>();
  while (stop && formOf(value.getType()) == state) {
    value = stop.getX();
    stop = value.getDefiningOp<tp::StopGradientOp>();
  }
  auto &forms = saved[value];
  if (!llvm::is_contained(llvm::make_first_range(forms), state))
    forms.push_back({state, tp::localBytes(type)});
}

LogicalResult BlockWork::addChanges(llvm::function_ref<bool(Value)> counts) {
  for (auto &[value, states] : wanted) {
    if (!counts(value))
      continue;
    auto plan = planChanges(value, gradients.reach(value), table.getAxis(),
                            table.getMesh(), states, table.getModel());
    if (!plan)
      return emitError(value.getLoc())
             << "no changes of layout lead from "
             << tp::getLayoutAttr(value)
                    .getLayout()
                    .state(table.getAxis())
                    .str()
             << " to what this value's consumers want";
    for (solver::Conversion edge : plan->edges)
      llvm::append_range(items, *changeWork(plan->query, edge.from, edge.to));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Work of a step
//===----------------------------------------------------------------------===//

std::optional<ValueState> sharding::wantedByReturn(func::FuncOp step,
                                                   OpOperand &use,
                                                   const Gradients &gradients,
                                                   unsigned axis) {
  State made = tp::getLayoutAttr(use.get()).getLayout().state(axis);
  bool isPlaced = made == State::R() || made.isSplit();
  if (!tp::leavesWhole(step, use.getOperandNumber()) && isPlaced)
    return std::nullopt;
  return ValueState{State::R(), findLoss(step) == use.getOperandNumber() &&
                                    gradients.reach(use.get())};
}

FailureOr<StepTotals> sharding::predictStep(func::FuncOp step,
                                            const Gradients &gradients,
                                            WorkTable &table) {
  BlockWork work(table, gradients);
  Block &body = step.getBody().front();
  llvm::StringMap<bool> parameters;
  for (Operation &op : body.without_terminator()) {
    if (failed(work.add(&op)))
      return failure();
    auto param = dyn_cast<tp::ParamOp>(op);
    if (param && gradients.reach(param) &&
        parameters.try_emplace(param.getSymbol(), true).second)
      llvm::append_range(work.items, table.getUpdate(cast<RankedTensorType>(
                                         param.getResult().getType())));
  }
  for (OpOperand &use : body.getTerminator()->getOpOperands())
    if (auto state = wantedByReturn(step, use, gradients, table.getAxis()))
      work.want(use.get(), *state);
  if (failed(work.addChanges([](Value) { return true; })))
    return failure();
  StepTotals totals;
  WorkSum sum(totals, table.getModel());
  for (const NamedItem &named : work.items)
    sum.add(named);
  totals.savedBytes = work.insideBytes;
  for (auto &[value, forms] : work.saved)
    if (Operation *maker = value.getDefiningOp();
        maker && !isa<tp::ParamOp>(maker))
      for (auto &[state, bytes] : forms)
        totals.savedBytes += bytes;
  return totals;
}

/// The work of `op` once its types are local: a change of layout becomes a
/// collective.
static std::optional<NamedItem> workWithLayouts(Operation *op,
                                                const layout::Mesh &mesh) {
  if (auto change = dyn_cast<tp::LayoutChangeOpInterface>(op)) {
    SmallVector<unsigned> axes;
    for (StringRef name : cast<tp::CollectiveOpInterface>(op)
                              .getAxes()
                              .getAsValueRange<StringAttr>())
      axes.push_back(*mesh.find(name));
    return changeWork(change.getFrom(), change.getTo(),
                      tp::localBytes(op->getOperand(0).getType()),
                      tp::localBytes(op->getResult(0).getType()),
                      mesh.groupSize(axes), mesh.stride(axes));
  }
  auto item = tp::workOf(op, mesh);
  if (!item)
    return std::nullopt;
  return NamedItem{op->getName().getStringRef(), *item};
}

void sharding::addToPrediction(func::FuncOp step, ArrayRef<Operation *> ops) {
  auto module = step->getParentOfType<ModuleOp>();
  auto totals = StepTotals::fromAttr(step->getAttr(tp::getPredictedAttrName()));
  auto meshAttr = module->getAttrOfType<tp::MeshAttr>(tp::getMeshAttrName());
  auto model = getCostModel(module);
  if (!totals || !meshAttr || failed(model))
    return;
  layout::Mesh mesh = meshAttr.getMesh();
  WorkSum sum(*totals, *model);
  for (Operation *op : ops)
    if (auto named = workWithLayouts(op, mesh))
      sum.add(*named);
  step->setAttr(tp::getPredictedAttrName(),
                totals->toAttr(module.getContext()));
}
