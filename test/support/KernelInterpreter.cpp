// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole row at a time, node by node: values first, effects afterwards, for an
// output may be an input.

#include "KernelInterpreter.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using namespace colrow;
using namespace colrow::kernel;

namespace {

using Row = std::vector<double>;

double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b)
             ? std::numeric_limits<double>::quiet_NaN()
             : std::max(a, b);
}

/// Word 0 of Philox4x32-10 (Salmon et al., SC'11): ten rounds of two products,
/// the key raised by the golden ratio and sqrt(3) - 1 in between.
uint32_t philox(uint64_t seed, uint32_t stream, uint64_t step, uint64_t index) {
  uint32_t key[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  uint32_t c[4] = {uint32_t(index), uint32_t(index >> 32), stream,
                   uint32_t(step)};
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * c[0];
    uint64_t second = uint64_t(0xCD9E8D57) * c[2];
    uint32_t next[4] = {uint32_t(second >> 32) ^ c[1] ^ key[0],
                        uint32_t(second), uint32_t(first >> 32) ^ c[3] ^ key[1],
                        uint32_t(first)};
    std::copy(next, next + 4, c);
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c[0];
}

bool compare(Predicate predicate, double a, double b) {
  switch (predicate) {
  case Predicate::Lt:
    return a < b;
  case Predicate::Le:
    return a <= b;
  case Predicate::Eq:
    return a == b;
  case Predicate::Ne:
    return a != b;
  case Predicate::Gt:
    return a > b;
  case Predicate::Ge:
    return a >= b;
  }
  llvm_unreachable("all predicates are listed");
}

class Interpreter {
public:
  Interpreter(const RowKernel &kernel, llvm::ArrayRef<int64_t> ints,
              ElementAt elementAt)
      : kernel(kernel), ints(ints), elementAt(elementAt) {}

  void run() {
    for (const Node &node : kernel.nodes)
      if ((node.kind == NodeKind::ColSum || node.kind == NodeKind::TotalSum) &&
          kernel.args[node.arg].access == Access::Write)
        for (int64_t col = 0; col < columnsOf(node); ++col)
          element(node.arg, 0, col) = 0;
    for (int64_t row = 0; row < kernel.numRows(); ++row)
      runRow(row);
  }

private:
  int64_t rowIndex(int64_t row, size_t dim) const {
    for (size_t d = kernel.rows.size(); --d > dim;)
      row /= kernel.rows[d];
    return row % kernel.rows[dim];
  }

  double &element(int32_t arg, int64_t row, int64_t col, int64_t further = 0) {
    const Arg &a = kernel.args[arg];
    int64_t place = a.offset + col * a.colStride + further;
    for (size_t dim = 0; dim < kernel.rows.size(); ++dim)
      place += rowIndex(row, dim) * a.rowStrides[dim];
    return elementAt(arg, place);
  }

  /// An effect of a value that is the same in all columns happens once a row,
  /// where it has one place.
  int64_t columnsOf(const Node &node) const {
    bool once = node.kind == NodeKind::TotalSum
                    ? !kernel.nodes[node.operands[0]].byCol
                    : kernel.args[node.arg].colStride == 0;
    return once ? 1 : kernel.cols;
  }

  void runRow(int64_t row) {
    values.assign(kernel.nodes.size(), Row(kernel.cols));
    for (size_t i = 0; i < kernel.nodes.size(); ++i)
      if (kernel.nodes[i].kind < NodeKind::Store)
        evaluate(i, row);
    for (const Node &node : kernel.nodes)
      if (node.kind >= NodeKind::Store)
        effect(node, row);
  }

  void evaluate(size_t index, int64_t row) {
    const Node &node = kernel.nodes[index];
    Row &out = values[index];
    if (node.kind == NodeKind::RowSum || node.kind == NodeKind::RowMax) {
      const Row &x = values[node.operands[0]];
      double result =
          node.kind == NodeKind::RowSum
              ? std::accumulate(x.begin(), x.end(), 0.0)
              : std::accumulate(x.begin(), x.end(), x.front(), larger);
      std::fill(out.begin(), out.end(), result);
      return;
    }
    for (int64_t col = 0; col < kernel.cols; ++col)
      out[col] = node.kind < NodeKind::Cast     ? leaf(node, row, col)
                 : node.kind < NodeKind::Add    ? unary(node, col)
                 : node.kind < NodeKind::Select ? binary(node, col)
                                                : select(node, col);
  }

  double operand(const Node &node, unsigned i, int64_t col) const {
    return values[node.operands[i]][col];
  }
  bool isValid(const Node &node, unsigned i, int64_t col) const {
    return node.operands[i] < 0 || operand(node, i, col) != 0;
  }

  double leaf(const Node &node, int64_t row, int64_t col) {
    switch (node.kind) {
    case NodeKind::ConstF32:
      return llvm::bit_cast<float>(uint32_t(node.imm));
    case NodeKind::ConstI32:
    case NodeKind::ConstI64:
      return double(node.imm);
    case NodeKind::IntArg:
      return double(ints[node.imm]);
    case NodeKind::RowIndex:
      return double(rowIndex(row, node.imm));
    case NodeKind::ColIndex:
      return double(col);
    case NodeKind::Load:
      return element(node.arg, row, col + node.imm);
    case NodeKind::LoadRow:
      return isValid(node, 1, col)
                 ? element(node.arg, row, col,
                           int64_t(operand(node, 0, col)) * node.imm)
                 : 0;
    default:
      break;
    }
    uint32_t word =
        philox(int64_t(operand(node, 0, col)), uint32_t(node.imm),
               int64_t(operand(node, 1, col)), int64_t(operand(node, 2, col)));
    return node.kind == NodeKind::Philox ? double(int32_t(word))
                                         : std::ldexp(word >> 8, -24);
  }

  double unary(const Node &node, int64_t col) const {
    double x = operand(node, 0, col);
    switch (node.kind) {
    case NodeKind::Cast:
      return node.type == Type::I32 ? double(int32_t(int64_t(x))) : x;
    case NodeKind::Neg:
      return -x;
    case NodeKind::Exp:
      return std::exp(x);
    case NodeKind::Log:
      return std::log(x);
    case NodeKind::Tanh:
      return std::tanh(x);
    case NodeKind::Erf:
      return std::erf(x);
    case NodeKind::Sqrt:
      return std::sqrt(x);
    case NodeKind::Rsqrt:
      return 1 / std::sqrt(x);
    case NodeKind::Abs:
      return std::abs(x);
    case NodeKind::Reciprocal:
      return 1 / x;
    case NodeKind::IsFinite:
      return std::isfinite(x);
    case NodeKind::Not:
      return x == 0;
    default:
      llvm_unreachable("not a node of one operand");
    }
  }

  double binary(const Node &node, int64_t col) const {
    double a = operand(node, 0, col), b = operand(node, 1, col);
    switch (node.kind) {
    case NodeKind::Add:
      return a + b;
    case NodeKind::Sub:
      return a - b;
    case NodeKind::Mul:
      return a * b;
    case NodeKind::Div:
      return a / b;
    case NodeKind::Max:
      return larger(a, b);
    case NodeKind::Min:
      return -larger(-a, -b);
    case NodeKind::And:
      return a != 0 && b != 0;
    case NodeKind::Or:
      return a != 0 || b != 0;
    case NodeKind::Compare:
      return compare(node.predicate, a, b);
    default:
      llvm_unreachable("not a node of two operands");
    }
  }

  double select(const Node &node, int64_t col) const {
    return operand(node, operand(node, 0, col) != 0 ? 1 : 2, col);
  }

  void effect(const Node &node, int64_t row) {
    if (node.kind == NodeKind::ScatterAddRow)
      return scatter(node, row);
    bool replaces = node.kind == NodeKind::Store &&
                    kernel.args[node.arg].access == Access::Write;
    int64_t offset = node.kind == NodeKind::Store ? node.imm : 0;
    for (int64_t col = 0; col < columnsOf(node); ++col) {
      double &out = element(node.arg, row, col + offset);
      out = replaces ? operand(node, 0, col) : out + operand(node, 0, col);
    }
  }

  void scatter(const Node &node, int64_t row) {
    for (int64_t col = 0; col < kernel.cols; ++col)
      if (isValid(node, 2, col))
        element(node.arg, row, col,
                int64_t(operand(node, 0, col)) * node.imm) +=
            operand(node, 1, col);
  }

  const RowKernel &kernel;
  llvm::ArrayRef<int64_t> ints;
  ElementAt elementAt;
  std::vector<Row> values;
};

} // namespace

void kernel::interpret(const RowKernel &kernel, llvm::ArrayRef<int64_t> ints,
                       ElementAt elementAt) {
  Interpreter(kernel, ints, elementAt).run();
}
