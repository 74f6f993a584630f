// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-insert-conjugates: decompose what is split over statistics, then give each
// operand the state that its op's way wants.

#include "Conversions.h"
#include "Gradients.h"
#include "colrow/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace colrow::passes {
#define GEN_PASS_DEF_INSERTCONJUGATES
#include "colrow/Passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using layout::FactorRule;
using layout::State;
using layout::StateKind;
using layout::Way;

namespace {

/// `layout` with another state than split on `axis`.
layout::Layout withState(layout::Layout layout, unsigned axis, State state) {
  llvm::erase(layout.copied, axis);
  llvm::erase(layout.partial, axis);
  llvm::erase(layout.partialMax, axis);
  for (layout::DimLayout &dim : layout.dims)
    for (layout::Factor &factor : dim)
      if (llvm::is_contained(factor.axes, axis)) {
        llvm::erase(factor.axes, axis);
        if (factor.axes.empty())
          factor.padded = factor.size;
      }
  if (state.kind == StateKind::Copied)
    layout.copied.push_back(axis);
  if (state.kind == StateKind::Partial)
    layout.partial.push_back(axis);
  if (state.kind == StateKind::PartialMax)
    layout.partialMax.push_back(axis);
  return layout;
}

/// Decomposition of tp.cross_entropy into parts of [*] values each.
class CrossEntropyParts {
public:
  CrossEntropyParts(tp::CrossEntropyOp op, tp::MeshAttr mesh)
      : op(op), mesh(mesh), builder(op) {}

  void run() {
    ways = op->getAttrOfType<DictionaryAttr>(tp::getWaysAttrName());
    Location loc = op.getLoc();
    Value x = op.getLogits(), labels = op.getLabels();
    Value max = part<tp::RowMaxOp>(rowType(StateKind::PartialMax), x);
    Value sumexp = part<tp::SumExpOp>(rowType(StateKind::Partial), x, max);
    Value picked = part<tp::PickOp>(rowType(StateKind::Partial), x, labels,
                                    tp::LayoutAttr());
    auto loss = tp::TokenLossOp::create(builder, loc, op.getSum().getType(),
                                        op.getCount().getType(), max, sumexp,
                                        picked, labels, op.getIgnoreAttr());
    loss->setAttr(tp::getWaysAttrName(), lossWays());
    op.replaceAllUsesWith(loss.getResults());
    op.erase();
  }

private:
  /// Type of a [*] value: `reduced` on axes that split the vocabulary, as the
  /// op's own results elsewhere.
  Type rowType(StateKind reduced) {
    auto labels = cast<RankedTensorType>(op.getLabels().getType());
    layout::Layout layout(labels.getRank());
    layout::Layout results = tp::getLayoutAttr(op.getSum()).getLayout();
    for (unsigned axis = 0; axis < mesh.getNames().size(); ++axis)
      layout = withState(
          layout, axis, splits(axis) ? State{reduced, 0} : results.state(axis));
    return RankedTensorType::get(labels.getShape(), builder.getF32Type(),
                                 tp::LayoutAttr::get(mesh, layout));
  }

  bool splits(unsigned axis) {
    auto way = ways.getAs<StringAttr>(mesh.getNames()[axis]);
    return way && way.getValue() == "v";
  }

  /// Rows are whole again in the loss: replicated where the parts are split.
  DictionaryAttr lossWays() {
    SmallVector<NamedAttribute> list;
    for (NamedAttribute way : ways)
      list.push_back(
          cast<StringAttr>(way.getValue()).getValue() == "v"
              ? builder.getNamedAttr(way.getName(),
                                     builder.getStringAttr("replicated"))
              : way);
    return builder.getDictionaryAttr(list);
  }

  template <typename Op, typename... Args> Value part(Type type, Args... args) {
    auto made = Op::create(builder, op.getLoc(), type, args...);
    made->setAttr(tp::getWaysAttrName(), ways);
    return made.getResult();
  }

  tp::CrossEntropyOp op;
  tp::MeshAttr mesh;
  OpBuilder builder;
  DictionaryAttr ways;
};

/// Puts changes of layout behind values whose consumers want other states.
class Inserter {
public:
  Inserter(tp::MeshAttr meshAttr, const llvm::DenseSet<Value> &withGradient)
      : meshAttr(meshAttr), mesh(meshAttr.getMesh()),
        model(cost::defaultTopology()), withGradient(withGradient) {}

  LogicalResult run(func::FuncOp step, unsigned axis) {
    SmallVector<Value> values(step.getArguments());
    step.walk(
        [&](Operation *op) { llvm::append_range(values, op->getResults()); });
    collectWants(step, axis);
    for (Value value : values)
      if (failed(convert(value, axis)))
        return failure();
    return success();
  }

  unsigned getInserted() const { return inserted; }

private:
  struct Want {
    OpOperand *use;
    State state;
  };

