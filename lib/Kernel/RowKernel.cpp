// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RowKernel as a value: comparison, its canonical text, and its verifier.

#include "colrow/Kernel/RowKernel.h"
#include "KernelSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <tuple>

using namespace llvm;

namespace colrow::kernel {

static auto fields(const Arg &a) {
  return std::tie(a.elem, a.offset, a.rowStrides, a.colStride, a.access);
}

bool Arg::operator==(const Arg &other) const {
  return fields(*this) == fields(other);
}

static auto fields(const Node &n) {
  return std::tie(n.kind, n.type, n.predicate, n.byRow, n.byCol, n.arg,
                  n.scratch, n.operands, n.imm);
}

bool Node::operator==(const Node &other) const {
  return fields(*this) == fields(other);
}

static auto fields(const RowKernel &k) {
  return std::tie(k.rows, k.cols, k.args, k.nodes, k.numInts);
}

bool RowKernel::operator==(const RowKernel &other) const {
  return fields(*this) == fields(other);
}

int64_t RowKernel::numRows() const { return product_of(rows); }

hash_code hash_value(const RowKernel &kernel) {
  hash_code code = hash_combine(kernel.cols, kernel.numInts,
                                hash_combine_range(kernel.rows));
  for (const Arg &arg : kernel.args)
    code = hash_combine(code, arg.elem, arg.offset, arg.colStride, arg.access,
                        hash_combine_range(arg.rowStrides));
  for (const Node &node : kernel.nodes)
    code =
        hash_combine(code, node.kind, node.type, node.predicate, node.arg,
                     node.scratch, node.imm, hash_combine_range(node.operands));
  return code;
}

int64_t elemBytes(Elem elem) {
  static constexpr int64_t bytes[] = {4, 4, 8, 2, 1};
  return bytes[unsigned(elem)];
}

StringRef name(Elem elem) {
  static constexpr const char *names[] = {"f32", "i32", "i64", "bf16", "i1"};
  return names[unsigned(elem)];
}

StringRef name(Type type) {
  static constexpr const char *names[] = {"none", "f32", "i32", "i64", "i1"};
  return names[unsigned(type)];
}

StringRef name(Access access) {
  static constexpr const char *names[] = {"read", "write", "accumulate"};
  return names[unsigned(access)];
}

StringRef name(Predicate predicate) {
  static constexpr const char *names[] = {"lt", "le", "eq", "ne", "gt", "ge"};
  return names[unsigned(predicate)];
}

StringRef name(NodeKind kind) {
  static constexpr const char *names[] = {"const",     "const",
                                          "const",     "int_arg",
                                          "row_index", "col_index",
                                          "load",      "load_row",
                                          "philox",    "philox_uniform",
                                          "cast",      "neg",
                                          "exp",       "log",
                                          "tanh",      "erf",
                                          "sqrt",      "rsqrt",
                                          "abs",       "reciprocal",
                                          "is_finite", "not",
                                          "add",       "sub",
                                          "mul",       "div",
                                          "max",       "min",
                                          "and",       "or",
                                          "compare",   "select",
                                          "row_sum",   "row_max",
                                          "store",     "col_sum",
                                          "total_sum", "scatter_add_row"};
  return names[unsigned(kind)];
}

static void printArg(raw_ostream &os, size_t index, const Arg &arg) {
  os << "  arg" << index << ": " << name(arg.elem) << " " << name(arg.access)
     << " offset " << arg.offset << " rows [";
  interleaveComma(arg.rowStrides, os);
  os << "] col " << arg.colStride << "\n";
}

/// The immediate, where the kind has one.
static void printImmediate(raw_ostream &os, const Node &node) {
  switch (node.kind) {
  case NodeKind::ConstF32:
    os << " " << format_hex_no_prefix(uint32_t(node.imm), 8) << " ("
       << constantF32(node) << ")";
    return;
  case NodeKind::ConstI32:
  case NodeKind::ConstI64:
  case NodeKind::IntArg:
  case NodeKind::RowIndex:
    os << " " << node.imm;
    return;
  case NodeKind::Load:
  case NodeKind::Store:
    os << " offset " << node.imm;
    return;
  case NodeKind::LoadRow:
  case NodeKind::ScatterAddRow:
    os << " stride " << node.imm;
    return;
  case NodeKind::Philox:
  case NodeKind::PhiloxUniform:
    os << " stream " << node.imm;
    return;
  case NodeKind::Compare:
    os << " " << name(node.predicate);
    return;
  default:
    return;
  }
}

static void printNode(raw_ostream &os, size_t index, const Node &node) {
  os << "  ";
  if (!isEffect(node.kind))
    os << "%" << index << " = ";
  os << name(node.kind);
  if (node.arg >= 0)
    os << " arg" << node.arg;
  if (node.scratch >= 0)
    os << " arg" << node.scratch;
  printImmediate(os, node);
  for (int32_t operand : node.operands)
    if (operand >= 0)
      os << " %" << operand;
  if (!isEffect(node.kind))
    os << " : " << name(node.type)
       << (node.byRow && node.byCol ? " full"
           : node.byRow             ? " row"
           : node.byCol             ? " col"
                                    : " scalar");
  os << "\n";
}

void RowKernel::print(raw_ostream &os) const {
  os << "kernel rows [";
  interleaveComma(rows, os);
  os << "] cols " << cols << " ints " << numInts << "\n";
  for (auto [index, arg] : enumerate(args))
    printArg(os, index, arg);
  for (auto [index, node] : enumerate(nodes))
    printNode(os, index, node);
}

std::string RowKernel::canonical() const {
  std::string text;
  raw_string_ostream os(text);
  print(os);
  return text;
}

Error kernelError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), "row kernel: " + message);
}

