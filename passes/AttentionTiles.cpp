// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops, products and kernels of tiles.

#include "AttentionTiles.h"
#include "colrow/runtime/Plan/PlanLimits.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using namespace colrow::planir;
using kernel::Expr;

template <typename Op>
LogicalResult TiledAttention<Op>::forEachTile(
    llvm::function_ref<LogicalResult(const Tile &)> body, Step endGroup) {
  OpBuilder::InsertionGuard guard(builder);
  auto enter = [&](int64_t trips) {
    auto loop = LoopOp::create(builder, op.getLoc(), trips, op.getNameAttr());
    builder.setInsertionPointToStart(&loop.getBody().emplaceBlock());
    return loop;
  };
  enter(b);
  enter(m);
  LoopOp heads = enter(g);
  for (int64_t row = 0; row < s; row += tileRows) {
    Tile tile{row, std::min(tileRows, s - row), 0, t};
    int64_t end = op.getCausal() ? std::min(t, row + tile.rows) : t;
    if (int64_t window = op.getWindow())
      tile.key = std::max<int64_t>(0, std::min(row + 1, t) - window);
    tile.keys = end - tile.key;
    if (failed(body(tile)))
      return failure();
  }
  builder.setInsertionPointAfter(heads);
  return endGroup ? endGroup() : success();
}

template <typename Op>
void TiledAttention<Op>::products(const Tile &tile, OpOperand &x, OpOperand &y,
                                  float alpha, Place out) {
  GemmShape shape(tile.rows, tile.keys, d);
  shape.transB = true;
  shape.lda = queryLd();
  shape.ldb = keyLd();
  shape.ldc = tile.keys;
  shape.alpha = alpha;
  gemm(shape, query(x, tile.row), keyed(y, tile.key), out);
}

template <typename Op>
void TiledAttention<Op>::combine(const Tile &tile, Place z, OpOperand &w,
                                 float alpha, OpOperand &out) {
  GemmShape shape(tile.rows, d, tile.keys);
  shape.lda = tile.keys;
  shape.ldb = keyLd();
  shape.ldc = queryLd();
  shape.alpha = alpha;
  gemm(shape, z, keyed(w, tile.key), query(out, tile.row));
}

template <typename Op>
void TiledAttention<Op>::addTransposed(const Tile &tile, Place z, OpOperand &x,
                                       float alpha, Place out, int64_t ld,
                                       float beta) {
  GemmShape shape(tile.keys, d, tile.rows);
  shape.transA = true;
  shape.lda = tile.keys;
  shape.ldb = queryLd();
  shape.ldc = ld;
  shape.alpha = alpha;
  shape.beta = beta;
  gemm(shape, z, query(x, tile.row), out);
}

template <typename Op>
LogicalResult TiledAttention<Op>::launch(kernel::RowKernelBuilder &rows,
                                         ArrayRef<Place> args,
                                         ArrayRef<Affine> ints) {
  auto kernel = rows.finish();
  if (!kernel)
    return op.emitOpError("cannot become a kernel: ")
           << llvm::toString(kernel.takeError());
  SmallVector<int64_t> bytes;
  for (unsigned i = 0; i < args.size(); ++i)
    bytes.push_back(kernel::extentBytes(*kernel, i));
  LaunchOp::create(builder, op.getLoc(), kernels.intern(*kernel), args, bytes,
                   ints, op.getNameAttr());
  return success();
}

template <typename Op> std::optional<Expr> TileKernel<Op>::seen() {
  if (!attention.op.getCausal())
    return std::nullopt;
  Expr row = builder.rowIndex(0) + builder.constI64(tile.row);
  Expr key = builder.colIndex();
  if (tile.key)
    key = key + builder.constI64(tile.key);
  Expr seen = builder.le(key, row);
  if (int64_t window = attention.op.getWindow())
    seen = builder.logicalAnd(seen,
                              builder.gt(key + builder.constI64(window), row));
  return seen;
}

template <typename Op> Expr TileKernel<Op>::wholeIndex(unsigned i) {
  const Affine &start = attention.op.getStarts()[i];
  if (i < 3) { // batch, group, head: the loops around the tiles
    SmallVector<int64_t> loops(3 - i, 0);
    loops.back() = 1;
    return integer(start + Affine(0, loops));
  }
  Expr local = i == 3 ? builder.rowIndex(0) : builder.colIndex();
  int64_t first = i == 3 ? tile.row : tile.key;
  if (!start.isZero())
    return local + integer(start + Affine(first));
  return first || i == 3 ? local + builder.constI64(first) : local;
}

template <typename Op> Expr TileKernel<Op>::dropoutFactor() {
  ArrayRef<int64_t> sizes = *attention.op.getWhole();
  Expr index = wholeIndex(0);
  for (unsigned i = 1; i < 5; ++i)
    index = index * builder.constI64(sizes[i]) + wholeIndex(i);
  Expr u = builder.philoxUniform(scalar(offsetof(runtime::ScalarBlock, seed)),
                                 uint32_t(attention.op.getId()),
                                 scalar(offsetof(runtime::ScalarBlock, step)),
                                 index);
  double p = attention.op.getDropout().convertToDouble();
  return builder.select(builder.ge(u, builder.constF32(float(p))),
                        builder.constF32(float(1.0 / (1.0 - p))),
                        builder.constF32(0));
}

template <typename Op> LogicalResult TileKernel<Op>::launch() {
  return attention.launch(builder, args, ints);
}

namespace colrow::passes {
template class TiledAttention<planir::AttentionOp>;
template class TiledAttention<planir::AttentionGradOp>;
template class TileKernel<planir::AttentionOp>;
template class TileKernel<planir::AttentionGradOp>;
} // namespace colrow::passes
