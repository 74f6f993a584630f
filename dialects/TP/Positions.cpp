// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a block lies in its whole tensor: checks of `layout` attributes, which
// ops keep from tp-partition on, when types are local.

#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

/// Shape of the whole tensor of which `block` is the block by `layout`:
/// dimensions that it does not split are whole already.
static SmallVector<int64_t> wholeShape(RankedTensorType block,
                                       const layout::Layout &layout) {
  SmallVector<int64_t> shape(block.getShape());
  for (auto [size, dim] : llvm::zip(shape, layout.dims))
    if (!dim.empty())
      size = layout::wholeSize(dim);
  return shape;
}

LogicalResult colrow::tp::detail::verifyPosition(Operation *op, Value block,
                                                 LayoutAttr attr) {
  auto type = cast<RankedTensorType>(block.getType());
  layout::Layout layout = attr.getLayout();
  layout::Mesh mesh = attr.getMesh().getMesh();
  if (LayoutAttr whole = getLayoutAttr(type)) {
    if (whole == attr)
      return success();
    return op->emitOpError("its layout attribute ")
           << attr << " is not that of the type " << type;
  }
  if (int64_t(layout.dims.size()) != type.getRank())
    return op->emitOpError("its layout attribute has ")
           << layout.dims.size() << " dimensions, but it says where " << type
           << " lies in the whole tensor";
  for (auto [d, dim] : llvm::enumerate(layout.dims))
    if (dim.size() > 1)
      return op->emitOpError("its layout attribute splits dimension ")
             << d
             << " inside its major factor, so its blocks are in pieces; "
                "only one block is known by its place";
  SmallVector<int64_t> whole = wholeShape(type, layout);
  if (llvm::Error e = layout.verify(whole, mesh))
    return op->emitOpError("its layout attribute: ")
           << llvm::toString(std::move(e));
  SmallVector<int64_t> local = layout.localShape(whole, mesh);
  for (auto [d, sizes] : llvm::enumerate(llvm::zip(local, type.getShape())))
    if (std::get<0>(sizes) != std::get<1>(sizes))
      return op->emitOpError("its layout attribute gives a rank ")
             << std::get<0>(sizes) << " along dimension " << d << ", but "
             << type << " has " << std::get<1>(sizes);
  return success();
}

LogicalResult colrow::tp::detail::verifyIndexedValue(Operation *op) {
  Value indexed = cast<ShardableOpInterface>(op).getIndexedValue();
  auto layout = indexed ? op->getAttrOfType<LayoutAttr>("layout") : nullptr;
  return layout ? verifyPosition(op, indexed, layout) : success();
}

LogicalResult LocalSliceOp::verify() {
  auto whole = cast<RankedTensorType>(getInput().getType());
  auto part = cast<RankedTensorType>(getResult().getType());
  int64_t dim = getDim();
  if (failed(tp::detail::verifyBlocks(*this, getInput(), getResult(), dim)) ||
      failed(tp::detail::verifyAxes(*this)))
    return failure();
  // C3
  if (failed(tp::detail::verifyPosition(*this, getResult(), getLayout())))
    return failure();
  layout::Layout layout = getLayout().getLayout();
  layout::Mesh mesh = getLayout().getMesh().getMesh();
  SmallVector<StringRef> split;
  for (const layout::Factor &factor : layout.dims[dim])
    for (unsigned axis : factor.axes)
      split.push_back(mesh.axes[axis].name);
  if (!llvm::equal(split, getAxes().getAsValueRange<StringAttr>()) ||
      wholeShape(part, layout)[dim] != whole.getDimSize(dim))
    return emitOpError("C3: cuts dimension ")
           << dim << " of " << whole << " over " << getAxes()
           << ", but its layout is " << getLayout();
  return success();
}

LogicalResult MaskPaddingOp::verify() {
  // C1
  if (getInput().getType() != getResult().getType())
    return emitOpError("C1: operand and result have different types");
  if (failed(tp::detail::verifyPosition(*this, getInput(), getLayout())))
    return failure();
  // C2
  double fill = getFill().convertToDouble();
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(getInput()));
  if (isFloat ? std::isfinite(fill) && fill != 0 : std::isinf(fill))
    return emitOpError("C2: the fill is ")
           << fill << "; wanted 0 or -inf for floats, a number for integers";
  // C3
  layout::Layout layout = getLayout().getLayout();
  for (unsigned d = 0; d < layout.dims.size(); ++d)
    if (layout.isPadded(d))
      return success();
  return emitOpError("C3: its layout has no padding, so nothing is masked; "
                     "remove it");
}
