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

/// 0 of a scalar.
static unsigned lanesOf(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.getNumElements() : 0;
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

// Conversions of bf16 are integer arithmetic, the same bits on every target:
// instructions for bf16 differ in what they do with denormals, and where there
// are none LLVM calls a library.

/// f32 of the bits of bf16: exact.
Value Memory::widen(Value narrow) {
  auto shape = [&](mlir::Type element) {
    return withElement(narrow.getType(), element);
  };
  Value bits = arith::ExtUIOp::create(b, shape(b.getI32Type()), narrow);
  Value by = values.constant(Type::I32, lanesOf(narrow), 16);
  return arith::BitcastOp::create(b, shape(b.getF32Type()),
                                  arith::ShLIOp::create(b, bits, by));
}

/// The bits of bf16 nearest to an f32, ties to even; a NaN stays one.
Value Memory::narrow(Value wide) {
  unsigned lanes = lanesOf(wide);
  auto constant = [&](int64_t bits) {
    return values.constant(Type::I32, lanes, bits);
  };
  mlir::Type words = withElement(wide.getType(), b.getI32Type());
  Value bits = arith::BitcastOp::create(b, words, wide);
  Value high = arith::ShRUIOp::create(b, bits, constant(16));
  Value odd = arith::AndIOp::create(b, high, constant(1));
  Value half = arith::AddIOp::create(b, bits, constant(0x7fff));
  Value rounded = arith::AddIOp::create(b, half, odd);
  Value quiet = arith::OrIOp::create(b, bits, constant(0x400000));
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, wide, wide);
  return upperHalves(values.select(isNan, quiet, rounded));
}

/// Of i32, as i16. Of vectors by picking every other half, which is one
/// instruction where shifts and truncations are several.
Value Memory::upperHalves(Value words) {
  unsigned lanes = lanesOf(words);
  if (lanes == 0) {
    Value high =
        arith::ShRUIOp::create(b, words, values.constant(Type::I32, 0, 16));
    return arith::TruncIOp::create(b, b.getI16Type(), high);
  }
  Value halves = vector::BitCastOp::create(
      b, VectorType::get(2 * lanes, b.getI16Type()), words);
  SmallVector<int64_t> odd;
  for (unsigned lane = 0; lane < lanes; ++lane)
    odd.push_back(2 * lane + 1);
  return vector::ShuffleOp::create(b, halves, halves, odd);
}

Value Memory::fromStored(Elem elem, Value stored) {
  if (elem == Elem::BF16)
    return widen(stored);
  if (elem == Elem::I1) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(stored.getType()));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stored, zero);
  }
  return stored;
}

Value Memory::toStored(Elem elem, Value value) {
  if (elem == Elem::BF16)
    return narrow(value);
  mlir::Type type = withElement(value.getType(), storedType(elem));
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
