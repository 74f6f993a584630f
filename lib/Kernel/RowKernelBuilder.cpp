// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RowKernelBuilder: appends nodes, each checked and each at most once.

#include "KernelSupport.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace colrow::kernel {

RowKernelBuilder::RowKernelBuilder(ArrayRef<int64_t> rows, int64_t cols) {
  kernel.rows.assign(rows.begin(), rows.end());
  kernel.cols = cols;
}

int RowKernelBuilder::arg(Arg arg) {
  kernel.args.push_back(std::move(arg));
  return int(kernel.args.size()) - 1;
}

int RowKernelBuilder::arg(Elem elem, Access access,
                          ArrayRef<int64_t> rowStrides, int64_t colStride,
                          int64_t offset) {
  Arg result;
  result.elem = elem;
  result.access = access;
  result.rowStrides.assign(rowStrides.begin(), rowStrides.end());
  result.colStride = colStride;
  result.offset = offset;
  return arg(std::move(result));
}

/// Strides of a dense array over `rows`, whose rows are `rowSize` long.
static SmallVector<int64_t, 4> denseStrides(ArrayRef<int64_t> rows,
                                            int64_t rowSize) {
  SmallVector<int64_t, 4> strides(rows.size());
  for (size_t i = rows.size(); i-- > 0;) {
    strides[i] = rowSize;
    rowSize *= rows[i];
  }
  return strides;
}

int RowKernelBuilder::denseArg(Elem elem, Access access) {
  return arg(elem, access, denseStrides(kernel.rows, kernel.cols));
}

int RowKernelBuilder::rowArg(Elem elem, Access access) {
  return arg(elem, access, denseStrides(kernel.rows, 1), /*colStride=*/0);
}

int RowKernelBuilder::colArg(Elem elem, Access access) {
  return arg(elem, access, SmallVector<int64_t, 4>(kernel.rows.size(), 0));
}

int RowKernelBuilder::scalarArg(Elem elem, Access access) {
  return arg(elem, access, SmallVector<int64_t, 4>(kernel.rows.size(), 0),
             /*colStride=*/0);
}

Expr RowKernelBuilder::append(Node node) {
  if (firstError.empty()) {
    if (Error error = inferNode(kernel, node))
      firstError = toString(std::move(error));
  }
  if (!firstError.empty())
    return {this, -1};
  if (!isEffect(node.kind)) {
    auto same = find(kernel.nodes, node);
    if (same != kernel.nodes.end())
      return {this, int32_t(same - kernel.nodes.begin())};
  }
  kernel.nodes.push_back(node);
  return {this, int32_t(kernel.nodes.size()) - 1};
}

/// A node with the given operands; -1 where there is none.
static Node makeNode(NodeKind kind, std::array<int32_t, 3> operands,
                     int64_t imm = 0, int32_t arg = -1) {
  Node node;
  node.kind = kind;
  node.operands = operands;
  node.imm = imm;
  node.arg = arg;
  return node;
}

static constexpr std::array<int32_t, 3> noOperands = {-1, -1, -1};

Expr RowKernelBuilder::unary(NodeKind kind, Expr x) {
  return append(makeNode(kind, {x.node, -1, -1}));
}

Expr RowKernelBuilder::binary(NodeKind kind, Expr a, Expr b) {
  return append(makeNode(kind, {a.node, b.node, -1}));
}

Expr RowKernelBuilder::load(int arg, int64_t colOffset) {
  return append(makeNode(NodeKind::Load, noOperands, colOffset, arg));
}

Expr RowKernelBuilder::loadRow(int arg, Expr index, int64_t indexStride,
                               std::optional<Expr> valid) {
  return append(makeNode(NodeKind::LoadRow,
                         {index.node, valid ? valid->node : -1, -1},
                         indexStride, arg));
}

Expr RowKernelBuilder::constF32(float value) {
  return append(makeNode(NodeKind::ConstF32, noOperands,
                         int64_t(bit_cast<uint32_t>(value))));
}

Expr RowKernelBuilder::constI32(int32_t value) {
  return append(makeNode(NodeKind::ConstI32, noOperands, value));
}

Expr RowKernelBuilder::constI64(int64_t value) {
  return append(makeNode(NodeKind::ConstI64, noOperands, value));
}

Expr RowKernelBuilder::rowIndex(unsigned dim) {
  return append(makeNode(NodeKind::RowIndex, noOperands, dim));
}

Expr RowKernelBuilder::colIndex() {
  return append(makeNode(NodeKind::ColIndex, noOperands));
}

Expr RowKernelBuilder::intArg(unsigned k) {
  kernel.numInts = std::max(kernel.numInts, k + 1);
  return append(makeNode(NodeKind::IntArg, noOperands, k));
}

Expr RowKernelBuilder::cast(Expr x, Type type) {
  if (typeOf(x) == type)
    return x;
  Node node = makeNode(NodeKind::Cast, {x.node, -1, -1});
  node.type = type;
  return append(node);
}

