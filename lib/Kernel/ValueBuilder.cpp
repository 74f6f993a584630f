// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plain arithmetic of ValueBuilder.

#include "ValueBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace llvm;
using namespace mlir;

namespace colrow::kernel {

static constexpr auto contract = arith::FastMathFlags::contract;

static bool isFloat(Value x) {
  return isa<FloatType>(getElementTypeOrSelf(x.getType()));
}

static mlir::Type withElement(mlir::Type shape, mlir::Type element) {
  if (auto vector = dyn_cast<VectorType>(shape))
    return VectorType::get(vector.getShape(), element);
  return element;
}

mlir::Type ValueBuilder::elementType(Type type) {
  switch (type) {
  case Type::F32:
    return b.getF32Type();
  case Type::I32:
    return b.getI32Type();
  case Type::I64:
    return b.getI64Type();
  default:
    return b.getI1Type();
  }
}

mlir::Type ValueBuilder::shapedType(Type type, unsigned lanes) {
  mlir::Type element = elementType(type);
  return lanes ? mlir::Type(VectorType::get(lanes, element)) : element;
}

static Value splat(ImplicitLocOpBuilder &b, mlir::Type type, TypedAttr value) {
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(b, value);
}

Value ValueBuilder::constant(Type type, unsigned lanes, int64_t bits) {
  if (type == Type::F32)
    return splat(b, shapedType(type, lanes),
                 b.getF32FloatAttr(bit_cast<float>(uint32_t(bits))));
  return splat(b, shapedType(type, lanes),
               b.getIntegerAttr(elementType(type), bits));
}

Value ValueBuilder::f(float value, Value like) {
  return splat(b, like.getType(), b.getF32FloatAttr(value));
}

/// An integer of the element type of `like`.
Value ValueBuilder::i(int64_t value, Value like) {
  return splat(b, like.getType(),
               b.getIntegerAttr(getElementTypeOrSelf(like.getType()), value));
}

Value ValueBuilder::broadcast(Value scalar, unsigned lanes) {
  if (!lanes || isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(
      b, VectorType::get(lanes, scalar.getType()), scalar);
}

Value ValueBuilder::add(Value x, Value y) {
  if (isFloat(x))
    return arith::AddFOp::create(b, x, y, contract);
  return arith::AddIOp::create(b, x, y);
}

Value ValueBuilder::sub(Value x, Value y) {
  if (isFloat(x))
    return arith::SubFOp::create(b, x, y, contract);
  return arith::SubIOp::create(b, x, y);
}

Value ValueBuilder::mul(Value x, Value y) {
  if (isFloat(x))
    return arith::MulFOp::create(b, x, y, contract);
  return arith::MulIOp::create(b, x, y);
}

Value ValueBuilder::div(Value x, Value y) {
  return arith::DivFOp::create(b, x, y);
}

/// NaN when either is; which zero of two is unspecified.
Value ValueBuilder::maximum(Value x, Value y) {
  return arith::MaximumFOp::create(b, x, y, arith::FastMathFlags::nsz);
}

Value ValueBuilder::select(Value c, Value x, Value y) {
  return arith::SelectOp::create(b, c, x, y);
}

std::pair<Value, Value> ValueBuilder::addKeepingLost(Value sum, Value lost,
                                                     Value x) {
  Value wanted = add(x, lost), next = add(sum, wanted);
  Value rest = sub(wanted, sub(next, sum));
  Value isFinite = less(math::AbsFOp::create(b, rest), f(INFINITY, rest));
  return {next, select(isFinite, rest, f(0, rest))};
}

Value ValueBuilder::less(Value x, Value y) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
}

Value ValueBuilder::bits(Value x) {
  return arith::BitcastOp::create(b, withElement(x.getType(), b.getI32Type()),
                                  x);
}

Value ValueBuilder::floats(Value x) {
  return arith::BitcastOp::create(b, withElement(x.getType(), b.getF32Type()),
                                  x);
}

/// sum_k coefficients[k] x^k by Horner's rule.
Value ValueBuilder::polynomial(Value x, ArrayRef<float> coefficients) {
  Value result = f(coefficients.back(), x);
  for (float c : reverse(coefficients.drop_back()))
    result = fma(result, x, f(c, x));
  return result;
}

Value ValueBuilder::emitCompare(Predicate predicate, Value x, Value y) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static constexpr F floats[] = {F::OLT, F::OLE, F::OEQ,
                                 F::UNE, F::OGT, F::OGE};
  static constexpr I integers[] = {I::slt, I::sle, I::eq,
                                   I::ne,  I::sgt, I::sge};
  if (isFloat(x))
    return arith::CmpFOp::create(b, floats[unsigned(predicate)], x, y);
  return arith::CmpIOp::create(b, integers[unsigned(predicate)], x, y);
}

