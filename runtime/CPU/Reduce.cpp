// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions in tiles that stay in cache: sources are summed into a tile, the
// tile is copied to all destinations. Adding is the same for any vector width.

#include "Reduce.h"
#include <algorithm>
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

// Sanitizers cannot run before the resolvers of cloned functions.
#if defined(__x86_64__) && !__has_feature(address_sanitizer)
#define COLROW_CLONES                                                          \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define COLROW_CLONES
#endif

COLROW_CLONES
static void addFloats(float *__restrict sum, const float *__restrict term,
                      int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sum[i] += term[i];
}

/// Two ranks: the common case, one pass.
COLROW_CLONES
static void addPair(const float *a, const float *b, float *x, float *y,
                    int64_t count) {
  constexpr int64_t strip = 64;
  int64_t i = 0;
  for (; i + strip <= count; i += strip) {
    float sums[strip];
    for (int64_t j = 0; j < strip; ++j)
      sums[j] = a[i + j] + b[i + j];
    std::memcpy(x + i, sums, sizeof(sums));
    std::memcpy(y + i, sums, sizeof(sums));
  }
  for (; i < count; ++i) {
    float sum = a[i] + b[i];
    x[i] = sum;
    y[i] = sum;
  }
}

template <typename T>
static void accumulate(plan::Reduction reduction, T *acc, const T *term,
                       int64_t count) {
  if (reduction == plan::Reduction::max) {
    for (int64_t i = 0; i < count; ++i)
      if (term[i] > acc[i] || term[i] != term[i]) // a NaN stays
        acc[i] = term[i];
  } else if constexpr (std::is_same_v<T, float>) {
    addFloats(acc, term, count);
  } else {
    for (int64_t i = 0; i < count; ++i) // wraps
      acc[i] = T(uint64_t(acc[i]) + uint64_t(term[i]));
  }
}

template <typename T>
static void reduceTiles(plan::Reduction reduction,
                        ArrayRef<const char *> sources,
                        ArrayRef<char *> destinations, int64_t count) {
  constexpr int64_t tileSize = 4096 / sizeof(T);
  T tile[tileSize];
  for (int64_t first = 0; first < count; first += tileSize) {
    int64_t n = std::min(tileSize, count - first);
    std::memcpy(tile, sources[0] + first * sizeof(T), n * sizeof(T));
    for (const char *source : sources.drop_front())
      accumulate(reduction, tile, reinterpret_cast<const T *>(source) + first,
                 n);
    for (char *destination : destinations)
      std::memcpy(destination + first * sizeof(T), tile, n * sizeof(T));
  }
}

void reduceInOrder(plan::DType dtype, plan::Reduction reduction,
                   ArrayRef<const char *> sources,
                   ArrayRef<char *> destinations, int64_t count) {
  if (dtype == plan::DType::f32 && reduction == plan::Reduction::sum &&
      sources.size() == 2 && destinations.size() == 2)
    return addPair(reinterpret_cast<const float *>(sources[0]),
                   reinterpret_cast<const float *>(sources[1]),
                   reinterpret_cast<float *>(destinations[0]),
                   reinterpret_cast<float *>(destinations[1]), count);
  switch (dtype) {
  case plan::DType::f32:
    return reduceTiles<float>(reduction, sources, destinations, count);
  case plan::DType::i32:
    return reduceTiles<int32_t>(reduction, sources, destinations, count);
  case plan::DType::i64:
    return reduceTiles<int64_t>(reduction, sources, destinations, count);
  }
}

} // namespace colrow::runtime
