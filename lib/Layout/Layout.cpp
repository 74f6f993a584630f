// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meshes, states, and layouts: canonical form, duals, checks.

#include "colrow/Layout/Layout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace colrow::layout;
using llvm::ArrayRef;
using llvm::formatv;
using llvm::StringRef;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

int64_t Mesh::ranks() const {
  int64_t n = 1;
  for (const MeshAxis &axis : axes)
    n *= axis.size;
  return n;
}

int64_t colrow::layout::wholeSize(const DimLayout &dim) {
  int64_t size = 1;
  for (const Factor &factor : dim)
    size *= factor.size;
  return size;
}

std::optional<unsigned> Mesh::find(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(axes))
    if (axis.name == name)
      return i;
  return std::nullopt;
}

int64_t Mesh::groupSize(ArrayRef<unsigned> group) const {
  int64_t n = 1;
  for (unsigned axis : group)
    n *= axes[axis].size;
  return n;
}

int64_t Mesh::stride(ArrayRef<unsigned> group) const {
  int64_t n = 1;
  for (unsigned i = axes.size(); i-- > 0 && !llvm::is_contained(group, i);)
    n *= axes[i].size;
  return n;
}

/// Parses one `name[:role]=size` of a mesh.
static llvm::Expected<MeshAxis> parseAxis(StringRef text) {
  auto [left, size] = text.split('=');
  auto [name, role] = left.trim().split(':');
  MeshAxis axis;
  axis.name = name.str();
  axis.role = name == "dp" ? AxisRole::Batch : AxisRole::Feature;
  if (!text.contains('=') || name.empty() ||
      !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return fail(formatv("mesh axis '{0}': wanted NAME=SIZE, as in tp=4", text));
  if (role == "batch")
    axis.role = AxisRole::Batch;
  else if (role == "feature")
    axis.role = AxisRole::Feature;
  else if (!role.empty())
    return fail(formatv("mesh axis '{0}': role '{1}' is not one of batch, "
                        "feature",
                        name, role));
  if (size.trim().getAsInteger(10, axis.size) || axis.size < 1 ||
      axis.size > maxAxisSize)
    return fail(formatv("mesh axis '{0}': size '{1}' is not a number from 1 "
                        "to {2}",
                        name, size, maxAxisSize));
  return axis;
}

llvm::Expected<Mesh> Mesh::parse(StringRef text) {
  Mesh mesh;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto axis = parseAxis(part.trim());
    if (!axis)
      return axis.takeError();
    if (mesh.find(axis->name))
      return fail(
          formatv("mesh '{0}': axis '{1}' appears twice", text, axis->name));
    mesh.axes.push_back(*axis);
  }
  if (mesh.axes.size() > maxAxes)
    return fail(formatv("mesh '{0}': at most {1} axes, not {2}", text, maxAxes,
                        mesh.axes.size()));
  return mesh;
}

State State::dual() const {
  switch (kind) {
  case StateKind::Copied:
    return P();
  case StateKind::Partial:
    return C();
  default:
    return *this;
  }
}

std::string State::str() const {
  switch (kind) {
  case StateKind::Replicated:
    return "R";
  case StateKind::Copied:
    return "C";
  case StateKind::Partial:
    return "P";
  case StateKind::PartialMax:
    return "P<max>";
  case StateKind::Split:
    return formatv("S({0})", dim);
  }
  return "?";
}

State Layout::state(unsigned axis) const {
  if (llvm::is_contained(copied, axis))
    return State::C();
  if (llvm::is_contained(partial, axis))
    return State::P();
  if (llvm::is_contained(partialMax, axis))
    return {StateKind::PartialMax, 0};
  for (auto [d, dim] : llvm::enumerate(dims))
    for (const Factor &factor : dim)
      if (llvm::is_contained(factor.axes, axis))
        return State::S(d);
  return State::R();
}

Layout Layout::withState(unsigned axis, State state) const {
  Layout result = *this;
  llvm::erase(result.copied, axis);
  llvm::erase(result.partial, axis);
  llvm::erase(result.partialMax, axis);
  for (DimLayout &dim : result.dims)
    for (Factor &factor : dim)
      if (llvm::is_contained(factor.axes, axis)) {
        llvm::erase(factor.axes, axis);
        if (factor.axes.empty())
          factor.padded = factor.size;
      }
  if (state.kind == StateKind::Copied)
    result.copied.push_back(axis);
  if (state.kind == StateKind::Partial)
    result.partial.push_back(axis);
  if (state.kind == StateKind::PartialMax)
    result.partialMax.push_back(axis);
  return result;
}

Layout Layout::dual() const {
  Layout result = *this;
  std::swap(result.copied, result.partial);
  return result;
}

void Layout::canonicalize() {
  for (DimLayout &dim : dims) {
    while (dim.size() > 1 && dim.back().axes.empty()) {
      Factor tail = dim.pop_back_val();
      dim.back().size *= tail.size;
      dim.back().padded *= tail.size;
    }
    if (dim.size() == 1 && dim.front().axes.empty())
      dim.clear();
  }
  llvm::sort(copied);
  llvm::sort(partial);
  llvm::sort(partialMax);
}