Value ValueBuilder::emitCast(Value x, Type to) {
  mlir::Type element = getElementTypeOrSelf(x.getType());
  mlir::Type result = withElement(x.getType(), elementType(to));
  if (to == Type::F32)
    return element.isInteger(1) ? Value(arith::UIToFPOp::create(b, result, x))
                                : Value(arith::SIToFPOp::create(b, result, x));
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, result, x);
  if (to == Type::I64)
    return arith::ExtSIOp::create(b, result, x);
  return arith::TruncIOp::create(b, result, x);
}

Value ValueBuilder::emitUnary(const Node &node, Value x) {
  switch (node.kind) {
  case NodeKind::Cast:
    return emitCast(x, node.type);
  case NodeKind::Neg:
    return isFloat(x) ? Value(arith::NegFOp::create(b, x)) : sub(i(0, x), x);
  case NodeKind::Exp:
    return exp(x);
  case NodeKind::Log:
    return log(x);
  case NodeKind::Tanh:
    return tanh(x);
  case NodeKind::Erf:
    return erf(x);
  case NodeKind::Sqrt:
    return math::SqrtOp::create(b, x);
  case NodeKind::Rsqrt:
    return div(f(1, x), math::SqrtOp::create(b, x));
  case NodeKind::Abs:
    return isFloat(x) ? Value(math::AbsFOp::create(b, x))
                      : Value(math::AbsIOp::create(b, x));
  case NodeKind::Reciprocal:
    return div(f(1, x), x);
  case NodeKind::IsFinite:
    return less(math::AbsFOp::create(b, x), f(INFINITY, x));
  default: // NodeKind::Not
    return arith::XOrIOp::create(b, x, i(-1, x));
  }
}

Value ValueBuilder::emitBinary(const Node &node, Value x, Value y) {
  switch (node.kind) {
  case NodeKind::Add:
    return add(x, y);
  case NodeKind::Sub:
    return sub(x, y);
  case NodeKind::Mul:
    return mul(x, y);
  case NodeKind::Div:
    return div(x, y);
  case NodeKind::Max:
    return isFloat(x) ? maximum(x, y) : Value(arith::MaxSIOp::create(b, x, y));
  case NodeKind::Min:
    return isFloat(x) ? Value(arith::MinimumFOp::create(
                            b, x, y, arith::FastMathFlags::nsz))
                      : Value(arith::MinSIOp::create(b, x, y));
  case NodeKind::And:
    return arith::AndIOp::create(b, x, y);
  case NodeKind::Or:
    return arith::OrIOp::create(b, x, y);
  default: // NodeKind::Compare
    return emitCompare(node.predicate, x, y);
  }
}

Value ValueBuilder::emit(const Node &node, ArrayRef<Value> operands,
                         unsigned lanes) {
  switch (node.kind) {
  case NodeKind::ConstF32:
  case NodeKind::ConstI32:
  case NodeKind::ConstI64:
    return constant(node.type, lanes, node.imm);
  case NodeKind::Philox:
    return philox(operands[0], uint32_t(node.imm), operands[1], operands[2]);
  case NodeKind::PhiloxUniform:
    return uniform(
        philox(operands[0], uint32_t(node.imm), operands[1], operands[2]));
  case NodeKind::Select:
    return select(operands[0], operands[1], operands[2]);
  default:
    return operands.size() == 1 ? emitUnary(node, operands[0])
                                : emitBinary(node, operands[0], operands[1]);
  }
}

} // namespace colrow::kernel
