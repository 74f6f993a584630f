// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types and classes of nodes: which operands each kind takes, and what its
// value is. The builder and the verifier share these rules.

#include "KernelSupport.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace colrow::kernel {

namespace {

/// The inference of one node. Errors name the node's kind.
class Inference {
public:
  Inference(const RowKernel &kernel, Node &node) : kernel(kernel), node(node) {}
  Error run();

private:
  const Node &operand(unsigned i) const {
    return kernel.nodes[node.operands[i]];
  }
  bool has(unsigned i) const { return node.operands[i] >= 0; }
  Error fail(const Twine &message) const {
    return kernelError(name(node.kind) + ": " + message);
  }
  Error set(Type type, bool byRow, bool byCol) {
    node.type = type;
    node.byRow = byRow;
    node.byCol = byCol;
    return Error::success();
  }
  /// The result's class is what any operand differs by.
  Error setFromOperands(Type type) {
    bool byRow = false, byCol = false;
    for (int32_t index : node.operands) {
      if (index < 0)
        continue;
      byRow |= kernel.nodes[index].byRow;
      byCol |= kernel.nodes[index].byCol;
    }
    return set(type, byRow, byCol);
  }

  Error checkCount();
  Error checkArg(bool written);
  Error checkIndex(unsigned valid);
  Error inferLeaf();
  Error inferCast();
  Error inferUnary();
  Error inferBinary();
  Error inferSelect();
  Error inferEffect();
  Error checkScratch();

