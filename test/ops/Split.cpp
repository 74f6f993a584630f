// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function of a run: whole inputs, brought to the states that the op's way
// asks of its operands; results brought back, whole.

#include "Instance.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::optest;
using layout::FactorRule;
using layout::State;
using layout::StateKind;

namespace {
class SplitBuilder {
public:
  explicit SplitBuilder(const Run &run)
      : run(run), context(run.op->getContext()), builder(context),
        loc(UnknownLoc::get(context)) {
    mesh.axes.push_back({"tp", run.ranks, layout::AxisRole::Feature});
    meshAttr = tp::MeshAttr::get(context, mesh);
    axes = builder.getStrArrayAttr({"tp"});
  }

  llvm::Expected<SplitFunction> build() {
    auto bound = cast<tp::ShardableOpInterface>(run.op).getFactorRule();
    if (!bound)
      return bound.takeError();
    rule = *bound;
    made.module = ModuleOp::create(loc);
    (*made.module)->setAttr(tp::getMeshAttrName(), meshAttr);
    builder.setInsertionPointToEnd(made.module->getBody());
    function = func::FuncOp::create(builder, loc, "run",
                                    builder.getFunctionType({}, {}));
    function.addEntryBlock();
    builder.setInsertionPointToStart(&function.getBody().front());
    SmallVector<Value> operands;
    for (OpOperand &operand : run.op->getOpOperands())
      operands.push_back(enter(operand));
    SmallVector<Value> results = apply(operands);
    for (auto [i, result] : llvm::enumerate(results))
      leave(i, result);
    func::ReturnOp::create(builder, loc);
    return std::move(made);
  }

private:
  /// `type` in `state`: what is split is cut at units of `factor`.
  RankedTensorType typed(RankedTensorType type, State state, int64_t units) {
    layout::Layout layout(type.getRank());
    if (state.isSplit())
      layout.dims[state.dim] =
          layout::splitDim(type.getDimSize(state.dim), units, 0, mesh);
    else
      layout = layout.withState(0, state);
    return tp::withLayout(type, tp::LayoutAttr::get(meshAttr, layout));
  }
  RankedTensorType typed(RankedTensorType type, State state) {
    int64_t units = state.isSplit() && run.way.kind == layout::WayKind::Split
                        ? rule.factors[run.way.factor].size
                        : 1;
    return typed(type, state, units);
  }

  Value argument(RankedTensorType type) {
    return argument(type, "arg" + std::to_string(numbered++));
  }
  Value argument(RankedTensorType type, StringRef name) {
    return addInput(function, typed(type, State::R()), name);
  }

  template <typename Op> Value change(Value value, State state) {
    auto type = cast<RankedTensorType>(value.getType());
    return change<Op>(value, typed(tp::withLayout(type, {}), state));
  }
  template <typename Op> Value change(Value value, Type type) {
    return Op::create(builder, loc, type, value, axes, StringAttr());
  }

  static RankedTensorType wholeType(Value value) {
    return tp::withLayout(value.getType(), tp::LayoutAttr());
  }
  /// `n` tensors of `type`, one behind the other.
  static RankedTensorType stacked(RankedTensorType type, int64_t n) {
    SmallVector<int64_t> shape{n};
    llvm::append_range(shape, type.getShape());
    return RankedTensorType::get(shape, type.getElementType());
  }
  /// Only of composite ops do passes still need it.
  void setWays(Operation *op, StringRef name) {
    if (!isa<tp::DecomposableOpInterface>(run.op))
      return;
    op->setAttr(tp::getWaysAttrName(),
                builder.getDictionaryAttr(
                    builder.getNamedAttr("tp", builder.getStringAttr(name))));
  }

  Value enter(OpOperand &operand) {
    auto type = wholeType(operand.get());
    State state = rule.operandState(run.way, operand.getOperandNumber());
    made.parts.push_back(1);
    made.less.push_back(0);
    if (run.ranks == 1 || state == State::R())
      return argument(type);
    if (state == State::C())
      return change<tp::FOp>(argument(type), state);
    if (state.isSplit())
      return enterSplit(type, state);
    made.parts.back() = run.ranks;
    Value parts = argument(stacked(type, run.ranks));
    Value part = change<tp::SliceOp>(
        parts, typed(wholeType(parts), State::S(0), run.ranks));
    if (!type.getElementType().isF32())
      return sumProducts(part, type, state);
    auto sum = tp::SumLeadingOp::create(builder, loc, typed(type, state), part);
    setWay(sum);
    return sum;
  }

  Value reshape(Value value, ArrayRef<int64_t> shape, State state) {
    auto type =
        RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
    return tp::ReshapeOp::create(builder, loc, typed(type, state, run.ranks),
                                 value);
  }

