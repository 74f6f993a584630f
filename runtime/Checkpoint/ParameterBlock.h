// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank's part of a parameter, in its memory.

#ifndef COLROW_RUNTIME_CHECKPOINT_PARAMETERBLOCK_H
#define COLROW_RUNTIME_CHECKPOINT_PARAMETERBLOCK_H

#include "colrow/runtime/Core/Executor.h"
#include "colrow/runtime/Plan/BlockMap.h"
#include "colrow/runtime/Plan/DType.h"
#include <cstring>

namespace colrow::runtime {

/// A rank's elements of a parameter, to be set as float32.
class ParameterBlock {
public:
  ParameterBlock(Executor &executor, unsigned rank,
                 const plan::Parameter &parameter)
      : start(executor.parameter(rank, parameter)), type(parameter.dtype()),
        map(listOf(parameter.shape()), parameter.dims(), executor.mesh(),
            rank) {}

  const BlockMap &blocks() const { return map; }
  int64_t bytes() const { return map.localElements() * elementBytes(type); }
  void clear() { std::memset(start, 0, bytes()); }

  /// Calls fill(done, count, out) for parts of elements [local, local + count),
  /// and stores what it writes.
  template <typename F> void set(int64_t local, int64_t count, F fill) {
    if (type == plan::DType::f32)
      return fill(0, count, reinterpret_cast<float *>(start) + local);
    auto *out = reinterpret_cast<uint16_t *>(start) + local;
    float part[1024];
    for (int64_t done = 0; done < count; done += std::size(part)) {
      int64_t n = std::min<int64_t>(std::size(part), count - done);
      fill(done, n, part);
      for (int64_t i = 0; i < n; ++i)
        out[done + i] = toBf16(part[i]);
    }
  }

  float get(int64_t local) const {
    if (type == plan::DType::f32)
      return reinterpret_cast<const float *>(start)[local];
    return fromBf16(reinterpret_cast<const uint16_t *>(start)[local]);
  }

private:
  char *start;
  plan::DType type; // f32 or bf16
  BlockMap map;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_PARAMETERBLOCK_H
