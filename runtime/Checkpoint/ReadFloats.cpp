// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stored types as float32. bf16 and f16 convert exactly.

#include "colrow/runtime/Checkpoint/Safetensors.h"
#include "colrow/runtime/Support/Bf16.h"
#include "llvm/ADT/bit.h"
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

bool isReadableAsFloat(TensorType type) {
  return type == TensorType::f32 || type == TensorType::bf16 ||
         type == TensorType::f16;
}

/// IEEE binary16: 1 sign bit, 5 of exponent (bias 15), 10 of fraction.
static float fromF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31)
    return llvm::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0)
    return llvm::bit_cast<float>(sign | (exponent + 112) << 23 |
                                 fraction << 13);
  float value = float(fraction) * 0x1p-24f; // subnormal: exact
  return sign ? -value : value;
}

template <typename Stored, typename Convert>
static void readAs(const char *data, int64_t first, int64_t stride,
                   int64_t count, float *out, Convert convert) {
  for (int64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, data + (first + i * stride) * int64_t(sizeof(Stored)),
                sizeof(Stored));
    out[i] = convert(value);
  }
}

void readFloats(TensorType type, const char *data, int64_t first,
                int64_t stride, int64_t count, float *out) {
  if (type == TensorType::f32 && stride == 1)
    std::memcpy(out, data + first * 4, count * 4);
  else if (type == TensorType::f32)
    readAs<float>(data, first, stride, count, out, [](float x) { return x; });
  else if (type == TensorType::bf16)
    readAs<uint16_t>(data, first, stride, count, out, fromBf16);
  else
    readAs<uint16_t>(data, first, stride, count, out, fromF16);
}

} // namespace colrow::runtime
