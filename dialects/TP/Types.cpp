// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor types with layouts in them.

#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

LayoutAttr tp::getLayoutAttr(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                : LayoutAttr();
}

RankedTensorType tp::withLayout(Type type, LayoutAttr layout) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                               layout);
}

RankedTensorType tp::dualType(Type type) {
  LayoutAttr layout = getLayoutAttr(type);
  return withLayout(type, layout ? layout.dual() : layout);
}

RankedTensorType tp::inFloat32(Type type) {
  return cast<RankedTensorType>(type).clone(
      Float32Type::get(type.getContext()));
}

RankedTensorType tp::withElementsOf(Type type, Type like) {
  return cast<RankedTensorType>(type).clone(getElementTypeOrSelf(like));
}

ParamOp tp::findParam(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<CastOp, ReshapeOp, LayoutChangeOpInterface>(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<ParamOp>(op);
}

Type tp::gradientElement(Value value, bool isShare) {
  Type element = getElementTypeOrSelf(value);
  ParamOp param = findParam(value);
  if (!param || (isShare && param.getRoundShares()))
    return element;
  return Float32Type::get(value.getContext());
}

RankedTensorType tp::gradientType(Value value) {
  RankedTensorType type = dualType(value.getType());
  LayoutAttr layout = getLayoutAttr(type);
  bool isShare = layout && layout.getMesh().getMesh().groupSize(
                               layout.getLayout().partial) > 1;
  return type.clone(gradientElement(value, isShare));
}

bool colrow::tp::detail::isProductType(Type result, Type operand) {
  Type element = getElementTypeOrSelf(result);
  return element.isF32() || element == getElementTypeOrSelf(operand);
}

SmallVector<int64_t> tp::localShape(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  LayoutAttr layout = getLayoutAttr(type);
  if (!layout)
    return SmallVector<int64_t>(tensor.getShape());
  return layout.getLayout().localShape(tensor.getShape(),
                                       layout.getMesh().getMesh());
}
