// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands and results of ops inside a row kernel.

#include "colrow/dialects/TP/RowLowering.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using kernel::Expr;

static kernel::Elem elemOf(Value value) {
  Type type = cast<RankedTensorType>(value.getType()).getElementType();
  if (isa<FloatType>(type))
    return type.isBF16() ? kernel::Elem::BF16 : kernel::Elem::F32;
  if (type.isInteger(1))
    return kernel::Elem::I1;
  return type.isInteger(64) ? kernel::Elem::I64 : kernel::Elem::I32;
}

SmallVector<int64_t> colrow::tp::detail::largestShape(Operation *op) {
  ArrayRef<int64_t> best;
  int64_t most = -1;
  auto consider = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    // Of equally large shapes the one with more dimensions: a sum over a
    // leading dimension of 1 runs over what it sums.
    if (type.getNumElements() < most ||
        (type.getNumElements() == most &&
         type.getRank() <= int64_t(best.size())))
      return;
    most = type.getNumElements();
    best = type.getShape();
  };
  llvm::for_each(op->getResults(), consider);
  llvm::for_each(op->getOperands(), consider);
  if (best.empty())
    return {1};
  return SmallVector<int64_t>(best);
}

RowLowering::RowLowering(ArrayRef<int64_t> space,
                         llvm::function_ref<bool(Value)> escapes)
    : space(space), escapes(escapes), rows(space.drop_back(), space.back()) {}

/// Strides of a value with `shape` in `space`: dense, over the dimensions that
/// `access` says it has.
static kernel::Arg strided(ArrayRef<int64_t> space, ArrayRef<int64_t> shape,
                           Access access) {
  kernel::Arg arg;
  arg.rowStrides.assign(space.size() - 1, 0);
  arg.colStride = 0;
  size_t first = access == Access::Row ? 0 : space.size() - shape.size();
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0; step *= shape[i]) {
    size_t d = first + i;
    (d + 1 == space.size() ? arg.colStride : arg.rowStrides[d]) = step;
  }
  return arg;
}

llvm::Expected<kernel::RowKernel> RowLowering::finish() {
  if (!misuse.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(), misuse);
  return rows.finish();
}

/// A value must have the shape that its access says, or memory beside it would
/// be touched.
void RowLowering::checkShape(Value value, Access access) {
  ArrayRef<int64_t> shape = shapeOf(value), whole = space;
  bool fits = access == Access::Full  ? shape == whole
              : access == Access::Row ? shape == whole.drop_back()
              : access == Access::Scalar
                  ? shape.empty()
                  : shape.size() <= whole.size() &&
                        whole.take_back(shape.size()) == shape;
  if (!fits && misuse.empty())
    misuse = "a value does not have the shape of the rows it is used in";
}

int RowLowering::argumentFor(Value value, Access access, bool written,
                             bool zeroFirst) {
  checkShape(value, access);
  kernel::Arg arg = access == Access::Scalar || !misuse.empty()
                        ? strided(space, {}, Access::Trailing)
                        : strided(space, shapeOf(value), access);
  arg.elem = elemOf(value);
  if (written)
    arg.access = zeroFirst ? kernel::Access::Accumulate : kernel::Access::Write;
  uses.push_back({value, access, written});
  arguments.push_back({value, written, zeroFirst, std::nullopt});
  return rows.arg(arg);
}

Expr RowLowering::get(Value value, Access access) {
  if (auto it = computed.find(value); it != computed.end()) {
    uses.push_back({value, access, false});
    return it->second;
  }
  if (sums.contains(value) && misuse.empty())
    misuse = "a sum is read in the kernel that makes it";
  auto [it, isNew] = loaded.try_emplace({value, unsigned(access)}, 0);
  if (isNew)
    it->second = argumentFor(value, access, /*written=*/false);
  return rows.load(it->second);
}

Expr RowLowering::constantLike(Expr x, double number) {
  switch (rows.typeOf(x)) {
  case kernel::Type::I64:
    return rows.constI64(int64_t(number));
  case kernel::Type::I32:
    return rows.constI32(int32_t(number));
  default:
    return rows.constF32(float(number));
  }
}

void RowLowering::setFull(Value result, Expr value) {
  computed[result] = value;
  if (escapes(result))
    rows.store(argumentFor(result, Access::Full, true), value);
  else
    uses.push_back({result, Access::Full, true});
}

void RowLowering::setRow(Value result, Expr value) {
  computed[result] = value;
  if (escapes(result))
    rows.store(argumentFor(result, Access::Row, true), value);
  else
    uses.push_back({result, Access::Row, true});
}

