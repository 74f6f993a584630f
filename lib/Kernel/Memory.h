// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores of scalars and of vectors along a column stride.

#ifndef COLROW_LIB_KERNEL_MEMORY_H
#define COLROW_LIB_KERNEL_MEMORY_H

#include "ValueBuilder.h"

namespace colrow::kernel {

/// Where a load or store goes: `pointer` is the first element's address, lanes
/// are `stride` elements apart (0 lanes: one scalar). Elements whose `mask` bit
/// is false (i1 for a scalar; null: none) are not touched and load as 0.
struct Place {
  explicit Place(mlir::Value pointer, int64_t stride = 1, unsigned lanes = 0,
                 mlir::Value mask = {})
      : pointer(pointer), stride(stride), lanes(lanes), mask(mask) {}

  mlir::Value pointer;
  int64_t stride;
  unsigned lanes;
  mlir::Value mask;
};

/// Emits memory ops. Only the alignment of an element is assumed, unless a
/// store is non-temporal, which needs whole 64-byte lines.
class Memory {
public:
  Memory(mlir::ImplicitLocOpBuilder &b, ValueBuilder &values)
      : b(b), values(values) {}

  mlir::Type pointerType();
  mlir::Value i64(int64_t value);
  /// `pointer` advanced by `count` elements.
  mlir::Value advance(mlir::Value pointer, Elem elem, mlir::Value count);
  mlir::Value advance(mlir::Value pointer, Elem elem, int64_t count);
  /// The k-th pointer or integer of a call's list.
  mlir::Value listedPointer(mlir::Value list, unsigned k);
  mlir::Value listedInteger(mlir::Value list, unsigned k);
  /// Stack memory for `count` elements, 64-byte aligned.
  mlir::Value reserve(mlir::Type element, int64_t count);

  /// Values of type valueType(elem).
  mlir::Value load(Elem elem, const Place &place);
  void store(mlir::Value value, Elem elem, const Place &place);

private:
  bool isContiguous(const Place &place) const { return place.stride == 1; }
  mlir::Value allLanes(unsigned lanes);
  mlir::Value lanePointers(Elem elem, const Place &place);
  mlir::Type storedType(Elem elem);
  mlir::Value loadStored(Elem elem, const Place &place);
  void storeStored(mlir::Value stored, Elem elem, const Place &place);
  mlir::Value widen(mlir::Value narrow);
  mlir::Value narrow(mlir::Value wide);
  mlir::Value upperHalves(mlir::Value words);
  mlir::Value fromStored(Elem elem, mlir::Value stored);
  mlir::Value toStored(Elem elem, mlir::Value value);

  mlir::ImplicitLocOpBuilder &b;
  ValueBuilder &values;
};

} // namespace colrow::kernel

#endif // COLROW_LIB_KERNEL_MEMORY_H
