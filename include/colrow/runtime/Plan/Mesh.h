// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ranks of a plan as a grid of named axes, the last axis innermost, and
// small views of FlatBuffers' vectors and strings that may be absent.

#ifndef COLROW_RUNTIME_PLAN_MESH_H
#define COLROW_RUNTIME_PLAN_MESH_H

#include "colrow/runtime/Plan/PlanLimits.h"
#include "colrow/runtime/Plan/PlanSchema.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace colrow::runtime {

/// A scalar vector of a table; an absent one is empty. So is one that is not
/// aligned for its type: no writer makes it, only damage.
template <typename T>
llvm::ArrayRef<T> listOf(const flatbuffers::Vector<T> *vector) {
  if (!vector || reinterpret_cast<uintptr_t>(vector->Data()) % alignof(T) != 0)
    return {};
  return llvm::ArrayRef<T>(reinterpret_cast<const T *>(vector->Data()),
                           vector->size());
}

/// A string of a table; an absent one is empty.
inline llvm::StringRef textOf(const flatbuffers::String *string) {
  return string ? llvm::StringRef(string->data(), string->size())
                : llvm::StringRef();
}

struct Mesh {
  llvm::SmallVector<unsigned, maxMeshAxes> sizes;
  llvm::SmallVector<llvm::StringRef, maxMeshAxes> names;

  Mesh() = default;
  /// The mesh of a validated plan, which must outlive it.
  explicit Mesh(const plan::Plan &plan);

  unsigned ranks() const;
  /// Coordinate of `rank` on every axis.
  llvm::SmallVector<unsigned, maxMeshAxes> coordinates(unsigned rank) const;
  /// Product of the sizes of `axes`.
  unsigned groupSize(llvm::ArrayRef<uint8_t> axes) const;
  /// Position of `rank` among the ranks that differ from it on `axes` only,
  /// `axes` from major to minor.
  unsigned memberIndex(unsigned rank, llvm::ArrayRef<uint8_t> axes) const;
  /// The first rank of that group: coordinate 0 on all of `axes`.
  unsigned leader(unsigned rank, llvm::ArrayRef<uint8_t> axes) const;
  /// "dp=2,tp=4".
  std::string text() const;
  /// "tp", or "dp,tp" for several.
  std::string axisNames(llvm::ArrayRef<uint8_t> axes) const;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_PLAN_MESH_H
