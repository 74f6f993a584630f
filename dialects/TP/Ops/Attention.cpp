// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention in tiles of query rows: GEMMs for the products, one row kernel a
// tile for the softmax. Each tile holds [rows, keys it sees]; [b, n, s, s]
// never exists. The gradient computes the probabilities again from the
// logarithms of the rows' sums (Dao et al., 2022).

#include "colrow/TP/PlanLowering.h"
#include "colrow/TP/RowLowering.h"
#include "colrow/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using kernel::Expr;

/// Work on local [b, s, m, g, d] queries and [b, t, m, d] keys.
template <typename Op>
static cost::WorkItem attentionWork(Op op, bool gradient) {
  auto q = localShape(op.getQ().getType()), k = localShape(op.getK().getType());
  cost::Attention work;
  work.batch = q[0];
  work.heads = q[2] * q[3];
  work.groups = k[2];
  work.s = q[1];
  work.t = k[1];
  work.d = k[3];
  work.e = localShape(op.getV().getType())[3];
  work.causal = op.getCausal();
  work.gradient = gradient;
  work.bytes = llvm::divideCeil(
      cast<RankedTensorType>(op.getQ().getType()).getElementTypeBitWidth(), 8);
  return work;
}

std::optional<cost::WorkItem> AttentionOp::getWork(const layout::Mesh &) {
  return attentionWork(*this, /*gradient=*/false);
}

std::optional<cost::WorkItem> AttentionGradOp::getWork(const layout::Mesh &) {
  return attentionWork(*this, /*gradient=*/true);
}

SmallVector<Value> AttentionOp::buildGradients(OpBuilder &b,
                                               ValueRange gradients,
                                               ArrayRef<bool>) {
  auto op = AttentionGradOp::create(
      b, getLoc(), dualType(getQ().getType()), dualType(getK().getType()),
      dualType(getV().getType()), getQ(), getK(), getV(), getLse(),
      gradients[0], getScaleAttr(), getCausalAttr(), getDropoutAttr(),
      getIdAttr(), LayoutAttr());
  return {op.getDq(), op.getDk(), op.getDv()};
}