  const RowKernel &kernel;
  Node &node;
};

/// How many operands a kind takes; the last of LoadRow and ScatterAddRow may
/// be missing.
std::pair<unsigned, unsigned> operandCount(NodeKind kind) {
  if (kind < NodeKind::LoadRow)
    return {0, 0};
  if (kind == NodeKind::LoadRow)
    return {1, 2};
  if (isPhilox(kind) || kind == NodeKind::Select)
    return {3, 3};
  if (kind == NodeKind::ScatterAddRow)
    return {2, 3};
  if (kind >= NodeKind::Add && kind <= NodeKind::Compare)
    return {2, 2};
  return {1, 1};
}

Error Inference::checkCount() {
  auto [least, most] = operandCount(node.kind);
  unsigned count = 0;
  while (count < 3 && has(count))
    ++count;
  for (unsigned i = count; i < 3; ++i)
    if (has(i))
      return fail("an operand is missing");
  if (count < least || count > most)
    return fail("found " + Twine(count) + " operands, wanted " + Twine(least));
  for (unsigned i = 0; i < count; ++i)
    if (node.operands[i] >= int32_t(kernel.nodes.size()) ||
        isEffect(operand(i).kind))
      return fail("operand " + Twine(i) + " is no value");
  return Error::success();
}

Error Inference::checkArg(bool written) {
  if (node.arg < 0 || node.arg >= int32_t(kernel.args.size()))
    return fail("argument " + Twine(node.arg) + " does not exist");
  bool isWritten = kernel.args[node.arg].access != Access::Read;
  if (written && !isWritten)
    return fail("argument " + Twine(node.arg) +
                " is read only; give it Access::Write or Accumulate");
  if (!written && isWritten)
    return fail("argument " + Twine(node.arg) +
                " is written; read through an argument of its own");
  return Error::success();
}

/// Checks the index (operand 0) and, at `valid`, the optional condition.
Error Inference::checkIndex(unsigned valid) {
  Type type = operand(0).type;
  if (type != Type::I32 && type != Type::I64)
    return fail("the index must be i32 or i64");
  if (operand(0).byCol)
    return fail("the index differs by column");
  if (has(valid) && (operand(valid).type != Type::I1 || operand(valid).byCol))
    return fail("the condition must be i1 and must not differ by column");
  return Error::success();
}

Error Inference::inferLeaf() {
  switch (node.kind) {
  case NodeKind::ConstF32:
    return set(Type::F32, false, false);
  case NodeKind::ConstI32:
    return set(Type::I32, false, false);
  case NodeKind::ConstI64:
    return set(Type::I64, false, false);
  case NodeKind::IntArg:
    if (node.imm < 0 || node.imm >= int64_t(kernel.numInts))
      return fail("integer " + Twine(node.imm) + " of " +
                  Twine(kernel.numInts));
    return set(Type::I64, false, false);
  case NodeKind::RowIndex:
    if (node.imm < 0 || node.imm >= int64_t(kernel.rows.size()))
      return fail("row dimension " + Twine(node.imm) + " of " +
                  Twine(kernel.rows.size()));
    return set(Type::I64, true, false);
  case NodeKind::ColIndex:
    return set(Type::I64, false, true);
  default:
    break;
  }
  if (Error error = checkArg(/*written=*/false))
    return error;
  const Arg &arg = kernel.args[node.arg];
  bool byRow = any_of(arg.rowStrides, [](int64_t s) { return s != 0; });
  if (node.kind == NodeKind::LoadRow) {
    if (Error error = checkIndex(/*valid=*/1))
      return error;
    byRow |= operand(0).byRow || (has(1) && operand(1).byRow);
  }
  return set(valueType(arg.elem), byRow, arg.colStride != 0);
}

Error Inference::inferCast() {
  static constexpr std::pair<Type, Type> allowed[] = {
      {Type::I32, Type::F32}, {Type::I64, Type::F32}, {Type::I1, Type::F32},
      {Type::I32, Type::I64}, {Type::I64, Type::I32}, {Type::I1, Type::I32},
      {Type::I1, Type::I64}};
  if (!is_contained(allowed, std::make_pair(operand(0).type, node.type)))
    return fail("no such conversion");
  return setFromOperands(node.type);
}

Error Inference::inferUnary() {
  Type type = operand(0).type;
  if (node.kind == NodeKind::Not)
    return type == Type::I1 ? setFromOperands(type) : fail("wanted i1");
  bool alsoInteger = node.kind == NodeKind::Neg || node.kind == NodeKind::Abs;
  if (type == Type::I1 || (type != Type::F32 && !alsoInteger))
    return fail(alsoInteger ? "wanted f32, i32 or i64" : "wanted f32");
  return setFromOperands(node.kind == NodeKind::IsFinite ? Type::I1 : type);
}

Error Inference::inferBinary() {
  Type type = operand(0).type;
  if (operand(1).type != type)
    return fail("the operands' types differ");
  if (node.kind == NodeKind::And || node.kind == NodeKind::Or)
    return type == Type::I1 ? setFromOperands(type) : fail("wanted i1");
  if (type == Type::I1)
    return fail("wanted numbers, found i1");
  if (node.kind == NodeKind::Div && type != Type::F32)
    return fail("wanted f32");
  return setFromOperands(node.kind == NodeKind::Compare ? Type::I1 : type);
}

Error Inference::inferSelect() {
  if (operand(0).type != Type::I1)
    return fail("the condition must be i1");
  if (operand(1).type != operand(2).type)
    return fail("the two values' types differ");
  return setFromOperands(operand(1).type);
}

Error Inference::inferEffect() {
  if (Error error = checkArg(/*written=*/true))
    return error;
  const Arg &arg = kernel.args[node.arg];
  bool isScatter = node.kind == NodeKind::ScatterAddRow;
  if (isScatter)
    if (Error error = checkIndex(/*valid=*/2))
      return error;
  const Node &value = operand(isScatter ? 1 : 0);
  if (value.type != valueType(arg.elem))
    return fail("the value's type is not the argument's");
  bool adds = arg.access == Access::Accumulate &&
              (arg.elem == Elem::BF16 || arg.elem == Elem::I1);
  if ((node.kind != NodeKind::Store && arg.elem != Elem::F32) || adds)
    return fail("wanted an f32 argument, found " + name(arg.elem) +
                ": sums are kept in float32");
  bool byRow = any_of(arg.rowStrides, [](int64_t s) { return s != 0; });
  if (node.kind == NodeKind::TotalSum && (byRow || arg.colStride != 0))
    return fail("the argument must be one element: all strides 0");
  if (node.kind == NodeKind::ColSum && (byRow || arg.colStride == 0))
    return fail("the argument's row strides must be 0, its column stride not");
  if (node.kind != NodeKind::TotalSum && arg.colStride == 0 && value.byCol)
    return fail("the value differs by column, the argument does not");
  if (Error error = checkScratch())
    return error;
  return set(Type::None, false, false);
}

/// Scratch must lie as its sum does, or every row would not find its place.
Error Inference::checkScratch() {
  if (node.scratch < 0)
    return Error::success();
  if (node.scratch >= int32_t(kernel.args.size()) || node.scratch == node.arg)
    return fail("argument " + Twine(node.scratch) + " is no scratch");
  const Arg &arg = kernel.args[node.arg], &scratch = kernel.args[node.scratch];
  bool isScatter = node.kind == NodeKind::ScatterAddRow;
  bool isSum = node.kind == NodeKind::ColSum ||
               (node.kind == NodeKind::Store &&
                arg.access == Access::Accumulate && node.imm == 0);
  if ((!isScatter && !isSum) || arg.elem != Elem::F32)
    return fail("only sums of f32 over rows keep what they lose");
  if (scratch.elem != Elem::F32 || scratch.access != Access::Accumulate ||
      scratch.offset != 0)
    return fail("scratch must be f32, accumulated into, at offset 0");
  if (isScatter) {
    bool isPlain = all_of(scratch.rowStrides, [](int64_t s) { return s == 0; });
    return isPlain && arg.colStride == 1
               ? Error::success()
               : fail("a scatter's columns must be adjacent, and its scratch's "
                      "row strides 0");
  }
  if (scratch.rowStrides != arg.rowStrides ||
      scratch.colStride != arg.colStride)
    return fail("scratch must have the argument's strides");
  auto kept = drop_begin(arg.rowStrides, countSummedDims(kernel, arg));
  if (any_of(kept, [](int64_t s) { return s == 0; }))
    return fail("the dimensions summed over must be the leading ones");
  return Error::success();
}

Error Inference::run() {
  if (Error error = checkCount())
    return error;
  if (isEffect(node.kind))
    return inferEffect();
  if (node.kind <= NodeKind::LoadRow)
    return inferLeaf();
  if (isPhilox(node.kind)) {
    for (unsigned i = 0; i < 3; ++i)
      if (operand(i).type != Type::I64)
        return fail("seed, step and index must be i64");
    return setFromOperands(node.kind == NodeKind::Philox ? Type::I32
                                                         : Type::F32);
  }
  if (node.kind == NodeKind::Cast)
    return inferCast();
  if (node.kind < NodeKind::Add)
    return inferUnary();
  if (node.kind < NodeKind::Select)
    return inferBinary();
  if (node.kind == NodeKind::Select)
    return inferSelect();
  if (operand(0).type != Type::F32)
    return fail("wanted f32");
  return set(Type::F32, /*byRow=*/true, /*byCol=*/false);
}

} // namespace

unsigned countSummedDims(const RowKernel &kernel, const Arg &arg) {
  unsigned count = 0;
  while (count < arg.rowStrides.size() && arg.rowStrides[count] == 0)
    ++count;
  return count;
}

Error inferNode(const RowKernel &kernel, Node &node) {
  return Inference(kernel, node).run();
}

} // namespace colrow::kernel
