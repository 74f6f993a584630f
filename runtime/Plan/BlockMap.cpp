// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of local to whole indices, one a dimension.

#include "colrow/runtime/Plan/BlockMap.h"

using namespace llvm;

namespace colrow::runtime {

namespace {
struct FactorBlock {
  int64_t size, local, start;
};
} // namespace

static int64_t wholeIndex(ArrayRef<FactorBlock> factors, int64_t local) {
  int64_t whole = 0, scale = 1;
  for (const FactorBlock &factor : reverse(factors)) {
    int64_t index = factor.start + local % factor.local;
    local /= factor.local;
    if (index >= factor.size)
      return -1;
    whole += index * scale;
    scale *= factor.size;
  }
  return whole;
}

BlockMap::BlockMap(ArrayRef<int64_t> shape, const DimList *dims,
                   const Mesh &mesh, unsigned rank, unsigned first) {
  SmallVector<bool, maxMeshAxes> used(mesh.sizes.size(), false);
  for (size_t d = 0; d < shape.size(); ++d) {
    SmallVector<FactorBlock, 4> factors;
    Dimension dimension;
    dimension.whole = shape[d];
    if (dims)
      for (const plan::Factor *factor : *dims->Get(d)->factors()) {
        ArrayRef<uint8_t> axes = listOf(factor->axes());
        int64_t local = factor->padded() / mesh.groupSize(axes);
        factors.push_back(
            {factor->size(), local, local * mesh.memberIndex(rank, axes)});
        for (uint8_t axis : axes)
          used[axis] = true;
      }
    else
      factors.push_back({shape[d], shape[d], 0});
    for (const FactorBlock &factor : factors)
      dimension.local *= factor.local;
    dimension.wholeOfLocal.resize(dimension.local);
    for (int64_t i = 0; i < dimension.local; ++i)
      dimension.wholeOfLocal[i] = wholeIndex(factors, i);
    dimensions.push_back(std::move(dimension));
  }
  if (dimensions.empty())
    dimensions.push_back({1, 1, {0}});

  const std::vector<int64_t> &last = dimensions.back().wholeOfLocal;
  for (int64_t i = 0, n = last.size(); i < n; ++i) {
    if (last[i] < 0)
      continue;
    if (!lastRuns.empty() &&
        lastRuns.back().local + lastRuns.back().count == i &&
        lastRuns.back().whole + lastRuns.back().count == last[i])
      ++lastRuns.back().count;
    else
      lastRuns.push_back({i, last[i], 1});
  }
  auto coords = mesh.coordinates(rank), least = mesh.coordinates(first);
  for (size_t axis = 0; axis < coords.size(); ++axis)
    firstCopy &= used[axis] || coords[axis] == least[axis];
}

int64_t BlockMap::localElements() const {
  int64_t product = 1;
  for (const Dimension &dimension : dimensions)
    product *= dimension.local;
  return product;
}

} // namespace colrow::runtime