  void collectWants(func::FuncOp step, unsigned axis) {
    StringAttr name = meshAttr.getNames()[axis];
    step.walk([&](tp::ShardableOpInterface op) {
      auto ways = op->getAttrOfType<DictionaryAttr>(tp::getWaysAttrName());
      if (!ways || !ways.getAs<StringAttr>(name))
        return;
      auto rule = llvm::cantFail(op.getFactorRule());
      for (Way way : tp::getWays(rule))
        if (rule.wayName(way) == ways.getAs<StringAttr>(name).getValue()) {
          for (OpOperand &use : op->getOpOperands())
            wants[use.get()].push_back(
                {&use, rule.operandState(way, use.getOperandNumber())});
          break;
        }
    });
    Operation *ret = step.getBody().front().getTerminator();
    for (OpOperand &use : ret->getOpOperands()) {
      auto role = step.getResultAttrOfType<StringAttr>(use.getOperandNumber(),
                                                       tp::getRoleAttrName());
      State made = tp::getLayoutAttr(use.get()).getLayout().state(axis);
      // Others may leave as they are, but for summands.
      if (!role || role.getValue() == "loss" || made == State::P())
        wants[use.get()].push_back({&use, State::R()});
    }
  }

  LogicalResult convert(Value value, unsigned axis) {
    auto it = wants.find(value);
    if (it == wants.end() ||
        !cast<RankedTensorType>(value.getType()).getElementType().isF32())
      return success();
    State produced = tp::getLayoutAttr(value).getLayout().state(axis);
    ConversionQuery query =
        makeQuery(value, axis, mesh,
                  llvm::map_to_vector(
                      it->second, [](const Want &want) { return want.state; }));
    query.needsGradient = withGradient.contains(value);
    // On one rank changes are free, but the same ones are made.
    query.ranks = std::max(2u, query.ranks);
    solver::StateSet wanted = 0;
    for (const Want &want : it->second)
      wanted |=
          1 << (llvm::find(query.states, want.state) - query.states.begin());
    solver::ConversionTrees trees(makeConversions(query, model));
    if (trees.cost(0, wanted).isInfinite())
      return emitError(value.getLoc())
             << "no changes of layout lead from " << produced.str()
             << " to what this value's consumers want";
    SmallVector<Value> inState(query.states.size());
    inState[0] = value;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    for (solver::Conversion edge : trees.edges(0, wanted))
      inState[edge.to] =
          change(builder, inState[edge.from], axis, query.states[edge.from],
                 query.states[edge.to], it->second);
    for (const Want &want : it->second)
      want.use->set(
          inState[llvm::find(query.states, want.state) - query.states.begin()]);
    return success();
  }

  /// The op that leads from one state to the other.
  Value change(OpBuilder &builder, Value value, unsigned axis, State from,
               State to, ArrayRef<Want> list) {
    using K = StateKind;
    StringRef name = from.kind == K::Partial      ? "tp.g"
                     : from.kind == K::PartialMax ? "tp.g_max"
                     : from.kind == K::Replicated ? "tp.f"
                     : to.kind == K::Copied       ? "tp.gather"
                                                  : "tp.unslice";
    Operation *consumer = list.front().use->getOwner();
    for (const Want &want : list)
      if (want.state == to) {
        consumer = want.use->getOwner();
        break;
      }
    OperationState state(value.getLoc(), name);
    state.addOperands(value);
    layout::Layout layout =
        withState(tp::getLayoutAttr(value).getLayout(), axis, to);
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
  cost::CostModel model;
  llvm::DenseSet<Value> withGradient;
  llvm::MapVector<Value, SmallVector<Want>> wants;
  unsigned inserted = 0;
};

struct InsertConjugatesPass
    : passes::impl::InsertConjugatesBase<InsertConjugatesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto mesh = module->getAttrOfType<tp::MeshAttr>(tp::getMeshAttrName());
    auto step = getForwardFunction(module);
    if (failed(step))
      return signalPassFailure();
    if (!mesh) {
      module.emitError("tp-insert-conjugates: the module has no tp.mesh; run "
                       "tp-shard first");
      return signalPassFailure();
    }
    WalkResult sharded = step->walk([](tp::ShardableOpInterface op) {
      if (op->hasAttr(tp::getWaysAttrName()))
        return WalkResult::advance();
      op->emitOpError("has no ways; run tp-shard before tp-insert-conjugates");
      return WalkResult::interrupt();
    });
    if (sharded.wasInterrupted())
      return signalPassFailure();
    SmallVector<tp::CrossEntropyOp> losses;
    step->walk([&](tp::CrossEntropyOp op) { losses.push_back(op); });
    for (tp::CrossEntropyOp op : losses)
      CrossEntropyParts(op, mesh).run();
    for (unsigned axis = 0; axis < mesh.getNames().size(); ++axis) {
      Inserter inserter(mesh, findValuesWithGradient(module, *step));
      if (failed(inserter.run(*step, axis)))
        return signalPassFailure();
      inserted += inserter.getInserted();
    }
    step->walk([](Operation *op) { op->removeAttr(tp::getWaysAttrName()); });
    step->setFunctionType(FunctionType::get(
        &getContext(), step->getBody().getArgumentTypes(),
        step->getBody().front().getTerminator()->getOperandTypes()));
  }
};
} // namespace
