// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables: embeddings by id, learned positions, shifted labels.

#include "colrow/dialects/TP/Inputs.h"
#include "colrow/dialects/TP/RowLowering.h"
#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using kernel::Expr;

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

SmallVector<Value> EmbeddingOp::buildGradients(OpBuilder &b,
                                               ValueRange gradients,
                                               ArrayRef<bool> wanted) {
  if (!wanted[1])
    return {Value(), Value()};
  return {Value(), EmbeddingGradOp::create(
                       b, getLoc(), inFloat32(dualType(getTable().getType())),
                       getIds(), gradients[0], LayoutAttr())};
}

std::optional<int64_t> EmbeddingOp::getIndexedSize(unsigned operand) {
  return operand == 0 ? std::optional(shapeOf(getTable())[0]) : std::nullopt;
}

/// The row of a local table that holds `id`, and whether it is there at all.
static std::pair<Expr, Expr> localRow(RowLowering &rows, Value ids,
                                      std::optional<LayoutAttr> layout,
                                      int64_t localRows) {
  kernel::RowKernelBuilder &b = rows.builder();
  Expr id = b.cast(rows.row(ids), kernel::Type::I64);
  if (layout)
    id = b.sub(id, rows.blockStart(*layout, 0));
  Expr valid =
      b.logicalAnd(b.ge(id, b.constI64(0)), b.lt(id, b.constI64(localRows)));
  return {id, valid};
}

/// A table as an argument that is addressed by row index and column.
static kernel::Arg tableArg(const RowLowering &rows) {
  kernel::Arg arg;
  arg.rowStrides.assign(rows.getSpace().size() - 1, 0);
  return arg;
}

void EmbeddingOp::lowerToRows(RowLowering &rows) {
  ArrayRef<int64_t> table = shapeOf(getTable());
  auto [row, valid] = localRow(rows, getIds(), getLayout(), table[0]);
  int arg = rows.argument(getTable(), tableArg(rows));
  rows.setFull(getY(), rows.builder().loadRow(arg, row, table[1], valid));
}

void EmbeddingGradOp::lowerToRows(RowLowering &rows) {
  ArrayRef<int64_t> table = shapeOf(getDtable());
  auto [row, valid] = localRow(rows, getIds(), getLayout(), table[0]);
  Expr dy = rows.full(getDy());
  int arg = rows.argument(getDtable(), tableArg(rows), /*written=*/true,
                          /*zeroFirst=*/true);
  rows.builder().scatterAddRow(arg, row, table[1], dy, valid);
  rows.keepLostOfScatter(table[0]);
}

SmallVector<int64_t> EmbeddingGradOp::getSpace() {
  return SmallVector<int64_t>(shapeOf(getDy()));
}

SmallVector<int64_t> EmbeddingOp::getSpace() {
  return SmallVector<int64_t>(shapeOf(getY()));
}

//===----------------------------------------------------------------------===//
// First rows of a table
//===----------------------------------------------------------------------===//

SmallVector<Value> TakeRowsOp::buildGradients(OpBuilder &b,
                                              ValueRange gradients,
                                              ArrayRef<bool> wanted) {
  return {PadRowsOp::create(
      b, getLoc(), inFloat32(dualType(getTable().getType())), gradients[0])};
}

SmallVector<int64_t> TakeRowsOp::getSpace() {
  return SmallVector<int64_t>(shapeOf(getY()));
}

void TakeRowsOp::lowerToRows(RowLowering &rows) {
  kernel::Arg arg;
  arg.rowStrides = {shapeOf(getTable())[1]};
  rows.setFull(getY(), rows.builder().load(rows.argument(getTable(), arg)));
}

SmallVector<int64_t> PadRowsOp::getSpace() {
  return SmallVector<int64_t>(shapeOf(getDy()));
}

void PadRowsOp::lowerToRows(RowLowering &rows) {
  kernel::Arg arg;
  arg.rowStrides = {shapeOf(getDtable())[1]};
  Expr dy = rows.full(getDy());
  rows.builder().store(rows.argument(getDtable(), arg, /*written=*/true,
                                     /*zeroFirst=*/true),
                       dy);
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

std::optional<int64_t> ShiftLabelsOp::getIndexedSize(unsigned) {
  return tp::getIndexedSize(getShifted());
}

void ShiftLabelsOp::addIgnored(unsigned, SmallVectorImpl<int64_t> &ignored) {
  tp::addIgnored(getShifted(), ignored);
}

SmallVector<int64_t> ShiftLabelsOp::getSpace() {
  return SmallVector<int64_t>(shapeOf(getShifted()));
}

void ShiftLabelsOp::lowerToRows(RowLowering &rows) {
  kernel::Arg arg;
  arg.rowStrides = {shapeOf(getLabels())[1]};
  int labels = rows.argument(getLabels(), arg);
  rows.setFull(getShifted(), rows.builder().load(labels, /*colOffset=*/1));
}
