// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prediction of a step's totals from layouts and ways.

#include "Prediction.h"
#include "Conversions.h"
#include "Gradients.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using layout::FactorRule;
using layout::State;
using layout::Way;

static int64_t elements(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

static bool isFloat(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType().isF32();
}

DictionaryAttr StepTotals::toAttr(MLIRContext *context) const {
  Builder builder(context);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("bytes", builder.getI64IntegerAttr(bytes)),
       builder.getNamedAttr("flops", builder.getI64IntegerAttr(flops)),
       builder.getNamedAttr("saved_bytes",
                            builder.getI64IntegerAttr(savedBytes))});
}

//===----------------------------------------------------------------------===//
// Prediction
//===----------------------------------------------------------------------===//

namespace {
class Predictor {
public:
  Predictor(ModuleOp module, func::FuncOp step, unsigned axis)
      : step(step), axis(axis),
        meshAttr(module->getAttrOfType<tp::MeshAttr>(tp::getMeshAttrName())),
        mesh(meshAttr.getMesh()), model(cost::defaultTopology()),
        withGradient(findValuesWithGradient(module, step)) {}

  StepTotals run() {
    for (Operation &op : step.getBody().front().without_terminator())
      if (auto shardable = dyn_cast<tp::ShardableOpInterface>(op))
        visit(shardable);
    wantWholeResults();
    for (auto &[value, states] : wanted)
      totals.bytes += changeBytes(value, states);
    addNorm();
    for (auto &entry : saved)
      for (auto &form : entry.second)
        totals.savedBytes += form.second;
    return totals;
  }

private:
  int64_t ranks() const { return mesh.axes[axis].size; }

  Way wayOf(Operation *op, const FactorRule &rule) {
    auto ways = op->getAttrOfType<DictionaryAttr>(tp::getWaysAttrName());
    auto name = ways.getAs<StringAttr>(meshAttr.getNames()[axis]);
    for (Way way : tp::getWays(rule))
      if (rule.wayName(way) == name.getValue())
        return way;
    return {};
  }

  /// Local shape of `value` as its consumer in `state` sees it.
  static SmallVector<int64_t> shapeIn(Value value, State state) {
    return state.isSplit()
               ? tp::localShape(value.getType())
               : SmallVector<int64_t>(
                     cast<RankedTensorType>(value.getType()).getShape());
  }

  void visit(tp::ShardableOpInterface op) {
    FactorRule rule = llvm::cantFail(op.getFactorRule());
    Way way = wayOf(op, rule);
    SmallVector<SmallVector<int64_t>> operands, results;
    SmallVector<bool> wants = findWantedOperands(op, withGradient);
    for (auto [i, value] : llvm::enumerate(op->getOperands())) {
      State state = rule.operandState(way, i);
      operands.push_back(shapeIn(value, state));
      if (isFloat(value))
        wanted[value].push_back(state);
    }
    for (auto [i, value] : llvm::enumerate(op->getResults()))
      results.push_back(shapeIn(value, rule.resultState(way, i)));
    auto costed = dyn_cast<tp::CostedOpInterface>(*op);
    if (!costed)
      return;
    totals.flops += costed.getFlops(operands, results);
    bool trains = llvm::is_contained(wants, true);
    if (trains)
      totals.flops += costed.getGradientFlops(operands, results, wants);
    bool decomposed = way.kind == layout::WayKind::Split &&
                      rule.factors[way.factor].decomposed && ranks() > 1;
    if (decomposed)
      for (int64_t n : costed.getDecompositionReduces())
        totals.bytes += cost::allReduceBytes(4 * n, ranks());
    if (!trains)
      return;
    totals.savedBytes += costed.getDecompositionSavedBytes();
    for (unsigned i : costed.getSavedOperands(wants))
      save(op->getOperand(i), rule.operandState(way, i));
    for (unsigned i : costed.getSavedResults(wants))
      save(op->getResult(i), rule.resultState(way, i));
  }

  /// A value is saved once in each form: whole, or as a block.
  void save(Value value, State state) {
    Operation *maker = value.getDefiningOp();
    if (!maker || isa<tp::ParamOp>(maker))
      return;
    saved[value][state.isSplit()] = 4 * elements(shapeIn(value, state));
  }

  void wantWholeResults() {
    Operation *ret = step.getBody().front().getTerminator();
    for (OpOperand &use : ret->getOpOperands()) {
      auto role = step.getResultAttrOfType<StringAttr>(use.getOperandNumber(),
                                                       tp::getRoleAttrName());
      if (!role || role.getValue() == "loss")
        wanted[use.get()].push_back(State::R());
    }
  }

  int64_t changeBytes(Value value, ArrayRef<State> states) {
    ConversionQuery query = makeQuery(value, axis, mesh, states);
    query.needsGradient = withGradient.contains(value);
    if (query.ranks == 1)
      return 0;
    solver::StateSet set = 0;
    for (State state : states)
      set |= 1 << (llvm::find(query.states, state) - query.states.begin());
    solver::ConversionTrees trees(makeConversions(query, model));
    return trees.cost(0, set).bytes;
  }

  /// The all-reduce of the gradient norm's three sums of squares, where a
  /// gradient is split.
  void addNorm() {
    bool split = llvm::any_of(withGradient, [&](Value value) {
      return isa_and_nonnull<tp::ParamOp>(value.getDefiningOp()) &&
             tp::getLayoutAttr(value).getLayout().state(axis).isSplit();
    });
    if (split && ranks() > 1)
      totals.bytes += cost::allReduceBytes(3 * 4, ranks());
  }

  func::FuncOp step;
  unsigned axis;
  tp::MeshAttr meshAttr;
  layout::Mesh mesh;
  cost::CostModel model;
  llvm::DenseSet<Value> withGradient;
  llvm::MapVector<Value, SmallVector<State>> wanted;
  llvm::MapVector<Value, std::map<bool, int64_t>> saved;
  StepTotals totals;
};
} // namespace

StepTotals passes::predictStep(ModuleOp module, func::FuncOp step,
                               unsigned axis) {
  return Predictor(module, step, axis).run();
}
