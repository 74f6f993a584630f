// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan-expand-attention: attention in tiles of query rows: GEMMs for the
// products, one row kernel a tile for the softmax. Each tile holds [rows, keys
// that it sees]; [b, heads, s, t] never exists. The gradient computes the
// probabilities again from the logarithms of the rows' sums (Dao et al., 2022).
// In bf16 scores and the softmax are float32, probabilities are rounded for the
// products, and sums over tiles and heads are float32 until they are whole.

#include "AttentionTiles.h"

namespace colrow::passes {
#define GEN_PASS_DEF_PLANEXPANDATTENTION
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;
using namespace colrow::planir;
using kernel::Expr;

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
    if (attention.isNarrow()) {
      sum = attention.scratch(attention.t * attention.d, f32);
      fill(*sum, 1);
    } else {
      fill({out.get(), attention.op.getAddresses()[out.getOperandNumber()]},
           attention.b * attention.m);
    }
  }

  void add(const Tile &tile, Place z, OpOperand &x, float alpha) {
    Place to = sum ? *sum : attention.keyed(out, tile.key);
    if (sum)
      to.at = Affine(tile.key * attention.d * elementBytes(f32));
    attention.addTransposed(tile, z, x, alpha, to,
                            sum ? attention.d : attention.keyLd(), /*beta=*/1);
  }

  /// Rounds a group's scratch to where it goes, and clears it for the next one.
  void endGroup(kernel::RowKernelBuilder &rows, SmallVectorImpl<Place> &args) {
    Place to = attention.keyed(out, 0);
    // Outside the loop over heads, which moves nothing.
    to.at =
        Affine(to.at.base, ArrayRef(to.at.loops).drop_front(), to.at.coords);
    int from = rows.denseArg(kernel::Elem::F32, kernel::Access::Read);
    int target = rows.arg(kernelElem(to.buffer), kernel::Access::Write,
                          {attention.keyLd()}, 1);
    int cleared = rows.denseArg(kernel::Elem::F32, kernel::Access::Write);
    rows.store(target, rows.load(from));
    rows.store(cleared, rows.constF32(0));
    args.append({*sum, to, *sum});
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
  auto endGroup = [&]() -> LogicalResult {
    if (!attention.isNarrow())
      return success();
    kernel::RowKernelBuilder rows({attention.t}, attention.d);
    SmallVector<Place> args;
    dk.endGroup(rows, args);
    dv.endGroup(rows, args);
    return attention.launch(rows, args);
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
  return attention.forEachTile(addTile, endGroup);
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
