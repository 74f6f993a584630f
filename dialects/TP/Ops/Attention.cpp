// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention: work, gradient, and the plan op that it becomes.

#include "colrow/dialects/TP/PlanLowering.h"
#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

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
  work.bytes = elementBytes(op.getQ().getType());
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

/// b, m, g, s, t, d of local shapes.
template <typename Op> static DenseI64ArrayAttr sizesOf(Op op) {
  auto q = cast<RankedTensorType>(op.getQ().getType()).getShape();
  auto k = cast<RankedTensorType>(op.getK().getType()).getShape();
  return Builder(op.getContext())
      .getDenseI64ArrayAttr({q[0], q[2], q[3], q[1], k[1], q[4]});
}

/// The tensor of all probabilities [b, m, g, s, t] on the whole mesh, and where
/// this rank's part of it begins; `layout` is that of q, [b, s, m, g, d].
struct WholeIndex {
  template <typename Op> explicit WholeIndex(Op op) {
    ArrayRef<int64_t> local = sizesOf(op).asArrayRef();
    sizes.assign(local.begin(), local.begin() + 5);
    starts.resize(5);
    if (!op.getLayout())
      return;
    layout::Layout layout = op.getLayout()->getLayout();
    layout::Mesh mesh = op.getLayout()->getMesh().getMesh();
    static constexpr unsigned dims[] = {0, 2, 3, 1}; // of q: b, m, g, s
    for (auto [i, d] : llvm::enumerate(dims)) {
      if (layout.dims[d].empty())
        continue;
      sizes[i] = 1;
      for (const layout::Factor &factor : layout.dims[d])
        sizes[i] *= factor.size;
      starts[i] =
          planir::Affine(0, {}, layout::blockStart(layout.dims[d], mesh));
    }
  }

  SmallVector<int64_t> sizes;
  planir::AffineList starts;
};

/// Appends the plan op `PlanOp` on buffers of `values`, in its operands' order.
template <typename PlanOp, typename Op>
static void createAttention(Op op, ValueRange values, PlanLowering &plan) {
  auto places = llvm::map_to_vector(
      values, [&](Value value) { return plan.place(value); });
  bool drops = op.getDropout().convertToDouble() != 0;
  WholeIndex whole(op);
  OpBuilder &builder = plan.getBuilder();
  typename PlanOp::Properties properties;
  properties.sizes = sizesOf(op);
  properties.scale =
      builder.getF32FloatAttr(float(op.getScale().convertToDouble()));
  properties.causal = op.getCausal();
  properties.dropout = op.getDropoutAttr();
  if (drops) {
    properties.id = op.getId();
    properties.whole = builder.getDenseI64ArrayAttr(whole.sizes);
    properties.starts = whole.starts;
  }
  properties.addresses = planir::startsOf(places);
  properties.name = plan.getName();
  auto buffers = llvm::map_to_vector(
      places, [](const planir::Place &place) { return place.buffer; });
  PlanOp::create(builder, op.getLoc(), TypeRange(), buffers, properties);
}

void AttentionOp::lowerToPlan(PlanLowering &plan) {
  createAttention<planir::AttentionOp>(
      *this, {getQ(), getK(), getV(), getY(), getLse()}, plan);
}

void AttentionGradOp::lowerToPlan(PlanLowering &plan) {
  createAttention<planir::AttentionGradOp>(
      *this,
      {getQ(), getK(), getV(), getLse(), getDy(), getDq(), getDk(), getDv()},
      plan);
}
