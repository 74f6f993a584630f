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

bool tp::isParameterValue(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<CastOp, ReshapeOp, LayoutChangeOpInterface>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<ParamOp>(op);
}

RankedTensorType tp::gradientType(Value value) {
  RankedTensorType type = dualType(value.getType());
  return isParameterValue(value) ? inFloat32(type) : type;
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
