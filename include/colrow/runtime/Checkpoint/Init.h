// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random initial values: a function of seed, parameter and element only, so
// every split of the parameter gives equal bits.
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011) with key = the seed's two words (low, high) and counter = (element
// low, element high, parameter id, 0x494e4954). With its words w0 and w1,
//   u1 = (w0 + 1) / 2^32, u2 = w1 / 2^32,
//   value = float(mean + std * sqrt(-2 ln u1) * cos(2 pi u2)), in double.
// `element` is the row-major index in the whole, unpadded parameter.

#ifndef COLROW_RUNTIME_CHECKPOINT_INIT_H
#define COLROW_RUNTIME_CHECKPOINT_INIT_H

#include "colrow/runtime/Plan/PlanSchema.h"
#include <array>

namespace colrow::runtime {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

/// Values of elements [first, first + count). `init` null gives zeros.
void initialValues(const plan::Init *init, uint64_t seed, uint32_t parameterId,
                   int64_t first, int64_t count, float *out);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_INIT_H
