// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter: a whole row at a time, node by node.

#include "Reference.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace colrow::kernel {

namespace {

using Row = std::vector<double>;

class Interpreter {
public:
  Interpreter(const RowKernel &kernel, std::vector<std::vector<double>> &arrays)
      : kernel(kernel), arrays(arrays) {}

  void run() {
    for (const Node &node : kernel.nodes)
      if ((node.kind == NodeKind::ColSum || node.kind == NodeKind::TotalSum) &&
          kernel.args[node.arg].access == Access::Write)
        std::fill(arrays[node.arg].begin(), arrays[node.arg].end(), 0);
    for (int64_t row = 0; row < kernel.numRows(); ++row)
      runRow(row);
  }

private:
  double &element(int32_t arg, int64_t row, int64_t col) {
    const Arg &a = kernel.args[arg];
    int64_t place = a.offset + col * a.colStride;
    for (size_t dim = kernel.rows.size(); dim-- > 0;) {
      place += row % kernel.rows[dim] * a.rowStrides[dim];
      row /= kernel.rows[dim];
    }
    return arrays[arg][place];
  }

  /// Values first, effects afterwards: outputs may be inputs.
  void runRow(int64_t row) {
    rows.assign(kernel.nodes.size(), Row(kernel.cols));
    for (size_t i = 0; i < kernel.nodes.size(); ++i)
      if (kernel.nodes[i].kind < NodeKind::Store)
        evaluate(i, row);
    for (const Node &node : kernel.nodes)
      if (node.kind >= NodeKind::Store)
        effect(node, row);
  }

  void evaluate(size_t index, int64_t row) {
    const Node &node = kernel.nodes[index];
    Row &out = rows[index];
    if (node.kind == NodeKind::RowSum || node.kind == NodeKind::RowMax) {
      const Row &x = rows[node.operands[0]];
      double result = node.kind == NodeKind::RowSum
                          ? std::accumulate(x.begin(), x.end(), 0.0)
                          : *std::max_element(x.begin(), x.end());
      std::fill(out.begin(), out.end(), result);
      return;
    }
    for (int64_t col = 0; col < kernel.cols; ++col)
      out[col] = value(node, row, col);
  }

  double value(const Node &node, int64_t row, int64_t col) {
    auto x = [&](unsigned i) { return rows[node.operands[i]][col]; };
    switch (node.kind) {
    case NodeKind::ConstF32:
      return llvm::bit_cast<float>(uint32_t(node.imm));
    case NodeKind::Load:
      return element(node.arg, row, col + node.imm);
    case NodeKind::Exp:
      return std::exp(x(0));
    case NodeKind::Tanh:
      return std::tanh(x(0));
    case NodeKind::Add:
      return x(0) + x(1);
    case NodeKind::Sub:
      return x(0) - x(1);
    case NodeKind::Mul:
      return x(0) * x(1);
    case NodeKind::Div:
      return x(0) / x(1);
    case NodeKind::Max:
      return std::max(x(0), x(1));
    case NodeKind::Compare:
      return x(0) < x(1);
    default: // NodeKind::Select
      return x(0) != 0 ? x(1) : x(2);
    }
  }

  void effect(const Node &node, int64_t row) {
    const Row &x = rows[node.operands[0]];
    const Arg &arg = kernel.args[node.arg];
    bool once = node.kind == NodeKind::TotalSum
                    ? !kernel.nodes[node.operands[0]].byCol
                    : arg.colStride == 0;
    bool replaces = node.kind == NodeKind::Store && arg.access == Access::Write;
    for (int64_t col = 0; col < (once ? 1 : kernel.cols); ++col) {
      double &out = element(node.arg, row, col);
      out = replaces ? x[col] : out + x[col];
    }
  }

  const RowKernel &kernel;
  std::vector<std::vector<double>> &arrays;
  std::vector<Row> rows;
};

} // namespace

void interpret(const RowKernel &kernel,
               std::vector<std::vector<double>> &arrays) {
  Interpreter(kernel, arrays).run();
}

} // namespace colrow::kernel
