// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers of tensors, and the collectives' instructions.

#include "colrow/dialects/TP/PlanLowering.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

int64_t tp::tensorBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() *
         planir::elementBytes(tensor.getElementType());
}

StringAttr tp::modelName(Location location) {
  auto named = dyn_cast<NameLoc>(location);
  if (!named) // Looking inside is slow, and the importer's are plain.
    named = location->findInstanceOf<NameLoc>();
  return named ? named.getName() : nullptr;
}

Value PlanLowering::buffer(Value value) {
  Value &buffer = buffers[value];
  if (buffer)
    return buffer;
  auto tensor = cast<RankedTensorType>(value.getType());
  auto type =
      planir::BufferType::get(builder.getContext(), tensor.getElementType());
  buffer = planir::BufferOp::create(builder, value.getLoc(), type,
                                    tensorBytes(tensor),
                                    modelName(value.getLoc()), -1);
  return buffer;
}

void AllReduceOp::lowerToPlan(PlanLowering &plan) {
  auto type = cast<RankedTensorType>(getInput().getType());
  planir::Place from = plan.place(getInput()), to = plan.place(getResult());
  planir::AllReduceOp::create(plan.getBuilder(), getLoc(),
                              getReduction() == Reduction::Max
                                  ? planir::Reduction::max
                                  : planir::Reduction::sum,
                              type.getNumElements(), from.buffer, to.buffer,
                              getAxesAttr(), tensorBytes(type), getReasonAttr(),
                              planir::startsOf({from, to}), 0, plan.getName());
}

/// [outer, block] of [outer, total] of a collective along dimension `dim`.
template <typename PlanOp, typename Op>
static void lowerBlocks(Op op, Value whole, Value part, PlanLowering &plan) {
  auto large = cast<RankedTensorType>(whole.getType());
  int64_t dim = op.getDim();
  ArrayRef<int64_t> shape = large.getShape();
  int64_t outer = ShapedType::getNumElements(shape.take_front(dim));
  int64_t inner = ShapedType::getNumElements(shape.drop_front(dim + 1));
  int64_t block = cast<RankedTensorType>(part.getType()).getDimSize(dim);
  planir::Place from = plan.place(op.getInput()),
                to = plan.place(op.getResult());
  // What moves is the larger side, padding included.
  int64_t payload = std::max(tensorBytes(large), tensorBytes(part.getType()));
  PlanOp::create(plan.getBuilder(), op.getLoc(), outer, block * inner,
                 shape[dim] * inner, from.buffer, to.buffer, op.getAxesAttr(),
                 payload, op.getReasonAttr(), planir::startsOf({from, to}), 0,
                 plan.getName());
}

void AllGatherOp::lowerToPlan(PlanLowering &plan) {
  lowerBlocks<planir::AllGatherOp>(*this, getResult(), getInput(), plan);
}

void ReduceScatterOp::lowerToPlan(PlanLowering &plan) {
  lowerBlocks<planir::ReduceScatterOp>(*this, getInput(), getResult(), plan);
}
