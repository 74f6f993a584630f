// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fewer and longer loops: row dimensions that continue each other in every
// argument are merged, and those that continue the columns become columns.
// The kernel's results are those of the kernel given, but for the order in
// which a total is summed.

#include "KernelSupport.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace colrow::kernel {

static bool usesKind(const RowKernel &kernel, NodeKind kind) {
  return any_of(kernel.nodes, [&](const Node &n) { return n.kind == kind; });
}

static bool usesRowIndex(const RowKernel &kernel, int64_t dim) {
  return any_of(kernel.nodes, [&](const Node &n) {
    return n.kind == NodeKind::RowIndex && n.imm == dim;
  });
}

/// Whether a row means more than its elements: something happens once a row.
static bool hasRowMeaning(const RowKernel &kernel) {
  for (const Node &node : kernel.nodes) {
    if (isRowReduction(node.kind) || node.kind == NodeKind::LoadRow ||
        node.kind == NodeKind::ScatterAddRow || node.kind == NodeKind::ColSum)
      return true;
    bool onceARow = node.kind == NodeKind::TotalSum &&
                    !kernel.nodes[node.operands[0]].byCol;
    bool writesOnce =
        node.kind == NodeKind::Store && kernel.args[node.arg].colStride == 0;
    if (onceARow || writesOnce)
      return true;
  }
  return false;
}

/// Drops row dimension `dim`; row indices above it move down.
static void eraseRowDim(RowKernel &kernel, size_t dim) {
  kernel.rows.erase(kernel.rows.begin() + dim);
  for (Arg &arg : kernel.args)
    arg.rowStrides.erase(arg.rowStrides.begin() + dim);
  for (Node &node : kernel.nodes)
    if (node.kind == NodeKind::RowIndex && node.imm > int64_t(dim))
      --node.imm;
}

/// Size 1 dimensions have index 0 only.
static void dropUnitRows(RowKernel &kernel) {
  for (size_t dim = kernel.rows.size(); dim-- > 0;)
    if (kernel.rows[dim] == 1 && !usesRowIndex(kernel, dim))
      eraseRowDim(kernel, dim);
}

static void mergeRows(RowKernel &kernel) {
  for (size_t dim = kernel.rows.size(); dim-- > 1;) {
    bool continues = all_of(kernel.args, [&](const Arg &arg) {
      return arg.rowStrides[dim - 1] == arg.rowStrides[dim] * kernel.rows[dim];
    });
    if (!continues || usesRowIndex(kernel, dim) ||
        usesRowIndex(kernel, dim - 1))
      continue;
    for (Arg &arg : kernel.args)
      arg.rowStrides[dim - 1] = arg.rowStrides[dim];
    kernel.rows[dim - 1] *= kernel.rows[dim];
    eraseRowDim(kernel, dim);
  }
}

/// One column: the last row dimension takes its place.
static void turnSingleColumn(RowKernel &kernel) {
  if (kernel.cols != 1 || kernel.rows.empty() || hasRowMeaning(kernel) ||
      usesKind(kernel, NodeKind::ColIndex) ||
      any_of(kernel.nodes, [](const Node &n) {
        return (n.kind == NodeKind::Load || n.kind == NodeKind::Store) &&
               n.imm != 0;
      }))
    return;
  size_t last = kernel.rows.size() - 1;
  for (Node &node : kernel.nodes)
    if (node.kind == NodeKind::RowIndex && node.imm == int64_t(last)) {
      node.kind = NodeKind::ColIndex;
      node.imm = 0;
    }
  for (Arg &arg : kernel.args)
    arg.colStride = arg.rowStrides[last];
  kernel.cols = kernel.rows[last];
  eraseRowDim(kernel, last);
}

static void rowsToColumns(RowKernel &kernel) {
  while (!kernel.rows.empty()) {
    size_t last = kernel.rows.size() - 1;
    bool continues = all_of(kernel.args, [&](const Arg &arg) {
      return arg.rowStrides[last] == arg.colStride * kernel.cols;
    });
    if (!continues || usesRowIndex(kernel, last) ||
        usesKind(kernel, NodeKind::ColIndex) || hasRowMeaning(kernel))
      return;
    kernel.cols *= kernel.rows[last];
    eraseRowDim(kernel, last);
  }
}

/// Classes again, after strides have changed.
static bool inferAll(RowKernel &kernel) {
  for (Node &node : kernel.nodes)
    if (Error error = inferNode(kernel, node)) {
      consumeError(std::move(error));
      return false;
    }
  return true;
}

RowKernel collapseRows(const RowKernel &kernel) {
  RowKernel result = kernel;
  dropUnitRows(result);
  mergeRows(result);
  turnSingleColumn(result);
  rowsToColumns(result);
  return inferAll(result) ? result : kernel;
}

} // namespace colrow::kernel
