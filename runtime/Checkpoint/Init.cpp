// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counter-based initial values.

#include "colrow/runtime/Checkpoint/Init.h"
#include <algorithm>
#include <cmath>

namespace colrow::runtime {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> c,
                                   std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53) * c[0];
    uint64_t p1 = uint64_t(0xCD9E8D57) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ key[0], uint32_t(p1),
         uint32_t(p0 >> 32) ^ c[3] ^ key[1], uint32_t(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

static double standardNormal(uint64_t seed, uint32_t id, uint64_t element) {
  auto words =
      philox4x32({uint32_t(element), uint32_t(element >> 32), id, 0x494e4954},
                 {uint32_t(seed), uint32_t(seed >> 32)});
  double u1 = (double(words[0]) + 1.0) * 0x1p-32;
  double u2 = double(words[1]) * 0x1p-32;
  constexpr double twoPi = 6.283185307179586476925286766559;
  return std::sqrt(-2.0 * std::log(u1)) * std::cos(twoPi * u2);
}

void initialValues(const plan::Init *init, uint64_t seed, uint32_t parameterId,
                   int64_t first, int64_t count, float *out) {
  auto kind = init ? init->kind() : plan::InitKind::zeros;
  if (kind == plan::InitKind::normal) {
    for (int64_t i = 0; i < count; ++i)
      out[i] =
          float(init->mean() +
                init->std() * standardNormal(seed, parameterId, first + i));
    return;
  }
  float value = kind == plan::InitKind::ones       ? 1.0f
                : kind == plan::InitKind::constant ? float(init->mean())
                                                   : 0.0f;
  std::fill_n(out, count, value);
}

} // namespace colrow::runtime
