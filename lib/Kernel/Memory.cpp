// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory ops of row kernels, on plain pointers.

#include "Memory.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace llvm;
using namespace mlir;

namespace colrow::kernel {

static unsigned byteSize(Type type) { return type == Type::I64 ? 8 : 4; }

mlir::Type Memory::pointerType() {
  return LLVM::LLVMPointerType::get(b.getContext());
}

Value Memory::i64(int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value Memory::advance(Value pointer, Type type, Value count) {
  return LLVM::GEPOp::create(b, pointerType(), values.elementType(type),
                             pointer, ArrayRef<LLVM::GEPArg>{count});
}

Value Memory::advance(Value pointer, Type type, int64_t count) {
  return count == 0 ? pointer : advance(pointer, type, i64(count));
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

Value Memory::lanePointers(Type type, const Place &place) {
  SmallVector<int64_t> offsets;
  for (unsigned lane = 0; lane < place.lanes; ++lane)
    offsets.push_back(int64_t(lane) * place.stride);
  auto vectorType = VectorType::get(place.lanes, b.getI64Type());
  Value offset = arith::ConstantOp::create(
      b, DenseElementsAttr::get(vectorType, ArrayRef<int64_t>(offsets)));
  return LLVM::GEPOp::create(b, VectorType::get(place.lanes, pointerType()),
                             values.elementType(type), place.pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value Memory::load(Type type, const Place &place) {
  unsigned alignment = byteSize(type);
  if (place.lanes == 0 && !place.mask)
    return LLVM::LoadOp::create(b, values.elementType(type), place.pointer,
                                alignment);
  if (place.lanes == 0) {
    Place one{place.pointer, 1, 1, values.broadcast(place.mask, 1)};
    return vector::ExtractOp::create(b, load(type, one), int64_t(0));
  }
  mlir::Type result = values.shapedType(type, place.lanes);
  if (isContiguous(place) && !place.mask)
    return LLVM::LoadOp::create(b, result, place.pointer, alignment);
  Value zero = values.constant(type, place.lanes, 0);
  if (isContiguous(place))
    return LLVM::MaskedLoadOp::create(b, result, place.pointer, place.mask,
                                      zero, alignment);
  Value mask = place.mask ? place.mask : allLanes(place.lanes);
  return LLVM::masked_gather::create(b, result, lanePointers(type, place), mask,
                                     ValueRange{zero}, alignment);
}

void Memory::store(Value value, Type type, const Place &place,
                   bool nontemporal) {
  unsigned alignment = byteSize(type);
  if (place.lanes == 0 && place.mask) {
    Place one{place.pointer, 1, 1, values.broadcast(place.mask, 1)};
    return store(values.broadcast(value, 1), type, one);
  }
  if (!place.mask && (place.lanes == 0 || isContiguous(place))) {
    LLVM::StoreOp::create(b, value, place.pointer, nontemporal ? 64 : alignment,
                          /*isVolatile=*/false, nontemporal);
    return;
  }
  if (isContiguous(place)) {
    LLVM::MaskedStoreOp::create(b, value, place.pointer, place.mask, alignment);
    return;
  }
  Value mask = place.mask ? place.mask : allLanes(place.lanes);
  LLVM::masked_scatter::create(b, value, lanePointers(type, place), mask,
                               alignment);
}

void Memory::fence() {
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::seq_cst);
}

} // namespace colrow::kernel