namespace {
/// Local sizes and strides, and what forward and backward share.
template <typename Op> class TiledAttention {
public:
  TiledAttention(Op op, PlanLowering &plan) : op(op), plan(plan) {
    auto q = cast<RankedTensorType>(op.getQ().getType()).getShape();
    auto k = cast<RankedTensorType>(op.getK().getType()).getShape();
    b = q[0], s = q[1], m = q[2], g = q[3], d = q[4], t = k[1];
    // A tile of at least 64 rows, at most 8 of them: few, large GEMMs.
    tile = std::min(s, std::max<int64_t>(64, llvm::divideCeil(s, 8)));
  }

  /// Calls `body(first row, rows, keys seen)` for each tile, inside loops over
  /// batch, groups and heads of a group.
  void forEachTile(llvm::function_ref<void(int64_t, int64_t, int64_t)> body) {
    plan.loop(b, [&] {
      plan.loop(m, [&] {
        plan.loop(g, [&] {
          for (int64_t row = 0; row < s; row += tile) {
            int64_t rows = std::min(tile, s - row);
            body(row, rows, op.getCausal() ? std::min(t, row + rows) : t);
          }
        });
      });
    });
  }

  /// [b, s, m, g, d] from row `row` of the current head.
  PlanRef query(Value value, int64_t row) const {
    return plan.ref(value).at(row * queryLd()).by({s * queryLd(), g * d, d});
  }
  /// [b, t, m, d] of the current group.
  PlanRef key(Value value) const {
    return plan.ref(value).by({t * keyLd(), d, 0});
  }
  /// [b, s, m, g] from row `row` of the current head.
  PlanRef perRow(Value value, int64_t row) const {
    return plan.ref(value).at(row * m * g).by({s * m * g, g, 1});
  }
  int64_t queryLd() const { return m * g * d; }
  int64_t keyLd() const { return m * d; }

  /// Scores of a tile: scale q k^T into [rows, keys].
  void scores(int64_t row, int64_t rows, int64_t keys, PlanRef out) {
    GemmShape gemm{rows, keys, d};
    gemm.transB = true;
    gemm.lda = queryLd();
    gemm.ldb = keyLd();
    gemm.ldc = keys;
    gemm.alpha = float(op.getScale().convertToDouble());
    plan.gemm(gemm, query(op.getQ(), row), key(op.getK()), out);
  }

  /// Exprs and arguments of a kernel over one tile.
  struct Tile {
    Tile(TiledAttention &attention, int64_t row, int64_t rows, int64_t keys)
        : attention(attention), row(row), keys(keys), builder({rows}, keys) {}

    Expr load(PlanRef ref, bool perRow = false) {
      return builder.load(add(std::move(ref), kernel::Access::Read, perRow));
    }
    void store(PlanRef ref, Expr value, bool perRow = false) {
      builder.store(add(std::move(ref), kernel::Access::Write, perRow), value);
    }
    /// i1: the key that column `col` holds is seen by this row.
    std::optional<Expr> seen() {
      if (!attention.op.getCausal())
        return std::nullopt;
      return builder.le(builder.colIndex(),
                        builder.rowIndex(0) + builder.constI64(row));
    }
    /// f32: 0 where dropout drops the probability, else 1 / (1 - p).
    Expr dropoutFactor();
    void launch() { attention.plan.launch(builder.finish(), args, ints); }

    TiledAttention &attention;
    int64_t row, keys;
    kernel::RowKernelBuilder builder;

  private:
    int add(PlanRef ref, kernel::Access access, bool perRow) {
      args.push_back(std::move(ref));
      if (perRow)
        return builder.arg(kernel::Elem::F32, access,
                           {attention.m * attention.g}, 0);
      return builder.denseArg(kernel::Elem::F32, access);
    }
    Expr scalarBlock(int64_t byte) {
      PlanRef ref;
      ref.scalars = true;
      args.push_back(ref);
      return builder.load(builder.arg(kernel::Elem::I64, kernel::Access::Read,
                                      {0}, 0, byte / 8));
    }
    SmallVector<PlanRef> args;
    SmallVector<PlanInt> ints;
  };

  bool hasDropout() { return op.getDropout().convertToDouble() != 0; }

  Op op;
  PlanLowering &plan;
  int64_t b, s, m, g, d, t, tile;
};

template <typename Op> Expr TiledAttention<Op>::Tile::dropoutFactor() {
  ints = {{0, {1, 0, 0}}, {0, {0, 1, 0}}, {0, {0, 0, 1}}};
  // Index in the whole [b, groups, heads a group, s, t] of the mask: where an
  // element is in this rank's block, and the dimension of q that says where the
  // block begins. Keys are never split.
  std::pair<Expr, unsigned> places[] = {
      {builder.intArg(0), 0},
      {builder.intArg(1), 2},
      {builder.intArg(2), 3},
      {builder.rowIndex(0) + builder.constI64(row), 1}};
  auto q = cast<RankedTensorType>(attention.op.getQ().getType()).getShape();
  Expr index = builder.constI64(0);
  for (auto [local, dim] : places) {
    int64_t size = q[dim];
    if (std::optional<LayoutAttr> layout = attention.op.getLayout()) {
      auto coordinate = [&](unsigned axis) {
        return scalarBlock(scalarOffset::coordinate(axis));
      };
      local = local + blockStart(builder, *layout, dim, coordinate);
      size = wholeSize(*layout, dim, size);
    }
    index = index * builder.constI64(size) + local;
  }
  index = index * builder.constI64(attention.t) + builder.colIndex();
  Expr u = builder.philoxUniform(scalarBlock(scalarOffset::seed),
                                 uint32_t(attention.op.getId()),
                                 scalarBlock(scalarOffset::step), index);
  double p = attention.op.getDropout().convertToDouble();
  return builder.select(builder.ge(u, builder.constF32(float(p))),
                        builder.constF32(float(1.0 / (1.0 - p))),
                        builder.constF32(0));
}
} // namespace

