// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes of layout: their checks and their conjugates. Collectives on local
// tensors: their instructions.

#include "colrow/dialects/TP/RowLowering.h"
#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using layout::State;
using layout::StateKind;

static StringRef stateName(StateKind kind) {
  switch (kind) {
  case StateKind::Replicated:
    return "R";
  case StateKind::Copied:
    return "C";
  case StateKind::Split:
    return "S";
  case StateKind::Partial:
    return "P";
  case StateKind::PartialMax:
    return "P<max>";
  }
  return "?";
}

/// Axes of dimension `dim`, major to minor, without those in `drop`.
static SmallVector<unsigned> axesOf(const layout::DimLayout &dim,
                                    ArrayRef<unsigned> drop) {
  SmallVector<unsigned> axes;
  for (const layout::Factor &factor : dim)
    for (unsigned axis : factor.axes)
      if (!llvm::is_contained(drop, axis))
        axes.push_back(axis);
  return axes;
}

/// The axes that `op` names, each once and in `mesh`.
static FailureOr<SmallVector<unsigned>> namedAxes(Operation *op,
                                                  const layout::Mesh &mesh) {
  SmallVector<unsigned> axes;
  for (auto name :
       cast<CollectiveOpInterface>(op).getAxes().getAsRange<StringAttr>()) {
    std::optional<unsigned> axis = mesh.find(name);
    if (!axis)
      return op->emitOpError("C2: the mesh has no axis ") << name;
    if (llvm::is_contained(axes, *axis))
      return op->emitOpError("C2: names the axis ") << name << " twice";
    axes.push_back(*axis);
  }
  return axes;
}

/// C4 of a change over `axes`.
static LogicalResult verifyMinorEnds(Operation *op,
                                     const layout::Layout &before,
                                     const layout::Layout &after,
                                     ArrayRef<unsigned> axes) {
  for (auto [d, dims] : llvm::enumerate(llvm::zip(before.dims, after.dims))) {
    SmallVector<unsigned> kept = axesOf(std::get<0>(dims), axes);
    auto leads = [&](const layout::DimLayout &dim) {
      return ArrayRef(axesOf(dim, {})).take_front(kept.size()).equals(kept);
    };
    if (kept != axesOf(std::get<1>(dims), axes) || !leads(std::get<0>(dims)) ||
        !leads(std::get<1>(dims)))
      return op->emitOpError("C4: axes leave and enter dimension ")
             << d << " only at its minor end; use tp.all_to_all";
  }
  return success();
}

LogicalResult colrow::tp::detail::verifyChange(Operation *op) {
  auto change = cast<LayoutChangeOpInterface>(op);
  auto in = cast<RankedTensorType>(op->getOperand(0).getType());
  auto out = cast<RankedTensorType>(op->getResult(0).getType());
  LayoutAttr from = getLayoutAttr(in), to = getLayoutAttr(out);
  // C1
  if (in.getShape() != out.getShape() ||
      in.getElementType() != out.getElementType())
    return op->emitOpError("C1: changes the layout only, but the shape or "
                           "element type differs");
  if (!from || !to || from.getMesh() != to.getMesh())
    return op->emitOpError("C1: operand and result need layouts on one mesh");
  layout::Layout before = from.getLayout(), after = to.getLayout();
  layout::Mesh mesh = from.getMesh().getMesh();
  auto axes = namedAxes(op, mesh);
  if (failed(axes))
    return failure();
  for (auto [i, axis] : llvm::enumerate(mesh.axes)) {
    State a = before.state(i), b = after.state(i);
    if (!llvm::is_contained(*axes, i)) {
      // C3
      if (a != b)
        return op->emitOpError("C3: axis \"")
               << axis.name
               << "\" is not among the op's axes, but changes from " << a.str()
               << " to " << b.str();
      continue;
    }
    // C2
    if (a.kind != change.getFrom() || b.kind != change.getTo())
      return op->emitOpError("C2: on axis \"")
             << axis.name << "\" it takes " << stateName(change.getFrom())
             << " to " << stateName(change.getTo()) << ", not " << a.str()
             << " to " << b.str();
  }
  return verifyMinorEnds(op, before, after, *axes);
}