  /// The parts of all ranks as summands of `type`, which is not f32: only a
  /// contraction gives those. [parts, n]^T [parts, 1], the second of ones.
  Value sumProducts(Value part, RankedTensorType type, State state) {
    int64_t n = type.getNumElements();
    auto column = RankedTensorType::get({run.ranks, 1}, builder.getF32Type());
    auto one = tp::ConstantOp::create(
        builder, loc,
        typed(RankedTensorType::get({}, builder.getF32Type()), State::R()),
        builder.getF64FloatAttr(1));
    Value ones = tp::AddOp::create(
        builder, loc, typed(column, State::R()),
        argument(column, "column" + std::to_string(numbered)), one);
    auto narrow = RankedTensorType::get({run.ranks, 1}, type.getElementType());
    ones = tp::CastOp::create(builder, loc, typed(narrow, State::R()), ones);
    ones = change<tp::SliceOp>(ones, typed(narrow, State::S(0), run.ranks));
    if (type.getRank() != 1)
      part = reshape(part, {run.ranks, n}, State::S(0));
    auto summed = RankedTensorType::get({n, 1}, type.getElementType());
    Value sum = tp::MatmulWgradOp::create(builder, loc, typed(summed, state),
                                          part, ones);
    sum = reshape(sum, {n}, state);
    return type.getRank() == 1 ? sum : reshape(sum, type.getShape(), state);
  }

  /// The split way in the only factor that the op's first operand has first.
  void setWay(Operation *op) {
    auto other =
        llvm::cantFail(cast<tp::ShardableOpInterface>(op).getFactorRule());
    layout::Way way{layout::WayKind::Split, other.operands[0][0].front(), 0};
    setWays(op, other.wayName(way));
  }

  Value enterSplit(RankedTensorType type, State state) {
    Value part = change<tp::SliceOp>(argument(type), state);
    if (!run.ones || !type.getElementType().isF32())
      return part;
    made.less.back() = 1;
    auto scalar = RankedTensorType::get({}, builder.getF32Type());
    auto one = tp::ConstantOp::create(builder, loc, typed(scalar, State::R()),
                                      builder.getF64FloatAttr(1));
    setWays(one, "replicated");
    Value copied = change<tp::FOp>(one, State::C());
    auto sum = tp::AddOp::create(builder, loc, part.getType(), part, copied);
    auto other = llvm::cantFail(sum.getFactorRule());
    layout::Way way{layout::WayKind::Split,
                    other.operands[0][state.dim].front(), 0};
    setWays(sum, other.wayName(way));
    return sum;
  }

  SmallVector<Value> apply(ArrayRef<Value> operands) {
    OperationState state(loc, run.op->getName());
    state.addOperands(operands);
    for (auto [i, result] : llvm::enumerate(run.op->getResults()))
      state.addTypes(
          typed(wholeType(result),
                run.ranks == 1 ? State::R() : rule.resultState(run.way, i)));
    state.addAttributes(run.op->getAttrs());
    Operation *op = builder.create(state);
    setWays(op, run.ranks == 1 ? "replicated" : rule.wayName(run.way));
    return llvm::to_vector_of<Value>(op->getResults());
  }

  void leave(unsigned i, Value value) {
    auto type = wholeType(value);
    State state = tp::getLayoutAttr(value).getLayout().state(0);
    if (state.isSplit())
      value = change<tp::UnsliceOp>(value, State::R());
    else if (state == State::P())
      value = change<tp::GOp>(value, State::R());
    else if (state.kind == StateKind::PartialMax)
      value = change<tp::GMaxOp>(value, State::R());
    else if (state == State::C())
      value = tp::carriesGradient(type) ? stack(value) : stack(lookUp(value));
    addOutput(builder, "result" + std::to_string(i), value);
  }

  /// Every rank's copy, one behind the other.
  Value stack(Value copied) {
    Value zeros = argument(stacked(wholeType(copied), run.ranks));
    Value part = change<tp::SliceOp>(
        zeros, typed(wholeType(zeros), State::S(0), run.ranks));
    auto sum = tp::AddOp::create(builder, loc, part.getType(), part, copied);
    setWay(sum);
    return change<tp::UnsliceOp>(sum, State::R());
  }

  /// Integers as the rows of a table that holds its rows' numbers: changes of
  /// layout and sums are of floats.
  Value lookUp(Value copied) {
    auto ids = wholeType(copied);
    SmallVector<int64_t> shape(ids.getShape());
    shape.push_back(1);
    Value table = change<tp::FOp>(
        argument(RankedTensorType::get({numberRows, 1}, builder.getF32Type()),
                 numbersName),
        State::C());
    auto type = RankedTensorType::get(shape, builder.getF32Type());
    auto made = tp::EmbeddingOp::create(builder, loc, typed(type, State::C()),
                                        copied, table, tp::LayoutAttr());
    setWays(made, "copied");
    return made;
  }

  const Run &run;
  MLIRContext *context;
  OpBuilder builder;
  Location loc;
  layout::Mesh mesh;
  tp::MeshAttr meshAttr;
  ArrayAttr axes;
  FactorRule rule;
  func::FuncOp function;
  unsigned numbered = 0; ///< arguments
  SplitFunction made;
};
} // namespace

llvm::Expected<SplitFunction> optest::buildSplit(const Run &run) {
  return SplitBuilder(run).build();
}
