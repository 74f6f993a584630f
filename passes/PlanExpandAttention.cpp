// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan-expand-attention: attention in tiles of query rows: GEMMs for the
// products, one row kernel a tile for the softmax. Each tile holds [rows, keys
// that it sees]; [b, heads, s, t] never exists. The gradient computes the
// probabilities again from the logarithms of the rows' sums (Dao et al., 2022).

#include "colrow/dialects/Plan/KernelTable.h"
#include "colrow/passes/Passes.h"
#include "colrow/runtime/Plan/PlanLimits.h"

namespace colrow::passes {
#define GEN_PASS_DEF_PLANEXPANDATTENTION
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using namespace colrow::planir;
using kernel::Expr;

namespace {

/// Query rows [row, row + rows) and the keys [key, key + keys) that they see.
struct Tile {
  int64_t row, rows, key, keys;
};

/// Sizes and addresses of an attention op, forward or gradient, and its
/// products. Elements are f32.
template <typename Op> class TiledAttention {
public:
  TiledAttention(Op op, KernelTable &kernels, Value scalars)
      : op(op), kernels(kernels), scalars(scalars), builder(op),
        b(op.getBatch()), m(op.getGroups()), g(op.getHeads()),
        s(op.getQueries()), t(op.getKeys()), d(op.getHeadSize()),
        // At least 64 rows, at most 8 tiles: few, large GEMMs.
        tileRows(std::min(s, std::max<int64_t>(64, llvm::divideCeil(s, 8)))) {}

  /// Calls `body` for each tile, in loops over batch, groups and heads of a
  /// group; it fails where `body` does.
  LogicalResult
  forEachTile(llvm::function_ref<LogicalResult(const Tile &)> body);

  /// Scratch for [rows, keys] of a tile.
  Place temporary() {
    return {BufferOp::create(builder, op.getLoc(), op.getQ().getType(),
                             tileRows * t * 4, StringAttr(), -1),
            {}};
  }
  /// Where an operand begins. The loops over tiles stand inside those around
  /// the op.
  Place whole(OpOperand &operand) {
    const Affine &at = op.getAddresses()[operand.getOperandNumber()];
    SmallVector<int64_t> loops(3, 0);
    llvm::append_range(loops, at.loops);
    return {operand.get(), Affine(at.base, loops, at.coords)};
  }
  /// [b, s, m, g, d] from row `row` of the current head.
  Place query(OpOperand &operand, int64_t row) {
    return move(operand, row * queryLd(), {d, g * d, s * queryLd()});
  }
  /// [b, t, m, d] from key `key` of the current group.
  Place keyed(OpOperand &operand, int64_t key) {
    return move(operand, key * keyLd(), {0, d, t * keyLd()});
  }
  /// [b, s, m, g] from row `row` of the current head.
  Place perRow(OpOperand &operand, int64_t row) {
    return move(operand, row * m * g, {1, g, s * m * g});
  }

  /// out = alpha x y^T: x in rows of queries, y of keys, out [rows, keys].
  void products(const Tile &tile, OpOperand &x, OpOperand &y, float alpha,
                Place out);
  /// out = alpha z w: z [rows, keys], w in rows of keys, out of queries.
  void combine(const Tile &tile, Place z, OpOperand &w, float alpha,
               OpOperand &out);
  /// out += alpha z^T x: z [rows, keys], x in rows of queries, out of keys.
  void addTransposed(const Tile &tile, Place z, OpOperand &x, float alpha,
                     OpOperand &out);

  float getScale() { return op.getScale().convertToFloat(); }

  Op op;
  KernelTable &kernels;
  Value scalars;
  OpBuilder builder;
  int64_t b, m, g, s, t, d, tileRows;

private:
  int64_t queryLd() const { return m * g * d; }
  int64_t keyLd() const { return m * d; }
  /// `elements` behind an operand's start, and as many further on in each
  /// iteration of the loops over heads, groups and batch.
  Place move(OpOperand &operand, int64_t elements,
             std::array<int64_t, 3> perLoop) {
    Place place = whole(operand);
    for (int64_t &stride : perLoop)
      stride *= 4;
    place.at = place.at + Affine(elements * 4, perLoop);
    return place;
  }
  void gemm(const GemmShape &shape, Place a, Place b, Place c) {
    GemmOp::create(builder, op.getLoc(), shape, a, b, c, op.getNameAttr());
  }
};

/// A kernel over one tile, built argument by argument.
template <typename Op> class TileKernel {
public:
  TileKernel(TiledAttention<Op> &attention, const Tile &tile)
      : builder({tile.rows}, tile.keys), attention(attention), tile(tile) {}

  Expr load(Place place, bool perRow = false) {
    return builder.load(add(std::move(place), kernel::Access::Read, perRow));
  }
  void store(Place place, Expr value, bool perRow = false) {
    builder.store(add(std::move(place), kernel::Access::Write, perRow), value);
  }
  /// i1: this row sees the key that column `col` holds; nullopt: all are seen.
  std::optional<Expr> seen();
  bool drops() { return !attention.op.getDropout().isZero(); }
  /// f32: 0 where dropout drops the probability, else 1 / (1 - p).
  Expr dropoutFactor();
  LogicalResult launch();

  kernel::RowKernelBuilder builder;

private:
  int add(Place place, kernel::Access access, bool perRow) {
    args.push_back(std::move(place));
    if (perRow)
      return builder.arg(kernel::Elem::F32, access, {attention.m * attention.g},
                         0);
    return builder.denseArg(kernel::Elem::F32, access);
  }
  /// i64 of the block of scalars.
  Expr scalar(size_t byte) {
    args.push_back({attention.scalars, {}});
    return builder.load(
        builder.arg(kernel::Elem::I64, kernel::Access::Read, {0}, 0, byte / 8));
  }
  Expr integer(Affine value) {
    ints.push_back(std::move(value));
    return builder.intArg(ints.size() - 1);
  }
  /// i64: index along dimension `i` of the whole [b, m, g, s, t].
  Expr wholeIndex(unsigned i);

  TiledAttention<Op> &attention;
  const Tile &tile;
  SmallVector<Place> args;
  SmallVector<Affine> ints;
};
} // namespace

template <typename Op>
LogicalResult TiledAttention<Op>::forEachTile(
    llvm::function_ref<LogicalResult(const Tile &)> body) {
  OpBuilder::InsertionGuard guard(builder);
  for (int64_t trips : {b, m, g}) {
    auto loop = LoopOp::create(builder, op.getLoc(), trips, op.getNameAttr());
    builder.setInsertionPointToStart(&loop.getBody().emplaceBlock());
  }
  for (int64_t row = 0; row < s; row += tileRows) {
    Tile tile{row, std::min(tileRows, s - row), 0, t};
    int64_t end = op.getCausal() ? std::min(t, row + tile.rows) : t;
    if (int64_t window = op.getWindow())
      tile.key = std::max<int64_t>(0, std::min(row + 1, t) - window);
    tile.keys = end - tile.key;
    if (failed(body(tile)))
      return failure();
  }
  return success();
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
                                       float alpha, OpOperand &out) {
  GemmShape shape(tile.keys, d, tile.rows);
  shape.transA = true;
  shape.lda = tile.keys;
  shape.ldb = queryLd();
  shape.ldc = keyLd();
  shape.alpha = alpha;
  shape.beta = 1;
  gemm(shape, z, query(x, tile.row), keyed(out, tile.key));
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
  auto kernel = builder.finish();
  if (!kernel)
    return attention.op.emitOpError("cannot become a kernel: ")
           << llvm::toString(kernel.takeError());
  SmallVector<int64_t> bytes;
  for (unsigned i = 0; i < args.size(); ++i)
    bytes.push_back(kernel::extentBytes(*kernel, i));
  LaunchOp::create(attention.builder, attention.op.getLoc(),
                   attention.kernels.intern(*kernel), args, bytes, ints,
                   attention.op.getNameAttr());
  return success();
}

static LogicalResult expand(AttentionOp op, KernelTable &kernels,
                            Value scalars) {
  TiledAttention<AttentionOp> attention(op, kernels, scalars);
  Place scores = attention.temporary();
  return attention.forEachTile([&](const Tile &tile) {
    attention.products(tile, op.getQMutable(), op.getKMutable(),
                       attention.getScale(), scores);
    TileKernel<AttentionOp> k(attention, tile);
    kernel::RowKernelBuilder &b = k.builder;
    Expr x = k.load(scores);
    if (auto seen = k.seen())
      x = b.select(*seen, x,
                   b.constF32(-std::numeric_limits<float>::infinity()));
    Expr max = b.rowMax(x);
    Expr e = b.exp(x - max);
    Expr sum = b.rowSum(e);
    Expr p = e * b.reciprocal(sum);
    if (k.drops())
      p = p * k.dropoutFactor();
    k.store(scores, p);
    k.store(attention.perRow(op.getLseMutable(), tile.row), max + b.log(sum),
            /*perRow=*/true);
    if (failed(k.launch()))
      return failure();
    attention.combine(tile, scores, op.getVMutable(), 1, op.getYMutable());
    return success();
  });
}

static LogicalResult expand(AttentionGradOp op, KernelTable &kernels,
                            Value scalars) {
  TiledAttention<AttentionGradOp> attention(op, kernels, scalars);
  Place scores = attention.temporary(), dscores = attention.temporary();
  int64_t bytes = op.getBatch() * op.getKeys() * op.getGroups() *
                  op.getHeadSize() * sizeof(float);
  for (OpOperand *sum : {&op.getDkMutable(), &op.getDvMutable()})
    FillOp::create(
        attention.builder, op.getLoc(),
        Place{sum->get(), op.getAddresses()[sum->getOperandNumber()]}, bytes,
        op.getNameAttr());
  return attention.forEachTile([&](const Tile &tile) {
    attention.products(tile, op.getQMutable(), op.getKMutable(),
                       attention.getScale(), scores);
    // Gradient of the probabilities.
    attention.products(tile, op.getDyMutable(), op.getVMutable(), 1, dscores);
    TileKernel<AttentionGradOp> k(attention, tile);
    kernel::RowKernelBuilder &b = k.builder;
    Expr p =
        b.exp(k.load(scores) -
              k.load(attention.perRow(op.getLseMutable(), tile.row), true));
    if (auto seen = k.seen())
      p = b.select(*seen, p, b.constF32(0));
    Expr dprob = k.load(dscores);
    Expr used = p;
    if (k.drops()) {
      Expr factor = k.dropoutFactor();
      dprob = dprob * factor;
      used = p * factor;
    }
    Expr ds = p * (dprob - b.rowSum(p * dprob));
    k.store(scores, used);
    k.store(dscores, ds);
    if (failed(k.launch()))
      return failure();
    attention.addTransposed(tile, scores, op.getDyMutable(), 1,
                            op.getDvMutable());
    attention.addTransposed(tile, dscores, op.getQMutable(),
                            attention.getScale(), op.getDkMutable());
    attention.combine(tile, dscores, op.getKMutable(), attention.getScale(),
                      op.getDqMutable());
    return success();
  });
}

namespace {
struct PlanExpandAttentionPass
    : passes::impl::PlanExpandAttentionBase<PlanExpandAttentionPass> {
  void runOnOperation() override {
    std::optional<KernelTable> kernels;
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(expandAll(program, kernels)))
        return signalPassFailure();
  }

  /// Kernels are known from the first program on that has attention.
  LogicalResult expandAll(ProgramOp program,
                          std::optional<KernelTable> &kernels) {
    SmallVector<Operation *> ops;
    program.walk([&](Operation *op) {
      if (isa<AttentionOp, AttentionGradOp>(op))
        ops.push_back(op);
    });
    if (ops.empty())
      return success();
    if (!kernels)
      kernels.emplace(getOperation(), Block::iterator(program));
    OpBuilder builder(&program.getBody().front(),
                      program.getBody().front().begin());
    Value scalars =
        ScalarsOp::create(builder, program.getLoc(),
                          BufferType::get(&getContext(), builder.getI8Type()));
    for (Operation *op : ops) {
      LogicalResult expanded =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<AttentionOp, AttentionGradOp>(
                  [&](auto op) { return expand(op, *kernels, scalars); });
      if (failed(expanded))
        return failure();
      op->erase();
    }
    if (scalars.use_empty())
      scalars.getDefiningOp()->erase();
    return success();
  }
};
} // namespace