SmallVector<Value> colrow::tp::detail::buildConjugate(Operation *op,
                                                      OpBuilder &builder,
                                                      ValueRange gradients) {
  auto change = cast<LayoutChangeOpInterface>(op);
  OperationState state(op->getLoc(), change.getConjugateName());
  state.addOperands(gradients[0]);
  // The gradient may be of another float type than the value is.
  state.addTypes(withElementsOf(dualType(op->getOperand(0).getType()),
                                gradients[0].getType()));
  auto collective = cast<CollectiveOpInterface>(op);
  state.addAttribute("axes", collective.getAxes());
  if (StringAttr reason = collective.getReasonAttr())
    state.addAttribute(
        "reason", builder.getStringAttr("gradient of: " + reason.getValue()));
  return {builder.create(state)->getResult(0)};
}

OpFoldResult colrow::tp::detail::foldChange(Operation *change) {
  // No change makes summands, so a value that is again as it was has been whole
  // or in blocks all the time, and every rank holds again what it held.
  auto before = change->getOperand(0).getDefiningOp<LayoutChangeOpInterface>();
  if (before &&
      before->getOperand(0).getType() == change->getResult(0).getType())
    return before->getOperand(0);
  return {};
}

std::optional<int64_t> colrow::tp::detail::changedDimension(Operation *change) {
  LayoutAttr from = getLayoutAttr(change->getOperand(0)),
             to = getLayoutAttr(change->getResult(0));
  if (!from || !to)
    return std::nullopt;
  layout::Layout before = from.getLayout(), after = to.getLayout();
  for (auto [d, dims] : llvm::enumerate(llvm::zip(before.dims, after.dims)))
    if (std::get<0>(dims) != std::get<1>(dims))
      return d;
  return std::nullopt;
}

std::optional<Reduction> colrow::tp::detail::reductionOf(StateKind from) {
  if (from == StateKind::Partial)
    return Reduction::Sum;
  if (from == StateKind::PartialMax)
    return Reduction::Max;
  return std::nullopt;
}

std::optional<OperationName> tp::findChange(MLIRContext *context,
                                            StateKind from, StateKind to) {
  for (RegisteredOperationName name : context->getRegisteredOperationsByDialect(
           TPDialect::getDialectNamespace())) {
    auto *change = name.getInterface<LayoutChangeOpInterface>();
    if (change && change->getFrom() == from && change->getTo() == to)
      return name;
  }
  return std::nullopt;
}

LogicalResult colrow::tp::detail::verifyAxes(Operation *op) {
  ArrayAttr axes = cast<CollectiveOpInterface>(op).getAxes();
  if (axes.empty())
    return op->emitOpError("names no axis of the mesh");
  llvm::SmallDenseSet<Attribute> seen;
  for (Attribute name : axes)
    if (!seen.insert(name).second)
      return op->emitOpError("names the axis ") << name << " twice";
  auto module = op->getParentOfType<ModuleOp>();
  auto mesh =
      module ? module->getAttrOfType<MeshAttr>(getMeshAttrName()) : MeshAttr();
  for (auto name : axes.getAsRange<StringAttr>())
    if (mesh && !mesh.getMesh().find(name))
      return op->emitOpError("the mesh has no axis ") << name;
  return success();
}

/// Operand and result differ at most along dimension `dim`, where `whole` is
/// not smaller than `part`.
LogicalResult colrow::tp::detail::verifyBlocks(Operation *op, Value whole,
                                               Value part, int64_t dim) {
  auto large = cast<RankedTensorType>(whole.getType());
  auto small = cast<RankedTensorType>(part.getType());
  if (dim < 0 || dim >= large.getRank())
    return op->emitOpError("C1: there is no dimension ") << dim;
  if (large.getRank() != small.getRank() ||
      large.getElementType() != small.getElementType() ||
      large.getDimSize(dim) < small.getDimSize(dim))
    return op->emitOpError("C2: the block is not a part of the whole");
  for (int64_t d = 0; d < large.getRank(); ++d)
    if (d != dim && large.getDimSize(d) != small.getDimSize(d))
      return op->emitOpError("C2: operand and result differ along dimension ")
             << d << ", but blocks are joined along " << dim;
  return success();
}

/// Checks that the blocks of all ranks make the whole.
static LogicalResult verifyJoined(Operation *op, Value whole, Value part,
                                  int64_t dim) {
  if (failed(tp::detail::verifyBlocks(op, whole, part, dim)) ||
      failed(tp::detail::verifyAxes(op)))
    return failure();
  auto module = op->getParentOfType<ModuleOp>();
  auto attr =
      module ? module->getAttrOfType<MeshAttr>(getMeshAttrName()) : MeshAttr();
  if (!attr)
    return success();
  layout::Mesh mesh = attr.getMesh();
  int64_t ranks = 1;
  for (auto name :
       cast<CollectiveOpInterface>(op).getAxes().getAsRange<StringAttr>())
    ranks *= mesh.axes[*mesh.find(name)].size;
  int64_t large = cast<RankedTensorType>(whole.getType()).getDimSize(dim);
  int64_t small = cast<RankedTensorType>(part.getType()).getDimSize(dim);
  if (llvm::SaturatingMultiply<uint64_t>(small, ranks) < uint64_t(large))
    return op->emitOpError("C3: ")
           << ranks << " blocks of " << small << " along dimension " << dim
           << " do not make " << large;
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (getInput().getType() != getResult().getType())
    return emitOpError("C1: operand and result have different types");
  return tp::detail::verifyAxes(*this);
}