/// A kernel's counts and sizes.
static Error verifyShape(const RowKernel &kernel) {
  // Element counts and byte addresses must not overflow an int64.
  constexpr int64_t limit = int64_t(1) << 56;
  int64_t count = kernel.cols;
  if (kernel.cols < 1)
    return kernelError("cols is " + Twine(kernel.cols) + ", wanted at least 1");
  for (int64_t size : kernel.rows) {
    if (size < 1)
      return kernelError("a row dimension has size " + Twine(size) +
                         ", wanted at least 1");
    if (size > limit / count)
      return kernelError("more than 2^56 elements");
    count *= size;
  }
  for (auto [index, arg] : enumerate(kernel.args))
    if (arg.rowStrides.size() != kernel.rows.size())
      return kernelError("arg" + Twine(index) + " has " +
                         Twine(arg.rowStrides.size()) +
                         " row strides, wanted one for each of the " +
                         Twine(kernel.rows.size()) + " row dimensions");
  return Error::success();
}

int64_t sumScratch(int64_t elements) { return 2 * elements; }

int64_t scatterScratch(int64_t rows, int64_t cols, int64_t tableRows) {
  // Lost parts of the table's rows that are met more than sumBlock times, how
  // many these are, and one number for each row of the table.
  return rows / sumBlock * cols + 1 + tableRows;
}

/// A sum starts from zero or from what is there, so there is one an argument.
static Error verifySums(const RowKernel &kernel) {
  SmallVector<bool> isSummed(kernel.args.size(), false);
  for (const Node &node : kernel.nodes) {
    if (node.kind != NodeKind::ColSum && node.kind != NodeKind::TotalSum)
      continue;
    if (isSummed[node.arg])
      return kernelError("two sums go to arg" + Twine(node.arg) +
                         "; give each its own argument");
    isSummed[node.arg] = true;
  }
  return Error::success();
}

Error verify(const RowKernel &kernel) {
  if (Error error = verifyShape(kernel))
    return error;
  for (auto [index, node] : enumerate(kernel.nodes)) {
    for (int32_t operand : node.operands)
      if (operand >= int32_t(index) || operand < -1)
        return kernelError("node " + Twine(index) + " uses node " +
                           Twine(operand) + ", which does not stand before it");
    Node inferred = node;
    if (Error error = inferNode(kernel, inferred))
      return error;
    if (!(inferred == node))
      return kernelError("node " + Twine(index) + " (" + name(node.kind) +
                         ") has another type or class than its operands give");
  }
  return verifySums(kernel);
}

} // namespace colrow::kernel
