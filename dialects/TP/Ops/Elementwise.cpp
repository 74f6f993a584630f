// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element-wise ops, broadcasts and activations, with their gradients.

#include "colrow/dialects/TP/RowLowering.h"
#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using kernel::Expr;

/// Operand of an element-wise op whose shape may lack leading dimensions.
static Expr operand(RowLowering &rows, Value value) {
  size_t rank = shapeOf(value).size();
  if (rank == 0)
    return rows.scalar(value);
  return rank == rows.getSpace().size() ? rows.full(value)
                                        : rows.trailing(value);
}

static void setElement(RowLowering &rows, Value result, Expr value) {
  if (shapeOf(result).empty())
    rows.setScalar(result, value);
  else
    rows.setFull(result, value);
}

/// `gradient` brought to the shape of `value`, which was broadcast: a sum over
/// rows, in float32.
static Value reduceTo(OpBuilder &b, Location loc, Value gradient, Value value) {
  if (shapeOf(gradient) == shapeOf(value))
    return gradient;
  return SumLeadingOp::create(b, loc, inFloat32(dualType(value.getType())),
                              gradient);
}

//===----------------------------------------------------------------------===//
// Add, multiply, scale
//===----------------------------------------------------------------------===//

SmallVector<Value> AddOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                         ArrayRef<bool> wanted) {
  SmallVector<Value> result(2);
  if (wanted[0])
    result[0] = gradients[0];
  if (wanted[1])
    result[1] = reduceTo(b, getLoc(), gradients[0], getRhs());
  return result;
}

std::optional<double>
AddOp::getPaddingValue(unsigned, ArrayRef<std::optional<double>> operands) {
  if (operands[0] && operands[1])
    return *operands[0] + *operands[1]; // NaN: the bias is not split there
  return std::nullopt;
}

void AddOp::lowerToRows(RowLowering &rows) {
  setElement(rows, getY(), operand(rows, getLhs()) + operand(rows, getRhs()));
}

/// Type of dy times lhs, before it is summed to the shape of rhs: that of dy,
/// but a summand where lhs is one. (dy is copied there.)
static RankedTensorType productType(Value dy, Value lhs) {
  LayoutAttr ofDy = getLayoutAttr(dy), ofLhs = getLayoutAttr(lhs);
  if (!ofDy || !ofLhs)
    return cast<RankedTensorType>(dy.getType());
  layout::Layout layout = ofDy.getLayout();
  for (unsigned axis : ofLhs.getLayout().partial) {
    llvm::erase(layout.copied, axis);
    layout.partial.push_back(axis);
  }
  return withLayout(dy.getType(), LayoutAttr::get(ofDy.getMesh(), layout));
}

SmallVector<Value> MulOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                         ArrayRef<bool> wanted) {
  SmallVector<Value> result(2);
  Value dy = gradients[0];
  if (wanted[0])
    result[0] =
        MulOp::create(b, getLoc(), dualType(getLhs().getType()), dy, getRhs());
  if (wanted[1]) {
    // As the product of two values of the result's shape, so dy comes first.
    Value product =
        MulOp::create(b, getLoc(), productType(dy, getLhs()), dy, getLhs());
    result[1] = reduceTo(b, getLoc(), product, getRhs());
  }
  return result;
}

std::optional<double>
MulOp::getPaddingValue(unsigned, ArrayRef<std::optional<double>> operands) {
  if (operands[0] == 0.0 || operands[1] == 0.0)
    return 0.0;
  return std::nullopt;
}

void MulOp::lowerToRows(RowLowering &rows) {
  setElement(rows, getY(), operand(rows, getLhs()) * operand(rows, getRhs()));
}

std::optional<cost::WorkItem> AccumulateOp::getWork(const layout::Mesh &) {
  return std::nullopt;
}

void AccumulateOp::lowerToRows(RowLowering &rows) {
  setElement(rows, getSum(), operand(rows, getLhs()) + operand(rows, getRhs()));
}

SmallVector<Value> ScaleOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                           ArrayRef<bool>) {
  return {ScaleOp::create(b, getLoc(), dualType(getX().getType()), gradients[0],
                          getFactorAttr())};
}

void ScaleOp::lowerToRows(RowLowering &rows) {
  setElement(rows, getY(),
             operand(rows, getX()) * float(getFactor().convertToDouble()));
}

