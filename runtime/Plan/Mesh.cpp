// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks and their coordinates: rank = ((c0 * s1) + c1) * s2 + ...

#include "colrow/runtime/Plan/Mesh.h"
#include <string>

using namespace llvm;

namespace colrow::runtime {

Mesh::Mesh(const plan::Plan &plan) {
  if (!plan.mesh())
    return;
  for (const plan::MeshAxis *axis : *plan.mesh()) {
    sizes.push_back(axis->size());
    names.push_back(textOf(axis->name()));
  }
}

unsigned Mesh::ranks() const {
  unsigned product = 1;
  for (unsigned size : sizes)
    product *= size;
  return product;
}

SmallVector<unsigned, maxMeshAxes> Mesh::coordinates(unsigned rank) const {
  SmallVector<unsigned, maxMeshAxes> result(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    result[axis] = rank % sizes[axis];
    rank /= sizes[axis];
  }
  return result;
}

unsigned Mesh::groupSize(ArrayRef<uint8_t> axes) const {
  unsigned product = 1;
  for (uint8_t axis : axes)
    product *= sizes[axis];
  return product;
}

unsigned Mesh::memberIndex(unsigned rank, ArrayRef<uint8_t> axes) const {
  auto coords = coordinates(rank);
  unsigned index = 0;
  for (uint8_t axis : axes)
    index = index * sizes[axis] + coords[axis];
  return index;
}

unsigned Mesh::leader(unsigned rank, ArrayRef<uint8_t> axes) const {
  auto coords = coordinates(rank);
  for (uint8_t axis : axes)
    coords[axis] = 0;
  unsigned result = 0;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    result = result * sizes[axis] + coords[axis];
  return result;
}

std::string Mesh::text() const {
  std::string result;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    result += (axis ? "," : "") + names[axis].str() + "=" +
              std::to_string(sizes[axis]);
  return result;
}

std::string Mesh::axisNames(ArrayRef<uint8_t> axes) const {
  std::string result;
  for (uint8_t axis : axes)
    result += (result.empty() ? "" : ",") + names[axis].str();
  return result;
}

} // namespace colrow::runtime
