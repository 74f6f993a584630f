// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions from places and shapes.

#include "colrow/dialects/Plan/Plan.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

AffineList planir::startsOf(ArrayRef<Place> places) {
  AffineList starts;
  for (const Place &place : places)
    starts.push_back(place.at);
  return starts;
}

void GemmOp::build(OpBuilder &builder, OperationState &state,
                   const GemmShape &shape, Place a, Place b, Place c,
                   StringAttr name) {
  build(builder, state, shape.m, shape.n, shape.k, a.buffer, b.buffer, c.buffer,
        shape.lda, shape.ldb, shape.ldc, shape.transA, shape.transB,
        builder.getF32FloatAttr(shape.alpha),
        builder.getF32FloatAttr(shape.beta), startsOf({a, b, c}), /*stream=*/0,
        name);
}

void LaunchOp::build(OpBuilder &builder, OperationState &state,
                     FlatSymbolRefAttr kernel, ArrayRef<Place> args,
                     ArrayRef<int64_t> bytes, ArrayRef<Affine> ints,
                     StringAttr name) {
  auto buffers = llvm::map_to_vector(
      args, [](const Place &place) { return place.buffer; });
  build(builder, state, kernel, buffers, builder.getDenseI64ArrayAttr(bytes),
        ints, startsOf(args),
        /*stream=*/0, name);
}

void CopyOp::build(OpBuilder &builder, OperationState &state, Place source,
                   Place target, int64_t bytes, StringAttr name) {
  build(builder, state, source.buffer, target.buffer, bytes,
        startsOf({source, target}), /*stream=*/0, name);
}

void FillOp::build(OpBuilder &builder, OperationState &state, Place target,
                   int64_t bytes, StringAttr name) {
  build(builder, state, target.buffer, bytes, /*value=*/0, startsOf(target),
        /*stream=*/0, name);
}
