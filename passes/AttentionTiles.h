// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention in tiles of query rows: the addresses and products of one op,
// plan.attention or its gradient, and the kernel of one tile.

#ifndef COLROW_PASSES_ATTENTIONTILES_H
#define COLROW_PASSES_ATTENTIONTILES_H

#include "colrow/dialects/Plan/KernelTable.h"
#include "colrow/passes/Passes.h"

namespace colrow::passes {

/// Query rows [row, row + rows) and the keys [key, key + keys) that they see.
struct Tile {
  int64_t row, rows, key, keys;
};

inline mlir::Type elementOf(mlir::Value buffer) {
  return mlir::cast<planir::BufferType>(buffer.getType()).getElementType();
}

/// Of f32 or bf16.
inline kernel::Elem kernelElem(mlir::Value buffer) {
  return elementOf(buffer).isF32() ? kernel::Elem::F32 : kernel::Elem::BF16;
}

/// Sizes and addresses of an attention op, forward or gradient, and its
/// products. Elements are f32 or bf16, of rows' logarithms f32.
template <typename Op> class TiledAttention {
public:
  TiledAttention(Op op, planir::KernelTable &kernels, mlir::Value scalars)
      : op(op), kernels(kernels), scalars(scalars), builder(op),
        b(op.getBatch()), m(op.getGroups()), g(op.getHeads()),
        s(op.getQueries()), t(op.getKeys()), d(op.getHeadSize()),
        // At least 64 rows, at most 8 tiles: few, large GEMMs.
        tileRows(std::min(s, std::max<int64_t>(64, llvm::divideCeil(s, 8)))) {}

  using Step = llvm::function_ref<llvm::LogicalResult()>;
  /// Calls `body` for each tile, in loops over batch, groups and heads of a
  /// group, and `endGroup` after the heads of each; it fails where they do.
  llvm::LogicalResult
  forEachTile(llvm::function_ref<llvm::LogicalResult(const Tile &)> body,
              Step endGroup = {});

  bool isNarrow() { return !elementOf(op.getQ()).isF32(); }
  /// Scratch for `elements` of `element`.
  planir::Place scratch(int64_t elements, mlir::Type element) {
    auto type = planir::BufferType::get(op.getContext(), element);
    return {planir::BufferOp::create(builder, op.getLoc(), type,
                                     elements * planir::elementBytes(element),
                                     mlir::StringAttr(), -1),
            {}};
  }
  /// Scratch for scores [rows, keys] of a tile, in float32.
  planir::Place temporary() {
    return scratch(tileRows * t, builder.getF32Type());
  }
  /// Where what is made of `scores` goes for products with the operands.
  planir::Place asOperand(const planir::Place &scores) {
    return isNarrow() ? scratch(tileRows * t, elementOf(op.getQ())) : scores;
  }
  /// Where an operand begins. The loops over tiles stand inside those around
  /// the op.
  planir::Place whole(mlir::OpOperand &operand) {
    const planir::Affine &at = op.getAddresses()[operand.getOperandNumber()];
    llvm::SmallVector<int64_t> loops(3, 0);
    llvm::append_range(loops, at.loops);
    return {operand.get(), planir::Affine(at.base, loops, at.coords)};
  }
  /// [b, s, m, g, d] from row `row` of the current head.
  planir::Place query(mlir::OpOperand &operand, int64_t row) {
    return move(operand, row * queryLd(), {d, g * d, s * queryLd()});
  }
  /// [b, t, m, d] from key `key` of the current group.
  planir::Place keyed(mlir::OpOperand &operand, int64_t key) {
    return move(operand, key * keyLd(), {0, d, t * keyLd()});
  }
  /// [b, s, m, g] from row `row` of the current head.
  planir::Place perRow(mlir::OpOperand &operand, int64_t row) {
    return move(operand, row * m * g, {1, g, s * m * g});
  }

  /// out = alpha x y^T: x in rows of queries, y of keys, out [rows, keys].
  void products(const Tile &tile, mlir::OpOperand &x, mlir::OpOperand &y,
                float alpha, planir::Place out);
  /// out = alpha z w: z [rows, keys], w in rows of keys, out of queries.
  void combine(const Tile &tile, planir::Place z, mlir::OpOperand &w,
               float alpha, mlir::OpOperand &out);
  /// out += alpha z^T x: z [rows, keys], x in rows of queries, out from the
  /// tile's first key on, rows of keys `ld` elements apart. beta 0: out = ...
  void addTransposed(const Tile &tile, planir::Place z, mlir::OpOperand &x,
                     float alpha, planir::Place out, int64_t ld, float beta);

  /// Launches the kernel that `rows` describes.
  llvm::LogicalResult launch(kernel::RowKernelBuilder &rows,
                             llvm::ArrayRef<planir::Place> args,
                             llvm::ArrayRef<planir::Affine> ints = {});

  float getScale() { return op.getScale().convertToFloat(); }

  Op op;
  planir::KernelTable &kernels;
  mlir::Value scalars;
  mlir::OpBuilder builder;
  int64_t b, m, g, s, t, d, tileRows;

  int64_t keyLd() const { return m * d; }

private:
  int64_t queryLd() const { return m * g * d; }
  /// `elements` behind an operand's start, and as many further on in each
  /// iteration of the loops over heads, groups and batch.
  planir::Place move(mlir::OpOperand &operand, int64_t elements,
                     std::array<int64_t, 3> perLoop) {
    planir::Place place = whole(operand);
    int64_t size = planir::elementBytes(elementOf(operand.get()));
    for (int64_t &stride : perLoop)
      stride *= size;
    place.at = place.at + planir::Affine(elements * size, perLoop);
    return place;
  }
  void gemm(const planir::GemmShape &shape, planir::Place a, planir::Place b,
            planir::Place c) {
    planir::GemmOp::create(builder, op.getLoc(), shape, a, b, c,
                           op.getNameAttr());
  }
};

/// A kernel over one tile, built argument by argument.
template <typename Op> class TileKernel {
public:
  TileKernel(TiledAttention<Op> &attention, const Tile &tile)
      : builder({tile.rows}, tile.keys), attention(attention), tile(tile) {}

  kernel::Expr load(planir::Place place, bool perRow = false) {
    return builder.load(add(std::move(place), kernel::Access::Read, perRow));
  }
  void store(planir::Place place, kernel::Expr value, bool perRow = false) {
    builder.store(add(std::move(place), kernel::Access::Write, perRow), value);
  }
  /// i1: this row sees the key that column `col` holds; nullopt: all are seen.
  std::optional<kernel::Expr> seen();
  bool drops() { return !attention.op.getDropout().isZero(); }
  /// f32: 0 where dropout drops the probability, else 1 / (1 - p).
  kernel::Expr dropoutFactor();
  llvm::LogicalResult launch();

  kernel::RowKernelBuilder builder;

private:
  int add(planir::Place place, kernel::Access access, bool perRow) {
    kernel::Elem elem = kernelElem(place.buffer);
    args.push_back(std::move(place));
    if (perRow)
      return builder.arg(elem, access, {attention.m * attention.g}, 0);
    return builder.denseArg(elem, access);
  }
  /// i64 of the block of scalars.
  kernel::Expr scalar(size_t byte) {
    args.push_back({attention.scalars, {}});
    return builder.load(
        builder.arg(kernel::Elem::I64, kernel::Access::Read, {0}, 0, byte / 8));
  }
  kernel::Expr integer(planir::Affine value) {
    ints.push_back(std::move(value));
    return builder.intArg(ints.size() - 1);
  }
  /// i64: index along dimension `i` of the whole [b, m, g, s, t].
  kernel::Expr wholeIndex(unsigned i);

  TiledAttention<Op> &attention;
  const Tile &tile;
  llvm::SmallVector<planir::Place> args;
  llvm::SmallVector<planir::Affine> ints;
};

} // namespace colrow::passes

#endif // COLROW_PASSES_ATTENTIONTILES_H