void RowLowering::setScalar(Value result, Expr value) {
  computed[result] = value;
  if (escapes(result))
    rows.store(argumentFor(result, Access::Scalar, true), value);
  else
    uses.push_back({result, Access::Scalar, true});
}

/// A sum is ready only when the kernel ends, so no op of it may read the sum.
void RowLowering::noteSum(Value result) {
  uses.back().access = Access::Other;
  sums.insert(result);
}

void RowLowering::setTrailingSum(Value result, Expr value) {
  size_t rank = shapeOf(result).size();
  if (!escapes(result)) {
    uses.push_back({result, Access::Other, true});
    return;
  }
  if (rank == space.size()) { // nothing is summed
    setFull(result, value);
    return;
  }
  if (rank == 1)
    rows.colSum(argumentFor(result, Access::Trailing, true), value);
  else
    rows.store(argumentFor(result, Access::Trailing, true, /*zeroFirst=*/true),
               value);
  keepLost(result);
  noteSum(result);
}

void RowLowering::setScalarSum(Value result, Expr value) {
  if (!escapes(result)) {
    uses.push_back({result, Access::Other, true});
    return;
  }
  rows.totalSum(argumentFor(result, Access::Scalar, true), value);
  noteSum(result);
}

kernel::Arg RowLowering::elementArg(int64_t k) const {
  kernel::Arg arg = strided(space, {}, Access::Trailing);
  arg.offset = k;
  return arg;
}

Expr RowLowering::element(Value value, int64_t k) {
  return rows.load(argument(value, elementArg(k)));
}

void RowLowering::setElementSum(Value result, int64_t k, Expr value) {
  rows.totalSum(argument(result, elementArg(k), /*written=*/true), value);
  sums.insert(result);
}

/// Of few terms nothing is lost that matters.
void RowLowering::keepLost(Value result) {
  ArrayRef<int64_t> shape = shapeOf(result);
  int64_t elements = ShapedType::getNumElements(shape);
  if (ShapedType::getNumElements(space) / elements <= kernel::sumBlock)
    return;
  keepLostIn(strided(space, shape, Access::Trailing),
             kernel::sumScratch(elements));
}

void RowLowering::keepLostOfScatter(int64_t tableRows) {
  int64_t cols = space.back(), terms = ShapedType::getNumElements(space) / cols;
  if (terms > kernel::sumBlock)
    keepLostIn(strided(space, {}, Access::Trailing),
               kernel::scatterScratch(terms, cols, tableRows));
}

void RowLowering::keepLostIn(kernel::Arg arg, int64_t elements) {
  arg.access = kernel::Access::Accumulate;
  RowArgument scratch;
  scratch.written = scratch.zeroFirst = true;
  scratch.scratch = elements;
  arguments.push_back(std::move(scratch));
  rows.keepLost(rows.arg(arg));
}

int RowLowering::argument(Value value, kernel::Arg arg, bool written,
                          bool zeroFirst) {
  arg.elem = elemOf(value);
  if (written)
    arg.access = zeroFirst ? kernel::Access::Accumulate : kernel::Access::Write;
  uses.push_back({value, Access::Other, written});
  arguments.push_back({value, written, zeroFirst, std::nullopt});
  return rows.arg(arg);
}

int RowLowering::constantTable(ConstantTable table, kernel::Arg arg) {
  RowArgument argument;
  argument.constant.emplace(std::move(table));
  arguments.push_back(std::move(argument));
  return rows.arg(arg);
}

Expr RowLowering::scalarBlock(int64_t byte, kernel::Elem elem) {
  auto [it, isNew] = scalars.try_emplace(byte, 0);
  if (isNew) {
    kernel::Arg arg = strided(space, {}, Access::Trailing);
    arg.elem = elem;
    arg.offset = byte / kernel::elemBytes(elem);
    it->second = rows.arg(arg);
    arguments.push_back({});
  }
  return rows.load(it->second);
}

int64_t tp::wholeSize(LayoutAttr layoutAttr, unsigned dim, int64_t local) {
  layout::Layout layout = layoutAttr.getLayout();
  return layout.dims[dim].empty() ? local : layout::wholeSize(layout.dims[dim]);
}

Expr RowLowering::blockStart(LayoutAttr layout, unsigned dim) {
  Expr start = rows.constI64(0);
  auto steps = layout::blockStart(layout.getLayout().dims[dim],
                                  layout.getMesh().getMesh());
  for (auto [axis, step] : llvm::enumerate(steps))
    if (step)
      start = start + coordinate(axis) * rows.constI64(step);
  return start;
}

Expr RowLowering::globalIndex(LayoutAttr layout, unsigned dim, Expr local) {
  // Blocks of a dimension whose major factor is split are contiguous.
  return rows.add(blockStart(layout, dim), local);
}
