// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the canonical text of a row kernel. Only what RowKernel::print writes
// is accepted: at the end the kernel is printed again and compared.

#include "KernelSupport.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace colrow::kernel {

namespace {

/// A cursor over one line.
class Line {
public:
  explicit Line(StringRef text) : rest(text.trim(' ')) {}

  bool consume(StringRef literal) {
    rest = rest.ltrim(' ');
    return rest.consume_front(literal);
  }
  StringRef word() {
    rest = rest.ltrim(' ');
    StringRef found = rest.take_until([](char c) { return c == ' '; });
    rest = rest.drop_front(found.size());
    return found;
  }
  template <typename T> bool number(T &value) {
    rest = rest.ltrim(' ');
    return !rest.consumeInteger(10, value);
  }
  /// `[1, 2, 3]`
  bool list(SmallVectorImpl<int64_t> &values) {
    if (!consume("["))
      return false;
    if (consume("]"))
      return true;
    do
      if (!number(values.emplace_back()))
        return false;
    while (consume(","));
    return consume("]");
  }
  bool atEnd() const { return rest.trim(' ').empty(); }

private:
  StringRef rest;
};

/// The enumerator up to `last` whose name is `text`.
template <typename Enum>
bool parseName(StringRef text, Enum last, Enum &value) {
  for (unsigned i = 0; i <= unsigned(last); ++i)
    if (name(Enum(i)) == text) {
      value = Enum(i);
      return true;
    }
  return false;
}

bool parseHeader(Line line, RowKernel &kernel) {
  SmallVector<int64_t> rows;
  if (!line.consume("kernel rows") || !line.list(rows) ||
      !line.consume("cols") || !line.number(kernel.cols) ||
      !line.consume("ints") || !line.number(kernel.numInts))
    return false;
  kernel.rows.assign(rows.begin(), rows.end());
  return line.atEnd();
}

bool parseArg(Line line, RowKernel &kernel) {
  Arg arg;
  size_t index;
  SmallVector<int64_t> strides;
  if (!line.consume("arg") || !line.number(index) ||
      index != kernel.args.size() || !line.consume(":") ||
      !parseName(line.word(), Elem::I1, arg.elem) ||
      !parseName(line.word(), Access::Accumulate, arg.access) ||
      !line.consume("offset") || !line.number(arg.offset) ||
      !line.consume("rows") || !line.list(strides) || !line.consume("col") ||
      !line.number(arg.colStride))
    return false;
  arg.rowStrides.assign(strides.begin(), strides.end());
  kernel.args.push_back(std::move(arg));
  return line.atEnd();
}

/// A constant's kind follows from its type, which stands last.
NodeKind constantKind(StringRef line) {
  if (line.contains(" : f32 "))
    return NodeKind::ConstF32;
  return line.contains(" : i32 ") ? NodeKind::ConstI32 : NodeKind::ConstI64;
}

bool parseImmediate(Line &line, Node &node) {
  switch (node.kind) {
  case NodeKind::ConstF32: {
    uint32_t bits;
    if (line.word().getAsInteger(16, bits) || !line.consume("("))
      return false;
    (void)line.word(); // the value in decimal, for people
    node.imm = bits;
    return true;
  }
  case NodeKind::ConstI32:
  case NodeKind::ConstI64:
  case NodeKind::IntArg:
  case NodeKind::RowIndex:
    return line.number(node.imm);
  case NodeKind::Load:
  case NodeKind::Store:
    return line.consume("offset") && line.number(node.imm);
  case NodeKind::LoadRow:
  case NodeKind::ScatterAddRow:
    return line.consume("stride") && line.number(node.imm);
  case NodeKind::Philox:
  case NodeKind::PhiloxUniform:
    return line.consume("stream") && line.number(node.imm);
  case NodeKind::Compare:
    return parseName(line.word(), Predicate::Ge, node.predicate);
  default:
    return true;
  }
}

bool parseNode(StringRef text, RowKernel &kernel) {
  Line line(text);
  Node node;
  size_t index;
  if (line.consume("%") && (!line.number(index) || !line.consume("=")))
    return false;
  StringRef kind = line.word();
  if (kind == "const")
    node.kind = constantKind(text);
  else if (!parseName(kind, NodeKind::ScatterAddRow, node.kind))
    return false;
  for (int32_t *arg : {&node.arg, &node.scratch})
    if (line.consume("arg") && !line.number(*arg))
      return false;
  if (!parseImmediate(line, node))
    return false;
  for (unsigned i = 0; line.consume("%"); ++i)
    if (i == node.operands.size() || !line.number(node.operands[i]) ||
        node.operands[i] >= int32_t(kernel.nodes.size()))
      return false;
  if (line.consume(":") && !parseName(line.word(), Type::I1, node.type))
    return false;
  kernel.nodes.push_back(node);
  return true;
}

Error badLine(size_t number, StringRef line) {
  return kernelError("line " + Twine(number) + " is not one: '" + line + "'");
}

} // namespace

Expected<RowKernel> parseKernel(StringRef text) {
  RowKernel kernel;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (auto [i, line] : enumerate(lines)) {
    bool isArg = line.ltrim(' ').starts_with("arg");
    bool good = i == 0  ? parseHeader(Line(line), kernel)
                : isArg ? parseArg(Line(line), kernel)
                        : parseNode(line, kernel);
    if (!good)
      return badLine(i + 1, line);
    // Classes follow from what stands before.
    if (i > 0 && !isArg) {
      Node node = kernel.nodes.pop_back_val();
      if (Error error = inferNode(kernel, node))
        return std::move(error);
      kernel.nodes.push_back(node);
    }
  }
  if (Error error = verify(kernel))
    return std::move(error);
  SmallVector<StringRef> printed;
  std::string again = kernel.canonical();
  StringRef(again).split(printed, '\n', -1, false);
  for (auto [i, line] : enumerate(lines))
    if (i >= printed.size() || printed[i] != line)
      return badLine(i + 1, line);
  return kernel;
}

} // namespace colrow::kernel