LogicalResult AllGatherOp::verify() {
  return verifyJoined(*this, getResult(), getInput(), int64_t(getDim()));
}

LogicalResult ReduceScatterOp::verify() {
  return verifyJoined(*this, getInput(), getResult(), int64_t(getDim()));
}

/// True (i1) where the current element of a block with `layout` is no padding;
/// nullopt if it has none.
static std::optional<kernel::Expr> notPadding(RowLowering &rows,
                                              LayoutAttr layoutAttr,
                                              ArrayRef<int64_t> wholeShape) {
  layout::Layout layout = layoutAttr.getLayout();
  kernel::RowKernelBuilder &b = rows.builder();
  std::optional<kernel::Expr> valid;
  unsigned last = layout.dims.size() - 1;
  for (unsigned d = 0; d <= last; ++d) {
    if (!layout.isPadded(d))
      continue;
    kernel::Expr local = d == last ? b.colIndex() : b.rowIndex(d);
    kernel::Expr inside =
        b.lt(rows.globalIndex(layoutAttr, d, local), b.constI64(wholeShape[d]));
    valid = valid ? b.logicalAnd(*valid, inside) : inside;
  }
  return valid;
}

/// Size of the whole dimensions that `layout` splits; 0 for those it does not.
static SmallVector<int64_t> wholeSizes(const layout::Layout &layout) {
  SmallVector<int64_t> sizes;
  for (const layout::DimLayout &dim : layout.dims)
    sizes.push_back(dim.empty() ? 0 : layout::wholeSize(dim));
  return sizes;
}

void MaskPaddingOp::lowerToRows(RowLowering &rows) {
  kernel::RowKernelBuilder &b = rows.builder();
  kernel::Expr x = rows.full(getInput());
  SmallVector<int64_t> whole = wholeSizes(getLayout().getLayout());
  if (auto valid = notPadding(rows, getLayout(), whole))
    x = b.select(*valid, x, rows.constantLike(x, getFill().convertToDouble()));
  rows.setFull(getResult(), x);
}

static bool splitsPaddedColumns(LocalSliceOp op) {
  layout::Layout layout = op.getLayout().getLayout();
  return op.getDim() + 1 == layout.dims.size() && layout.isPadded(op.getDim());
}

SmallVector<int64_t> LocalSliceOp::getSpace() {
  SmallVector<int64_t> space(
      cast<RankedTensorType>(getResult().getType()).getShape());
  // What is padding differs by row only: then columns are rows, too.
  if (splitsPaddedColumns(*this))
    space.push_back(1);
  return space;
}

void LocalSliceOp::lowerToRows(RowLowering &rows) {
  // Row r of the block is row start + r of the whole; the start depends on the
  // rank, so the whole is read through an index.
  kernel::RowKernelBuilder &b = rows.builder();
  auto whole = cast<RankedTensorType>(getInput().getType()).getShape();
  unsigned dim = getDim();
  int64_t stride = ShapedType::getNumElements(whole.drop_front(dim + 1));
  kernel::Arg arg;
  unsigned rowDims = getSpace().size() - 1;
  arg.rowStrides.resize(rowDims);
  if (getSpace().back() == 1)
    arg.colStride = 0;
  int64_t step = 1;
  for (unsigned d = whole.size(); d-- > 0; step *= whole[d])
    if (d < rowDims)
      arg.rowStrides[d] = step;
  int input = rows.argument(getInput(), arg);
  kernel::Expr start = rows.blockStart(getLayout(), dim);
  std::optional<kernel::Expr> valid;
  if (getLayout().getLayout().isPadded(dim))
    valid = b.lt(rows.globalIndex(getLayout(), dim, b.rowIndex(dim)),
                 b.constI64(whole[dim]));
  kernel::Expr element = b.loadRow(input, start, stride, valid);
  if (splitsPaddedColumns(*this))
    rows.setRow(getResult(), element);
  else
    rows.setFull(getResult(), element);
}
