// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory ops of row kernels, on plain pointers.

#include "Memory.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace llvm;
using namespace mlir;

namespace colrow::kernel {

static mlir::Type withElement(mlir::Type shape, mlir::Type element) {
  auto vector = dyn_cast<VectorType>(shape);
  return vector ? vector.clone(element) : element;
}

mlir::Type Memory::pointerType() {
  return LLVM::LLVMPointerType::get(b.getContext());
}

Value Memory::i64(int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value Memory::advance(Value pointer, Elem elem, Value count) {
  return LLVM::GEPOp::create(b, pointerType(), storedType(elem), pointer,
                             ArrayRef<LLVM::GEPArg>{count});
}

Value Memory::advance(Value pointer, Elem elem, int64_t count) {
  return count == 0 ? pointer : advance(pointer, elem, i64(count));
}

Value Memory::listedPointer(Value list, unsigned k) {
  Value slot = LLVM::GEPOp::create(b, pointerType(), pointerType(), list,
                                   ArrayRef<LLVM::GEPArg>{int32_t(k)});
  return LLVM::LoadOp::create(b, pointerType(), slot, /*alignment=*/8);
}

Value Memory::listedInteger(Value list, unsigned k) {
  Value slot = LLVM::GEPOp::create(b, pointerType(), b.getI64Type(), list,
                                   ArrayRef<LLVM::GEPArg>{int32_t(k)});
  return LLVM::LoadOp::create(b, b.getI64Type(), slot, /*alignment=*/8);
}

Value Memory::reserve(mlir::Type element, int64_t count) {
  auto array = LLVM::LLVMArrayType::get(element, count);
  return LLVM::AllocaOp::create(b, pointerType(), array, i64(1),
                                /*alignment=*/64);
}

Value Memory::allLanes(unsigned lanes) {
  return values.constant(Type::I1, lanes, 1);
}

/// What lies in memory. The bits of bf16 are moved as integers, which every
/// target can mask, gather and shift.
mlir::Type Memory::storedType(Elem elem) {
  switch (elem) {
  case Elem::BF16:
    return b.getI16Type();
  case Elem::I1:
    return b.getI8Type();
  default:
    return values.elementType(valueType(elem));
  }
}

Value Memory::fromStored(Elem elem, Value stored) {
  mlir::Type shape = stored.getType();
  if (elem == Elem::BF16) {
    Value narrow = arith::BitcastOp::create(
        b, withElement(shape, b.getBF16Type()), stored);
    return arith::ExtFOp::create(b, withElement(shape, b.getF32Type()), narrow);
  }
  if (elem == Elem::I1) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(shape));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stored, zero);
  }
  return stored;
}

Value Memory::toStored(Elem elem, Value value) {
  mlir::Type shape = value.getType(),
             type = withElement(shape, storedType(elem));
  if (elem == Elem::BF16) {
    Value narrow =
        arith::TruncFOp::create(b, withElement(shape, b.getBF16Type()), value);
    return arith::BitcastOp::create(b, type, narrow);
  }
  return elem == Elem::I1 ? arith::ExtUIOp::create(b, type, value) : value;
}

Value Memory::lanePointers(Elem elem, const Place &place) {
  SmallVector<int64_t> offsets;
  for (unsigned lane = 0; lane < place.lanes; ++lane)
    offsets.push_back(int64_t(lane) * place.stride);
  auto vectorType = VectorType::get(place.lanes, b.getI64Type());
  Value offset = arith::ConstantOp::create(
      b, DenseElementsAttr::get(vectorType, ArrayRef<int64_t>(offsets)));
  return LLVM::GEPOp::create(b, VectorType::get(place.lanes, pointerType()),
                             storedType(elem), place.pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value Memory::load(Elem elem, const Place &place) {
  return fromStored(elem, loadStored(elem, place));
}

void Memory::store(Value value, Elem elem, const Place &place) {
  storeStored(toStored(elem, value), elem, place);
}

Value Memory::loadStored(Elem elem, const Place &place) {
  unsigned alignment = elemBytes(elem);
  mlir::Type element = storedType(elem);
  if (place.lanes == 0 && !place.mask)
    return LLVM::LoadOp::create(b, element, place.pointer, alignment);
  if (place.lanes == 0) {
    Place one{place.pointer, 1, 1, values.broadcast(place.mask, 1)};
    return vector::ExtractOp::create(b, loadStored(elem, one), int64_t(0));
  }
  mlir::Type result = VectorType::get(place.lanes, element);
  if (isContiguous(place) && !place.mask)
    return LLVM::LoadOp::create(b, result, place.pointer, alignment);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(result));
  if (isContiguous(place))
    return LLVM::MaskedLoadOp::create(b, result, place.pointer, place.mask,
                                      zero, alignment);
  Value mask = place.mask ? place.mask : allLanes(place.lanes);
  return LLVM::masked_gather::create(b, result, lanePointers(elem, place), mask,
                                     ValueRange{zero}, alignment);
}

void Memory::storeStored(Value stored, Elem elem, const Place &place) {
  unsigned alignment = elemBytes(elem);
  if (place.lanes == 0 && place.mask) {
    Place one{place.pointer, 1, 1, values.broadcast(place.mask, 1)};
    return storeStored(values.broadcast(stored, 1), elem, one);
  }
  if (!place.mask && (place.lanes == 0 || isContiguous(place))) {
    LLVM::StoreOp::create(b, stored, place.pointer, alignment);
    return;
  }
  if (isContiguous(place)) {
    LLVM::MaskedStoreOp::create(b, stored, place.pointer, place.mask,
                                alignment);
    return;
  }
  Value mask = place.mask ? place.mask : allLanes(place.lanes);
  LLVM::masked_scatter::create(b, stored, lanePointers(elem, place), mask,
                               alignment);
}

} // namespace colrow::kernel