void AttentionOp::lowerToPlan(PlanLowering &plan) {
  TiledAttention<AttentionOp> attention(*this, plan);
  PlanRef scores = plan.temporary(attention.tile * attention.t);
  attention.forEachTile([&](int64_t row, int64_t rows, int64_t keys) {
    attention.scores(row, rows, keys, scores);
    TiledAttention<AttentionOp>::Tile tile(attention, row, rows, keys);
    kernel::RowKernelBuilder &b = tile.builder;
    Expr x = tile.load(scores);
    if (auto seen = tile.seen())
      x = b.select(*seen, x,
                   b.constF32(-std::numeric_limits<float>::infinity()));
    Expr max = b.rowMax(x);
    Expr e = b.exp(x - max);
    Expr sum = b.rowSum(e);
    Expr p = e * b.reciprocal(sum);
    if (attention.hasDropout())
      p = p * tile.dropoutFactor();
    tile.store(scores, p);
    tile.store(attention.perRow(getLse(), row), max + b.log(sum), true);
    tile.launch();

    GemmShape gemm{rows, attention.d, keys};
    gemm.lda = keys;
    gemm.ldb = attention.keyLd();
    gemm.ldc = attention.queryLd();
    plan.gemm(gemm, scores, attention.key(getV()),
              attention.query(getY(), row));
  });
}

void AttentionGradOp::lowerToPlan(PlanLowering &plan) {
  TiledAttention<AttentionGradOp> attention(*this, plan);
  int64_t elements = attention.b * attention.t * attention.keyLd();
  PlanRef scores = plan.temporary(attention.tile * attention.t);
  PlanRef dscores = plan.temporary(attention.tile * attention.t);
  plan.fillZero(plan.ref(getDk()), elements);
  plan.fillZero(plan.ref(getDv()), elements);
  attention.forEachTile([&](int64_t row, int64_t rows, int64_t keys) {
    attention.scores(row, rows, keys, scores);
    // Gradient of the probabilities: dy v^T.
    GemmShape dp{rows, keys, attention.d};
    dp.transB = true;
    dp.lda = attention.queryLd();
    dp.ldb = attention.keyLd();
    dp.ldc = keys;
    plan.gemm(dp, attention.query(getDy(), row), attention.key(getV()),
              dscores);

    TiledAttention<AttentionGradOp>::Tile tile(attention, row, rows, keys);
    kernel::RowKernelBuilder &b = tile.builder;
    Expr p = b.exp(tile.load(scores) -
                   tile.load(attention.perRow(getLse(), row), true));
    if (auto seen = tile.seen())
      p = b.select(*seen, p, b.constF32(0));
    Expr dprob = tile.load(dscores);
    Expr used = p;
    if (attention.hasDropout()) {
      Expr factor = tile.dropoutFactor();
      dprob = dprob * factor;
      used = p * factor;
    }
    Expr ds = p * (dprob - b.rowSum(p * dprob));
    tile.store(scores, used);
    tile.store(dscores, ds);
    tile.launch();

    GemmShape dv{keys, attention.d, rows};
    dv.transA = true;
    dv.lda = keys;
    dv.ldb = attention.queryLd();
    dv.ldc = attention.keyLd();
    dv.beta = 1;
    plan.gemm(dv, scores, attention.query(getDy(), row),
              attention.key(getDv()));
    GemmShape dk = dv;
    dk.alpha = float(getScale().convertToDouble());
    plan.gemm(dk, dscores, attention.query(getQ(), row),
              attention.key(getDk()));
    GemmShape dq{rows, attention.d, keys};
    dq.lda = keys;
    dq.ldb = attention.keyLd();
    dq.ldc = attention.queryLd();
    dq.alpha = dk.alpha;
    plan.gemm(dq, dscores, attention.key(getK()),
              attention.query(getDq(), row));
  });
}
