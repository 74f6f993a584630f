// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan-expand-attention: attention in tiles of query rows: GEMMs for the
// products, one row kernel a tile for the softmax. Each tile holds [rows, keys
// that it sees]; [b, heads, s, t] never exists. The gradient computes the
// probabilities again from the logarithms of the rows' sums (Dao et al., 2022).
// In bf16 scores and the softmax are float32, probabilities are rounded for the
// products, and sums over tiles and heads are float32 until they are whole.

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

Type elementOf(Value buffer) {
  return cast<BufferType>(buffer.getType()).getElementType();
}

kernel::Elem kernelElem(Value buffer) {
  return elementOf(buffer).isF32() ? kernel::Elem::F32 : kernel::Elem::BF16;
}

/// Sizes and addresses of an attention op, forward or gradient, and its
/// products. Elements are f32 or bf16, of rows' logarithms f32.
template <typename Op> class TiledAttention {
public:
  TiledAttention(Op op, KernelTable &kernels, Value scalars)
      : op(op), kernels(kernels), scalars(scalars), builder(op),
        b(op.getBatch()), m(op.getGroups()), g(op.getHeads()),
        s(op.getQueries()), t(op.getKeys()), d(op.getHeadSize()),
        // At least 64 rows, at most 8 tiles: few, large GEMMs.
        tileRows(std::min(s, std::max<int64_t>(64, llvm::divideCeil(s, 8)))) {}

  using Step = llvm::function_ref<LogicalResult()>;
  /// Calls `body` for each tile, in loops over batch, groups and heads of a
  /// group, and `before` and `after` around the heads of each group; it fails
  /// where they do.
  LogicalResult
  forEachTile(llvm::function_ref<LogicalResult(const Tile &)> body,
              Step before = {}, Step after = {});

  bool isNarrow() { return !elementOf(op.getQ()).isF32(); }
  /// Scratch for `elements` of `element`.
  Place scratch(int64_t elements, Type element) {
    auto type = BufferType::get(op.getContext(), element);
    return {BufferOp::create(builder, op.getLoc(), type,
                             elements * elementBytes(element), StringAttr(),
                             -1),
            {}};
  }
  /// Scratch for scores [rows, keys] of a tile, in float32.
  Place temporary() { return scratch(tileRows * t, builder.getF32Type()); }
  /// Where what is made of `scores` goes for products with the operands.
  Place asOperand(const Place &scores) {
    return isNarrow() ? scratch(tileRows * t, elementOf(op.getQ())) : scores;
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
  /// out += alpha z^T x: z [rows, keys], x in rows of queries, out from the
  /// tile's first key on, rows of keys `ld` elements apart. beta 0: out = ...
  void addTransposed(const Tile &tile, Place z, OpOperand &x, float alpha,
                     Place out, int64_t ld, float beta);

  /// Launches the kernel that `rows` describes.
  LogicalResult launch(kernel::RowKernelBuilder &rows, ArrayRef<Place> args,
                       ArrayRef<Affine> ints = {});

  float getScale() { return op.getScale().convertToFloat(); }

  Op op;
  KernelTable &kernels;
  Value scalars;
  OpBuilder builder;
  int64_t b, m, g, s, t, d, tileRows;

  int64_t keyLd() const { return m * d; }

private:
  int64_t queryLd() const { return m * g * d; }
  /// `elements` behind an operand's start, and as many further on in each
  /// iteration of the loops over heads, groups and batch.
  Place move(OpOperand &operand, int64_t elements,
             std::array<int64_t, 3> perLoop) {
    Place place = whole(operand);
    int64_t size = elementBytes(elementOf(operand.get()));
    for (int64_t &stride : perLoop)
      stride *= size;
    place.at = place.at + Affine(elements * size, perLoop);
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
    kernel::Elem elem = kernelElem(place.buffer);
    args.push_back(std::move(place));
    if (perRow)
      return builder.arg(elem, access, {attention.m * attention.g}, 0);
    return builder.denseArg(elem, access);
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
    llvm::function_ref<LogicalResult(const Tile &)> body, Step before,
    Step after) {
  OpBuilder::InsertionGuard guard(builder);
  auto enter = [&](int64_t trips) {
    auto loop = LoopOp::create(builder, op.getLoc(), trips, op.getNameAttr());
    builder.setInsertionPointToStart(&loop.getBody().emplaceBlock());
    return loop;
  };
  enter(b);
  enter(m);
  if (before && failed(before()))
    return failure();
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
  return after ? after() : success();
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

static LogicalResult expand(AttentionOp op, KernelTable &kernels,
                            Value scalars) {
  TiledAttention<AttentionOp> attention(op, kernels, scalars);
  Place scores = attention.temporary(), probs = attention.asOperand(scores);
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
    k.store(probs, p);
    k.store(attention.perRow(op.getLseMutable(), tile.row), max + b.log(sum),
            /*perRow=*/true);
    if (failed(k.launch()))
      return failure();
    attention.combine(tile, probs, op.getVMutable(), 1, op.getYMutable());
    return success();
  });
}

namespace {
/// The gradient of k or of v, a sum over tiles and heads of a group: added up
/// where it goes if that is float32, else in float32 scratch first.
class KeySum {
public:
  KeySum(TiledAttention<AttentionGradOp> &attention, OpOperand &out)
      : attention(attention), out(out), f32(attention.builder.getF32Type()) {
    if (attention.isNarrow())
      sum = attention.scratch(attention.t * attention.d, f32);
    else
      fill({out.get(), attention.op.getAddresses()[out.getOperandNumber()]},
           attention.b * attention.m);
  }

  LogicalResult startGroup() {
    if (sum)
      fill(*sum, 1);
    return success();
  }

  void add(const Tile &tile, Place z, OpOperand &x, float alpha) {
    Place to = sum ? *sum : attention.keyed(out, tile.key);
    if (sum)
      to.at = Affine(tile.key * attention.d * elementBytes(f32));
    attention.addTransposed(tile, z, x, alpha, to,
                            sum ? attention.d : attention.keyLd(), /*beta=*/1);
  }

  /// Rounds the sum once.
  LogicalResult endGroup() {
    if (!sum)
      return success();
    Place to = attention.keyed(out, 0);
    // Outside the loop over heads, which moves nothing.
    to.at =
        Affine(to.at.base, ArrayRef(to.at.loops).drop_front(), to.at.coords);
    kernel::RowKernelBuilder rows({attention.t}, attention.d);
    int from = rows.denseArg(kernel::Elem::F32, kernel::Access::Read);
    int target = rows.arg(kernelElem(to.buffer), kernel::Access::Write,
                          {attention.keyLd()}, 1);
    rows.store(target, rows.load(from));
    return attention.launch(rows, {*sum, to});
  }

private:
  void fill(Place place, int64_t blocks) {
    FillOp::create(attention.builder, attention.op.getLoc(), place,
                   blocks * attention.t * attention.d * elementBytes(f32),
                   attention.op.getNameAttr());
  }

  TiledAttention<AttentionGradOp> &attention;
  OpOperand &out;
  Type f32;
  std::optional<Place> sum;
};
} // namespace

static LogicalResult expand(AttentionGradOp op, KernelTable &kernels,
                            Value scalars) {
  TiledAttention<AttentionGradOp> attention(op, kernels, scalars);
  Place scores = attention.temporary(), dscores = attention.temporary();
  Place probs = attention.asOperand(scores),
        dprobs = attention.asOperand(dscores);
  KeySum dk(attention, op.getDkMutable()), dv(attention, op.getDvMutable());
  auto start = [&] {
    return failure(failed(dk.startGroup()) || failed(dv.startGroup()));
  };
  auto end = [&] {
    return failure(failed(dk.endGroup()) || failed(dv.endGroup()));
  };
  auto addTile = [&](const Tile &tile) -> LogicalResult {
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
    k.store(probs, used);
    k.store(dprobs, ds);
    if (failed(k.launch()))
      return failure();
    dv.add(tile, probs, op.getDyMutable(), 1);
    dk.add(tile, dprobs, op.getQMutable(), attention.getScale());
    attention.combine(tile, dprobs, op.getKMutable(), attention.getScale(),
                      op.getDqMutable());
    return success();
  };
  return attention.forEachTile(addTile, start, end);
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
