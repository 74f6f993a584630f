// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cross-entropy in parts: maximum, sum of exponentials and picked logit of each
// row, then the loss of all tokens. log softmax(x)[l] = x[l] - max -
// log(sum exp(x - max)).

#include "colrow/dialects/TP/RowLowering.h"
#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using kernel::Expr;
using layout::State;
using layout::StateKind;

namespace {
/// Decomposition of tp.cross_entropy into parts of [*] values each.
class CrossEntropyParts {
public:
  CrossEntropyParts(CrossEntropyOp op, OpBuilder &builder)
      : op(op), builder(builder),
        ways(op->getAttrOfType<DictionaryAttr>(getWaysAttrName())) {}

  SmallVector<Value> build() {
    Value x = op.getLogits(), labels = op.getLabels();
    Value max = part<RowMaxOp>(rowType(StateKind::PartialMax), x);
    Value sumexp = part<SumExpOp>(rowType(StateKind::Partial), x, max);
    Value picked =
        part<PickOp>(rowType(StateKind::Partial), x, labels, LayoutAttr());
    auto loss = TokenLossOp::create(builder, op.getLoc(), op.getSum().getType(),
                                    op.getCount().getType(), max, sumexp,
                                    picked, labels, op.getIgnoreAttr());
    if (ways)
      loss->setAttr(getWaysAttrName(), lossWays());
    return loss.getResults();
  }

private:
  /// Type of a [*] value: `reduced` on axes that split the vocabulary, as the
  /// op's way wants the logits' rows elsewhere.
  Type rowType(StateKind reduced) {
    auto labels = cast<RankedTensorType>(op.getLabels().getType());
    Type element = builder.getF32Type();
    LayoutAttr results = getLayoutAttr(op.getSum());
    if (!results)
      return RankedTensorType::get(labels.getShape(), element);
    layout::Mesh mesh = results.getMesh().getMesh();
    layout::Layout layout(labels.getRank());
    for (auto [axis, name] : llvm::enumerate(results.getMesh().getNames()))
      if (splits(name))
        layout = layout.withState(axis, {reduced, 0});
      else if (State state = rowState(name); state.isSplit())
        layout.dims[state.dim] =
            layout::splitDim(labels.getDimSize(state.dim),
                             labels.getDimSize(state.dim), axis, mesh);
      else
        layout = layout.withState(axis, results.getLayout().state(axis));
    return RankedTensorType::get(labels.getShape(), element,
                                 LayoutAttr::get(results.getMesh(), layout));
  }

  State rowState(StringAttr axis) {
    auto rule = llvm::cantFail(op.getFactorRule());
    auto way = getChosenWay(op, rule, axis);
    return succeeded(way) ? rule.operandState(*way, 1) : State::R();
  }

  bool splits(StringAttr axis) {
    auto way = ways ? ways.getAs<StringAttr>(axis) : StringAttr();
    return way && way.getValue() == vocabulary;
  }

  /// Rows are whole again in the loss: replicated where the parts are split.
  DictionaryAttr lossWays() {
    SmallVector<NamedAttribute> list;
    for (NamedAttribute way : ways)
      list.push_back(
          splits(way.getName())
              ? builder.getNamedAttr(way.getName(),
                                     builder.getStringAttr("replicated"))
              : way);
    return builder.getDictionaryAttr(list);
  }

  template <typename Op, typename... Args> Value part(Type type, Args... args) {
    auto made = Op::create(builder, op.getLoc(), type, args...);
    if (ways)
      made->setAttr(getWaysAttrName(), ways);
    return made.getResult();
  }

  /// The factor of the rules of tp.cross_entropy and of its parts.
  static constexpr llvm::StringLiteral vocabulary = "v";
  CrossEntropyOp op;
  OpBuilder &builder;
  DictionaryAttr ways;
};
} // namespace

SmallVector<Value> CrossEntropyOp::decompose(OpBuilder &builder) {
  return CrossEntropyParts(*this, builder).build();
}

/// Columns of `logits` if `operand` is the labels, which stand behind them.
static std::optional<int64_t> columnsIndexed(Value logits, unsigned operand) {
  if (operand != 1)
    return std::nullopt;
  return cast<RankedTensorType>(logits.getType()).getShape().back();
}

