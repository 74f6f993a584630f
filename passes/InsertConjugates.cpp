// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-insert-conjugates: decompose what is split over statistics, then give each
// operand the state that its op's way wants.

#include "colrow/Sharding/StepWork.h"
#include "colrow/Sharding/TopologyAttr.h"
#include "colrow/passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace colrow::passes {
#define GEN_PASS_DEF_INSERTCONJUGATES
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using layout::State;
using sharding::ValueState;

namespace {

/// Puts changes of layout behind values whose consumers want other states.
class Inserter {
public:
  Inserter(tp::MeshAttr meshAttr, const cost::CostModel &model,
           const sharding::Gradients &gradients)
      : meshAttr(meshAttr), mesh(meshAttr.getMesh()), model(model),
        gradients(gradients) {}

  LogicalResult run(func::FuncOp step, unsigned axis) {
    SmallVector<Value> values(step.getArguments());
    step.walk(
        [&](Operation *op) { llvm::append_range(values, op->getResults()); });
    if (failed(collectWants(step, axis)))
      return failure();
    for (Value value : values)
      if (failed(convert(value, axis)))
        return failure();
    return success();
  }

  unsigned getInserted() const { return inserted; }

private:
  struct Want {
    OpOperand *use;
    ValueState state;
  };

  LogicalResult collectWants(func::FuncOp step, unsigned axis) {
    Block &body = step.getBody().front();
    for (Operation &op : body.without_terminator()) {
      auto shardable = dyn_cast<tp::ShardableOpInterface>(op);
      if (!shardable)
        continue;
      auto rule = tp::getRule(shardable);
      if (!rule)
        return op.emitOpError() << llvm::toString(rule.takeError());
      auto way = tp::getChosenWay(&op, *rule, meshAttr.getNames()[axis]);
      if (failed(way))
        return failure();
      for (OpOperand &use : op.getOpOperands())
        wants[use.get()].push_back(
            {&use,
             {rule->operandState(*way, use.getOperandNumber()),
              gradients.pass(use)}});
    }
    for (OpOperand &use : body.getTerminator()->getOpOperands())
      if (auto state = sharding::wantedByReturn(step, use, gradients, axis))
        wants[use.get()].push_back({&use, *state});
    return success();
  }

  LogicalResult convert(Value value, unsigned axis) {
    auto it = wants.find(value);
    if (it == wants.end() || !tp::carriesGradient(value))
      return success();
    auto states = llvm::map_to_vector(
        it->second, [](const Want &want) { return want.state; });
    auto plan = sharding::planChanges(value, gradients.reach(value), axis, mesh,
                                      states, model);
    if (!plan)
      return emitError(value.getLoc())
             << "no changes of layout lead from "
             << tp::getLayoutAttr(value).getLayout().state(axis).str()
             << " to what this value's consumers want";
    if (plan->edges.empty())
      return success();
    SmallVector<Value> inState(plan->query.states.size());
    inState[0] = value;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    for (solver::Conversion edge : plan->edges) {
      State from = plan->query.states[edge.from].state;
      State to = plan->query.states[edge.to].state;
      inState[edge.to] = from == to ? inState[edge.from]
                                    : change(builder, inState[edge.from], axis,
                                             from, to, it->second);
    }
    for (const Want &want : it->second)
      want.use->set(inState[sharding::indexOf(plan->query, want.state)]);
    return success();
  }

  /// The op that leads from one state to the other.
  Value change(OpBuilder &builder, Value value, unsigned axis, State from,
               State to, ArrayRef<Want> list) {
    // The table of conversions offers only what one op does.
    OperationName name =
        *tp::findChange(value.getContext(), from.kind, to.kind);
    Operation *consumer = list.front().use->getOwner();
    for (const Want &want : list)
      if (want.state.state == to) {
        consumer = want.use->getOwner();
        break;
      }
    OperationState state(value.getLoc(), name);
    state.addOperands(value);
    layout::Layout layout =
        tp::getLayoutAttr(value).getLayout().withState(axis, to);
    state.addTypes(
        tp::withLayout(value.getType(), tp::LayoutAttr::get(meshAttr, layout)));
    state.addAttribute("axes",
                       builder.getStrArrayAttr({meshAttr.getNames()[axis]}));
    state.addAttribute("reason", builder.getStringAttr(describe(consumer, to)));
    ++inserted;
    return builder.create(state)->getResult(0);
  }

  static std::string describe(Operation *consumer, State to) {
    return llvm::formatv("{0} wants {1}", consumer->getName().getStringRef(),
                         to.str());
  }

  tp::MeshAttr meshAttr;
  layout::Mesh mesh;
  const cost::CostModel &model;
  const sharding::Gradients &gradients;
  llvm::MapVector<Value, SmallVector<Want>> wants;
  unsigned inserted = 0;
};

/// Composite ops become their parts.
void decompose(func::FuncOp step) {
  SmallVector<tp::DecomposableOpInterface> composites;
  step.walk([&](tp::DecomposableOpInterface op) { composites.push_back(op); });
  for (tp::DecomposableOpInterface op : composites) {
    OpBuilder builder(op);
    op->replaceAllUsesWith(op.decompose(builder));
    op->erase();
  }
}

struct InsertConjugatesPass
    : passes::impl::InsertConjugatesBase<InsertConjugatesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto mesh = module->getAttrOfType<tp::MeshAttr>(tp::getMeshAttrName());
    auto functions = getForwardFunctions(module);
    if (failed(functions))
      return signalPassFailure();
    if (!mesh) {
      module.emitError("tp-insert-conjugates: the module has no tp.mesh; run "
                       "tp-shard first");
      return signalPassFailure();
    }
    auto model = sharding::getCostModel(module);
    if (failed(model))
      return signalPassFailure();
    for (func::FuncOp step : functions->all)
      if (failed(insert(step, mesh, *model)))
        return signalPassFailure();
    inserted = changes;
  }

  unsigned changes = 0;

  LogicalResult insert(func::FuncOp step, tp::MeshAttr mesh,
                       const cost::CostModel &model) {
    WalkResult sharded = step.walk([](tp::ShardableOpInterface op) {
      if (op->hasAttr(tp::getWaysAttrName()))
        return WalkResult::advance();
      op->emitOpError("has no ways; run tp-shard before tp-insert-conjugates");
      return WalkResult::interrupt();
    });
    if (sharded.wasInterrupted())
      return failure();
    decompose(step);
    for (unsigned axis = 0; axis < mesh.getNames().size(); ++axis) {
      sharding::Gradients gradients(getOperation(), step);
      Inserter inserter(mesh, model, gradients);
      if (failed(inserter.run(step, axis)))
        return failure();
      changes += inserter.getInserted();
    }
    step.walk([](Operation *op) { op->removeAttr(tp::getWaysAttrName()); });
    step.setFunctionType(FunctionType::get(
        &getContext(), step.getBody().getArgumentTypes(),
        step.getBody().front().getTerminator()->getOperandTypes()));
    return success();
  }
};
} // namespace
