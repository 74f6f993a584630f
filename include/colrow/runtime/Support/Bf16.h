// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bf16 to and from float32.

#ifndef COLROW_RUNTIME_SUPPORT_BF16_H
#define COLROW_RUNTIME_SUPPORT_BF16_H

#include "llvm/ADT/bit.h"
#include <cstdint>

namespace colrow::runtime {

/// Exact.
inline float fromBf16(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

/// To the nearest, ties to even; a NaN stays one.
inline uint16_t toBf16(float value) {
  auto bits = llvm::bit_cast<uint32_t>(value);
  uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
  return uint16_t((value != value ? bits | 0x400000 : rounded) >> 16);
}

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_BF16_H