std::optional<int64_t> CrossEntropyOp::getIndexedSize(unsigned operand) {
  return columnsIndexed(getLogits(), operand);
}

void CrossEntropyOp::addIgnored(unsigned operand,
                                SmallVectorImpl<int64_t> &ignored) {
  if (operand == 1)
    ignored.push_back(getIgnore());
}

/// Labels alone say how many count. The sum has a gradient once it is taken
/// apart.
GradientFlow CrossEntropyOp::getFlow(unsigned result, unsigned) {
  return result == 0 ? GradientFlow::Missing : GradientFlow::Zero;
}

void RowMaxOp::lowerToRows(RowLowering &rows) {
  rows.setRow(getY(), rows.builder().rowMax(rows.full(getX())));
}

//===----------------------------------------------------------------------===//
// Sum of exponentials
//===----------------------------------------------------------------------===//

SmallVector<Value> SumExpOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                            ArrayRef<bool>) {
  return {SumExpGradOp::create(b, getLoc(), dualType(getX().getType()), getX(),
                               getMax(), gradients[0]),
          Value()};
}

/// The value that `value` is on other ranks or in other states.
static Value beforeChanges(Value value) {
  while (auto change = value.getDefiningOp<LayoutChangeOpInterface>())
    value = change->getOperand(0);
  return value;
}

/// True if `loss` adds the `max` that `sum` has subtracted:
/// log(sum exp(x - max)) + max does not depend on it.
static bool cancels(SumExpOp sum, TokenLossOp loss) {
  return beforeChanges(loss.getSumexp()) == sum.getY() &&
         beforeChanges(loss.getMax()) == beforeChanges(sum.getMax());
}

/// True if `value`, which is `sum` in some state, goes into losses only, as
/// their sum, that add its maximum.
static bool cancelsIn(Value value, SumExpOp sum) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (isa<LayoutChangeOpInterface>(use.getOwner()))
      return cancelsIn(use.getOwner()->getResult(0), sum);
    auto loss = dyn_cast<TokenLossOp>(use.getOwner());
    return loss && &use == &loss.getSumexpMutable() && cancels(sum, loss);
  });
}

GradientFlow SumExpOp::getFlow(unsigned, unsigned operand) {
  if (operand == 0)
    return GradientFlow::Built;
  return cancelsIn(getY(), *this) ? GradientFlow::Zero : GradientFlow::Missing;
}

void SumExpOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr e = b.exp(rows.full(getX()) - rows.row(getMax()));
  rows.setRow(getY(), b.rowSum(e));
}

void SumExpGradOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr e = b.exp(rows.full(getX()) - rows.row(getMax()));
  rows.setFull(getDx(), e * rows.row(getDy()));
}

//===----------------------------------------------------------------------===//
// Picked logit
//===----------------------------------------------------------------------===//

SmallVector<Value> PickOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                          ArrayRef<bool>) {
  return {PickGradOp::create(b, getLoc(), dualType(getX().getType()),
                             getLabels(), gradients[0], LayoutAttr()),
          Value()};
}

std::optional<int64_t> PickOp::getIndexedSize(unsigned operand) {
  return columnsIndexed(getX(), operand);
}

/// i64: the column of this rank's block that a row's label names; outside the
/// block where another rank has it.
static Expr labelColumn(RowLowering &rows, Value labels,
                        std::optional<LayoutAttr> layout) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr label = b.cast(rows.row(labels), kernel::Type::I64);
  if (layout)
    label = b.sub(label, rows.blockStart(*layout, rows.getSpace().size() - 1));
  return label;
}

SmallVector<int64_t> PickOp::getSpace() {
  return SmallVector<int64_t>(
      cast<RankedTensorType>(getX().getType()).getShape());
}

void PickOp::lowerToRows(RowLowering &rows) {
  // One element a row, read through its index rather than by a sweep.
  kernel::RowKernelBuilder &b = rows.builder();
  ArrayRef<int64_t> space = rows.getSpace();
  kernel::Arg arg;
  arg.colStride = 0;
  arg.rowStrides.resize(space.size() - 1);
  int64_t step = space.back();
  for (size_t d = space.size() - 1; d-- > 0; step *= space[d])
    arg.rowStrides[d] = step;
  Expr column = labelColumn(rows, getLabels(), getLayout());
  Expr valid = b.logicalAnd(b.ge(column, b.constI64(0)),
                            b.lt(column, b.constI64(space.back())));
  int x = rows.argument(getX(), arg);
  rows.setRow(getY(), b.loadRow(x, column, 1, valid));
}

void PickGradOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr hit = b.eq(b.colIndex(), labelColumn(rows, getLabels(), getLayout()));
  rows.setFull(getDx(), b.select(hit, rows.row(getDy()), b.constF32(0)));
}

//===----------------------------------------------------------------------===//
// Loss of all tokens
//===----------------------------------------------------------------------===//

SmallVector<Value> TokenLossOp::buildGradients(OpBuilder &b,
                                               ValueRange gradients,
                                               ArrayRef<bool>) {
  auto op =
      TokenLossGradOp::create(b, getLoc(), dualType(getSumexp().getType()),
                              dualType(getPicked().getType()), getSumexp(),
                              getLabels(), gradients[0], getIgnoreAttr());
  return {Value(), op.getDsumexp(), op.getDpicked(), Value()};
}

std::optional<int64_t> TokenLossOp::getIndexedSize(unsigned) {
  return std::nullopt; // tp.pick does
}

void TokenLossOp::addIgnored(unsigned operand,
                             SmallVectorImpl<int64_t> &ignored) {
  if (operand == 3)
    ignored.push_back(getIgnore());
}

GradientFlow TokenLossOp::getFlow(unsigned result, unsigned operand) {
  if (result == 1) // labels alone say how many count
    return GradientFlow::Zero;
  if (operand != 0)
    return GradientFlow::Built;
  auto sum = beforeChanges(getSumexp()).getDefiningOp<SumExpOp>();
  return sum && cancels(sum, *this) ? GradientFlow::Zero
                                    : GradientFlow::Missing;
}

static Expr isValid(RowLowering &rows, Value labels, int64_t ignore) {
  Expr label = rows.full(labels);
  return rows.builder().ne(label, rows.constantLike(label, double(ignore)));
}

/// A row whose label is `ignore` counts in no sum, whatever else it holds.
double TokenLossOp::getNeutralPadding(unsigned operand, bool summed) {
  bool isLabels = operand == getLabelsMutable().getOperandNumber();
  return summed && isLabels ? double(int64_t(getIgnore()))
                            : std::numeric_limits<double>::quiet_NaN();
}

void TokenLossOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr valid = isValid(rows, getLabels(), getIgnore());
  Expr loss = b.log(rows.full(getSumexp())) + rows.full(getMax()) -
              rows.full(getPicked());
  rows.setScalarSum(getSum(), b.select(valid, loss, b.constF32(0)));
  rows.setScalarSum(getCount(), b.select(valid, b.constF32(1), b.constF32(0)));
}

void TokenLossGradOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  // A product, not a choice: the mean of no label has the gradient 1 / 0, and
  // 0 times that is NaN for every row, so the optimizer moves nothing.
  Expr valid = b.select(isValid(rows, getLabels(), getIgnore()), b.constF32(1),
                        b.constF32(0));
  Expr dsum = valid * rows.scalar(getDsum());
  rows.setFull(getDsumexp(), dsum / rows.full(getSumexp()));
  rows.setFull(getDpicked(), -dsum);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

SmallVector<Value> MeanOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                          ArrayRef<bool>) {
  return {MeanOp::create(b, getLoc(), dualType(getSum().getType()),
                         gradients[0], getCount()),
          Value()};
}

GradientFlow MeanOp::getFlow(unsigned, unsigned operand) {
  return operand == 0 ? GradientFlow::Built : GradientFlow::Missing;
}

void MeanOp::lowerToRows(RowLowering &rows) {
  rows.setScalar(getY(), rows.scalar(getSum()) / rows.scalar(getCount()));
}

/// A number in a kernel is no work.
std::optional<cost::WorkItem> SeedOp::getWork(const layout::Mesh &) {
  return std::nullopt;
}

std::optional<cost::WorkItem> ConstantOp::getWork(const layout::Mesh &) {
  return std::nullopt;
}

void SeedOp::lowerToRows(RowLowering &rows) {
  rows.setScalar(getY(), rows.builder().constF32(1));
}

void ConstantOp::lowerToRows(RowLowering &rows) {
  rows.setScalar(getY(),
                 rows.builder().constF32(float(getValue().convertToDouble())));
}
