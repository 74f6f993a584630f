// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits of the plan's format, and the block of numbers that the host sets:
// what compiler and runtime must agree on beside runtime/Plan/plan.fbs.
// Includes nothing of FlatBuffers, LLVM or MLIR.

#ifndef COLROW_RUNTIME_PLAN_PLANLIMITS_H
#define COLROW_RUNTIME_PLAN_PLANLIMITS_H

#include <cstddef>
#include <cstdint>

namespace colrow::runtime {

/// Most axes that a mesh may have.
constexpr unsigned maxMeshAxes = 8;
/// Most ranks of a mesh, so of an axis too.
constexpr int64_t maxMeshRanks = 65536;
/// Deepest nest of plan.Loop.
constexpr unsigned maxLoopDepth = 4;
/// Buffers, regions and arenas begin at multiples of this many bytes.
constexpr uint64_t bufferAlignment = 64;

/// Region `scalars`, one block a rank, set before a program starts. Kernels
/// read it at the offsets of its members.
struct alignas(bufferAlignment) ScalarBlock {
  float learningRate = 0;
  float bias1 = 1; ///< 1 / (1 - beta1^step)
  float bias2 = 1; ///< 1 / (1 - beta2^step)
  float unused = 0;
  int64_t seed = 0;
  int64_t step = 0;                      ///< from 1
  int64_t coordinates[maxMeshAxes] = {}; ///< of the rank, mesh axis 0 first
};

/// Offset of the coordinate on mesh axis `axis`, in bytes.
constexpr uint64_t coordinateOffset(unsigned axis) {
  return offsetof(ScalarBlock, coordinates) + axis * sizeof(int64_t);
}

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_PLAN_PLANLIMITS_H