llvm::Expected<layout::FactorRule> SumLeadingOp::getFactorRule() {
  std::string names;
  for (size_t i = 0; i < shapeOf(getY()).size(); ++i)
    names += llvm::formatv(" c{0}", i);
  std::string factors = llvm::formatv("x: *{0} -> y:{0}", names);
  layout::RuleText text;
  text.factors = factors;
  text.linear = "x";
  return colrow::tp::detail::bindRule(*this, text, "x", "y",
                                      [](unsigned) { return 1; });
}

std::optional<double>
SumLeadingOp::getPaddingValue(unsigned,
                              ArrayRef<std::optional<double>> operands) {
  return operands[0] == 0.0 ? operands[0] : std::nullopt;
}

void SumLeadingOp::lowerToRows(RowLowering &rows) {
  if (shapeOf(getY()).empty())
    rows.setScalarSum(getY(), rows.full(getX()));
  else
    rows.setTrailingSum(getY(), rows.full(getX()));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// 1 / (1 + exp(-x)).
static Expr sigmoid(kernel::RowKernelBuilder &b, Expr x) {
  return b.reciprocal(1.0f + b.exp(-x));
}

static constexpr float sqrt2OverPi = 0.7978845608f;
static constexpr float geluCubic = 0.044715f;

void GeluOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr x = operand(rows, getX());
  if (getTanh()) {
    // 0.5 (1 + tanh z) is the sigmoid of 2 z, which keeps the negative tail.
    Expr z = (x + x * x * x * geluCubic) * sqrt2OverPi;
    setElement(rows, getY(), x * sigmoid(b, z * 2.0f));
    return;
  }
  setElement(rows, getY(), x * 0.5f * (1.0f + b.erf(x * 0.70710678f)));
}

void GeluGradOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr x = operand(rows, getX()), dy = operand(rows, getDy());
  Expr slope = x;
  if (getTanh()) {
    Expr z = (x + x * x * x * geluCubic) * sqrt2OverPi;
    Expr s = sigmoid(b, z * 2.0f);
    Expr dz = (1.0f + x * x * (3 * geluCubic)) * sqrt2OverPi;
    slope = s + x * s * (1.0f - s) * dz * 2.0f;
  } else {
    Expr density = b.exp(x * x * -0.5f) * 0.3989422804f;
    slope = (1.0f + b.erf(x * 0.70710678f)) * 0.5f + x * density;
  }
  setElement(rows, getDx(), slope * dy);
}

void ReluOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  setElement(rows, getY(), b.max(operand(rows, getX()), b.constF32(0)));
}

void ReluGradOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr zero = b.constF32(0);
  setElement(rows, getDx(),
             b.select(b.gt(operand(rows, getX()), zero), operand(rows, getDy()),
                      zero));
}

void SiluOp::lowerToRows(RowLowering &rows) {
  Expr x = operand(rows, getX());
  setElement(rows, getY(), x * sigmoid(rows.builder(), x));
}

void SiluGradOp::lowerToRows(RowLowering &rows) {
  Expr x = operand(rows, getX());
  Expr s = sigmoid(rows.builder(), x);
  setElement(rows, getDx(),
             operand(rows, getDy()) * s * (1.0f + x * (1.0f - s)));
}

SmallVector<Value> GeluOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                          ArrayRef<bool>) {
  return {GeluGradOp::create(b, getLoc(), dualType(getX().getType()), getX(),
                             gradients[0], getTanh())};
}

SmallVector<Value> ReluOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                          ArrayRef<bool>) {
  return {ReluGradOp::create(b, getLoc(), dualType(getX().getType()), getX(),
                             gradients[0])};
}

SmallVector<Value> SiluOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                          ArrayRef<bool>) {
  return {SiluGradOp::create(b, getLoc(), dualType(getX().getType()), getX(),
                             gradients[0])};
}

void SoftcapOp::lowerToRows(RowLowering &rows) {
  float cap = float(getCap().convertToDouble());
  setElement(rows, getY(),
             rows.builder().tanh(operand(rows, getX()) / cap) * cap);
}

void SoftcapGradOp::lowerToRows(RowLowering &rows) {
  Expr bound = operand(rows, getY()) / float(getCap().convertToDouble());
  setElement(rows, getDx(), operand(rows, getDy()) * (1.0f - bound * bound));
}

SmallVector<Value> SoftcapOp::buildGradients(OpBuilder &b, ValueRange gradients,
                                             ArrayRef<bool>) {
  return {SoftcapGradOp::create(b, getLoc(), dualType(getX().getType()), getY(),
                                gradients[0], getCapAttr())};
}