bool Layout::isPadded(unsigned dim) const {
  return llvm::any_of(dims[dim],
                      [](const Factor &f) { return f.padded != f.size; });
}

/// Number of blocks that `factor` is cut into.
static int64_t blocks(const Factor &factor, const Mesh &mesh) {
  return mesh.groupSize(factor.axes);
}

/// Checks the factors of dimension `d`, each by itself.
static llvm::Error verifyFactorsOf(const DimLayout &dim, unsigned d,
                                   const Mesh &mesh) {
  uint64_t padded = 1;
  for (const Factor &factor : dim) {
    if (factor.size < 1 || factor.padded < factor.size)
      return fail(formatv("dimension {0}: factor {1} pad {2} is not a size "
                          "and a padded size that is not smaller",
                          d, factor.size, factor.padded));
    padded = llvm::SaturatingMultiply<uint64_t>(padded, factor.padded);
    if (padded > maxElements)
      return fail(formatv("dimension {0}: its factors make more than 2^46", d));
    if (factor.axes.empty() && factor.padded != factor.size)
      return fail(formatv("dimension {0}: factor {1} is padded to {2} but not "
                          "split; only a split factor is padded",
                          d, factor.size, factor.padded));
    if (factor.padded % blocks(factor, mesh))
      return fail(formatv("dimension {0}: {1} does not divide over {2} ranks; "
                          "pad it to {3}",
                          d, factor.padded, blocks(factor, mesh),
                          llvm::alignTo(factor.padded, blocks(factor, mesh))));
  }
  return llvm::Error::success();
}

llvm::Error Layout::verifyFactors(const Mesh &mesh) const {
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (llvm::Error e = verifyFactorsOf(dim, d, mesh))
      return e;
    if (!dim.empty() &&
        llvm::all_of(dim, [](const Factor &f) { return f.axes.empty(); }))
      return fail(
          formatv("dimension {0}: its factors split nothing; write _", d));
  }
  return llvm::Error::success();
}

/// Checks the factors of dimension `d` of size `size`.
static llvm::Error verifyDim(const DimLayout &dim, unsigned d, int64_t size,
                             const Mesh &mesh) {
  if (llvm::Error e = verifyFactorsOf(dim, d, mesh))
    return e;
  int64_t product = 1;
  for (const Factor &factor : dim)
    product *= factor.size;
  if (!dim.empty() && product != size)
    return fail(formatv("dimension {0}: the factors' product is {1}, but the "
                        "dimension is {2}",
                        d, product, size));
  return llvm::Error::success();
}

llvm::Error Layout::verify(ArrayRef<int64_t> shape, const Mesh &mesh) const {
  if (shape.size() != dims.size())
    return fail(formatv("layout has {0} dimensions, the tensor {1}",
                        dims.size(), shape.size()));
  llvm::SmallVector<unsigned, 4> seen(copied.begin(), copied.end());
  llvm::append_range(seen, partial);
  llvm::append_range(seen, partialMax);
  for (const DimLayout &dim : dims)
    for (const Factor &factor : dim)
      llvm::append_range(seen, factor.axes);
  for (unsigned axis : seen) {
    if (axis >= mesh.axes.size())
      return fail("layout uses an axis that its mesh does not have");
    if (llvm::count(seen, axis) > 1)
      return fail(formatv("axis '{0}' is used twice in one layout",
                          mesh.axes[axis].name));
  }
  for (auto [d, dim] : llvm::enumerate(dims))
    if (llvm::Error e = verifyDim(dim, d, shape[d], mesh))
      return e;
  return llvm::Error::success();
}

llvm::SmallVector<int64_t> Layout::localShape(ArrayRef<int64_t> shape,
                                              const Mesh &mesh) const {
  llvm::SmallVector<int64_t> local(shape);
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (dim.empty())
      continue;
    local[d] = 1;
    for (const Factor &factor : dim)
      local[d] *= factor.padded / blocks(factor, mesh);
  }
  return local;
}

llvm::SmallVector<int64_t> colrow::layout::blockStart(const DimLayout &dim,
                                                      const Mesh &mesh) {
  llvm::SmallVector<int64_t> perCoordinate(mesh.axes.size(), 0);
  int64_t inner = 1;
  for (const Factor &factor : llvm::reverse(dim)) {
    if (factor.axes.empty()) {
      inner *= factor.size;
      continue;
    }
    int64_t step = factor.padded / blocks(factor, mesh) * inner;
    for (unsigned axis : llvm::reverse(factor.axes)) {
      perCoordinate[axis] = step;
      step *= mesh.axes[axis].size;
    }
    break;
  }
  return perCoordinate;
}

DimLayout colrow::layout::splitDim(int64_t size, int64_t units, unsigned axis,
                                   const Mesh &mesh) {
  Factor factor;
  int64_t paddedUnits = llvm::alignTo(units, mesh.axes[axis].size);
  factor.size = size;
  factor.padded = size / units * paddedUnits;
  factor.axes.push_back(axis);
  return DimLayout{factor};
}