Expr RowKernelBuilder::neg(Expr x) { return unary(NodeKind::Neg, x); }
Expr RowKernelBuilder::exp(Expr x) { return unary(NodeKind::Exp, x); }
Expr RowKernelBuilder::log(Expr x) { return unary(NodeKind::Log, x); }
Expr RowKernelBuilder::tanh(Expr x) { return unary(NodeKind::Tanh, x); }
Expr RowKernelBuilder::erf(Expr x) { return unary(NodeKind::Erf, x); }
Expr RowKernelBuilder::sqrt(Expr x) { return unary(NodeKind::Sqrt, x); }
Expr RowKernelBuilder::rsqrt(Expr x) { return unary(NodeKind::Rsqrt, x); }
Expr RowKernelBuilder::abs(Expr x) { return unary(NodeKind::Abs, x); }
Expr RowKernelBuilder::reciprocal(Expr x) {
  return unary(NodeKind::Reciprocal, x);
}
Expr RowKernelBuilder::isFinite(Expr x) { return unary(NodeKind::IsFinite, x); }

Expr RowKernelBuilder::add(Expr a, Expr b) {
  return binary(NodeKind::Add, a, b);
}
Expr RowKernelBuilder::sub(Expr a, Expr b) {
  return binary(NodeKind::Sub, a, b);
}
Expr RowKernelBuilder::mul(Expr a, Expr b) {
  return binary(NodeKind::Mul, a, b);
}
Expr RowKernelBuilder::div(Expr a, Expr b) {
  return binary(NodeKind::Div, a, b);
}
Expr RowKernelBuilder::max(Expr a, Expr b) {
  return binary(NodeKind::Max, a, b);
}
Expr RowKernelBuilder::min(Expr a, Expr b) {
  return binary(NodeKind::Min, a, b);
}

Expr RowKernelBuilder::cmp(Predicate predicate, Expr a, Expr b) {
  Node node = makeNode(NodeKind::Compare, {a.node, b.node, -1});
  node.predicate = predicate;
  return append(node);
}

Expr RowKernelBuilder::logicalAnd(Expr a, Expr b) {
  return binary(NodeKind::And, a, b);
}
Expr RowKernelBuilder::logicalOr(Expr a, Expr b) {
  return binary(NodeKind::Or, a, b);
}
Expr RowKernelBuilder::logicalNot(Expr x) { return unary(NodeKind::Not, x); }

Expr RowKernelBuilder::select(Expr condition, Expr thenValue, Expr elseValue) {
  return append(makeNode(NodeKind::Select,
                         {condition.node, thenValue.node, elseValue.node}));
}

Expr RowKernelBuilder::rowSum(Expr x) { return unary(NodeKind::RowSum, x); }
Expr RowKernelBuilder::rowMax(Expr x) { return unary(NodeKind::RowMax, x); }

Expr RowKernelBuilder::philox(Expr seed, uint32_t stream, Expr step,
                              Expr index) {
  return append(
      makeNode(NodeKind::Philox, {seed.node, step.node, index.node}, stream));
}

Expr RowKernelBuilder::philoxUniform(Expr seed, uint32_t stream, Expr step,
                                     Expr index) {
  return append(makeNode(NodeKind::PhiloxUniform,
                         {seed.node, step.node, index.node}, stream));
}

void RowKernelBuilder::store(int arg, Expr value, int64_t colOffset) {
  append(makeNode(NodeKind::Store, {value.node, -1, -1}, colOffset, arg));
}

void RowKernelBuilder::colSum(int arg, Expr value) {
  append(makeNode(NodeKind::ColSum, {value.node, -1, -1}, 0, arg));
}

void RowKernelBuilder::totalSum(int arg, Expr value) {
  append(makeNode(NodeKind::TotalSum, {value.node, -1, -1}, 0, arg));
}

void RowKernelBuilder::scatterAddRow(int arg, Expr index, int64_t indexStride,
                                     Expr value, std::optional<Expr> valid) {
  append(makeNode(NodeKind::ScatterAddRow,
                  {index.node, value.node, valid ? valid->node : -1},
                  indexStride, arg));
}

void RowKernelBuilder::keepLost(int scratch) {
  if (!firstError.empty() || kernel.nodes.empty())
    return;
  Node node = kernel.nodes.pop_back_val();
  node.scratch = scratch;
  append(node);
}

Type RowKernelBuilder::typeOf(Expr x) const {
  return x.node < 0 ? Type::None : kernel.nodes[x.node].type;
}

Expected<RowKernel> RowKernelBuilder::finish() {
  if (!firstError.empty())
    return createStringError(inconvertibleErrorCode(), firstError.c_str());
  if (Error error = verify(kernel))
    return std::move(error);
  return kernel;
}

Expr operator+(Expr a, Expr b) { return a.builder->add(a, b); }
Expr operator-(Expr a, Expr b) { return a.builder->sub(a, b); }
Expr operator*(Expr a, Expr b) { return a.builder->mul(a, b); }
Expr operator/(Expr a, Expr b) { return a.builder->div(a, b); }
Expr operator-(Expr x) { return x.builder->neg(x); }
Expr operator+(Expr a, float b) { return a + a.builder->constF32(b); }
Expr operator-(Expr a, float b) { return a - a.builder->constF32(b); }
Expr operator*(Expr a, float b) { return a * a.builder->constF32(b); }
Expr operator/(Expr a, float b) { return a / a.builder->constF32(b); }
Expr operator+(float a, Expr b) { return b.builder->constF32(a) + b; }
Expr operator-(float a, Expr b) { return b.builder->constF32(a) - b; }
Expr operator*(float a, Expr b) { return b.builder->constF32(a) * b; }
Expr operator/(float a, Expr b) { return b.builder->constF32(a) / b; }

} // namespace colrow::kernel
