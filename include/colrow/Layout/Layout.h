// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout algebra: meshes, the states R, C, S and P of a value on each mesh
// axis, factor blocks with padding (docs/layouts.md). Plain structs, no MLIR.

#ifndef COLROW_LAYOUT_LAYOUT_H
#define COLROW_LAYOUT_LAYOUT_H

#include "colrow/runtime/Plan/PlanLimits.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace colrow::layout {

/// The most ranks of one axis, and axes of a mesh: what a plan can hold.
inline constexpr int64_t maxAxisSize = runtime::maxMeshRanks;
inline constexpr unsigned maxAxes = runtime::maxMeshAxes;
/// The most elements of one tensor: byte counts stay far from overflow.
inline constexpr uint64_t maxElements = uint64_t(1) << 46;

/// What an axis may split: token factors (batch) or feature factors.
enum class AxisRole { Feature, Batch };

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  AxisRole role = AxisRole::Feature;

  bool operator==(const MeshAxis &o) const {
    return name == o.name && size == o.size && role == o.role;
  }
};

/// Named axes, outermost first; the last axis is innermost (neighbouring
/// ranks).
struct Mesh {
  llvm::SmallVector<MeshAxis, 2> axes;

  int64_t ranks() const;
  /// Index of the axis called `name`, or nullopt.
  std::optional<unsigned> find(llvm::StringRef name) const;
  /// Ranks of a group over `axes`, and the distance between neighbours in it:
  /// the ranks of the axes inside the innermost one.
  int64_t groupSize(llvm::ArrayRef<unsigned> axes) const;
  int64_t stride(llvm::ArrayRef<unsigned> axes) const;

  /// Parses the command-line form `dp:batch=2,tp=4`. `dp` is a batch axis by
  /// default, every other name a feature axis.
  static llvm::Expected<Mesh> parse(llvm::StringRef text);
};

/// A factor of a dimension: `size` units, padded to `padded`, in equal blocks
/// over `axes` (indices into the mesh, major to minor).
struct Factor {
  int64_t size = 1;
  int64_t padded = 1;
  llvm::SmallVector<unsigned, 1> axes;

  bool operator==(const Factor &o) const {
    return size == o.size && padded == o.padded && axes == o.axes;
  }
};

/// Factors of one dimension, major to minor. Empty means not split: the whole
/// dimension on every rank. Canonical form (see canonicalize) makes equal
/// layouts equal.
using DimLayout = llvm::SmallVector<Factor, 1>;

enum class StateKind : uint8_t {
  Replicated, ///< R: whole tensor, whole gradient
  Copied,     ///< C: whole tensor, a share of the gradient
  Split,      ///< S(dim): one block
  Partial,    ///< P: one summand
  PartialMax  ///< one operand of a maximum; only inside an op's decomposition
};

/// State of a value on one axis; `dim` is meant for Split only.
struct State {
  StateKind kind = StateKind::Replicated;
  unsigned dim = 0;

  static State R() { return {StateKind::Replicated, 0}; }
  static State C() { return {StateKind::Copied, 0}; }
  static State P() { return {StateKind::Partial, 0}; }
  static State S(unsigned dim) { return {StateKind::Split, dim}; }
  bool isSplit() const { return kind == StateKind::Split; }
  bool operator==(const State &o) const {
    return kind == o.kind && (kind != StateKind::Split || dim == o.dim);
  }
  bool operator!=(const State &o) const { return !(*this == o); }
  /// State of the gradient of a value in this state: R-R, C-P, S-S, P-C.
  State dual() const;
  /// "R", "C", "P", "S(1)".
  std::string str() const;
};

/// How one tensor lies on a mesh: split dimensions, and the axes on which it
/// is copied or partial. On every other axis it is replicated.
struct Layout {
  llvm::SmallVector<DimLayout, 4> dims;
  llvm::SmallVector<unsigned, 1> copied, partial, partialMax;

  explicit Layout(unsigned rank = 0) : dims(rank) {}
  bool operator==(const Layout &o) const {
    return dims == o.dims && copied == o.copied && partial == o.partial &&
           partialMax == o.partialMax;
  }
  bool operator!=(const Layout &o) const { return !(*this == o); }

  State state(unsigned axis) const;
  /// The layout with another state on `axis`, one that is not split.
  Layout withState(unsigned axis, State state) const;
  /// Layout of the gradient: C and P change places.
  Layout dual() const;
  /// Folds trailing unsplit factors into the factor before them and drops
  /// lists that split nothing.
  void canonicalize();
  /// Checks each factor by itself: sizes, padding, and that every list splits
  /// something. To be called before canonicalize() on what a user wrote, since
  /// folding would hide blocks that end inside a unit.
  llvm::Error verifyFactors(const Mesh &mesh) const;
  /// Checks against `shape` and `mesh`: products of factors, padding that the
  /// axes divide, no axis twice.
  llvm::Error verify(llvm::ArrayRef<int64_t> shape, const Mesh &mesh) const;
  /// Shape of one rank's block, padding included.
  llvm::SmallVector<int64_t> localShape(llvm::ArrayRef<int64_t> shape,
                                        const Mesh &mesh) const;
  /// True if dimension `dim` of a tensor with `shape` holds padding.
  bool isPadded(unsigned dim) const;
};

/// Elements of the whole dimension that `dim` splits; 1 if it splits nothing.
int64_t wholeSize(const DimLayout &dim);

/// Where a rank's block of a dimension begins, in its elements: the sum of the
/// rank's coordinate on each mesh axis times this list's entry. For dimensions
/// with at most one split factor, whose blocks are contiguous.
llvm::SmallVector<int64_t> blockStart(const DimLayout &dim, const Mesh &mesh);

/// Splits dimension `dim` of size `size` over `axis`: `units` indivisible
/// blocks (heads, say) are padded to a multiple of the axis and dealt evenly.
DimLayout splitDim(int64_t size, int64_t units, unsigned axis,
                   const Mesh &mesh);

} // namespace colrow::layout

#endif // COLROW_LAYOUT_LAYOUT_H
