// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions in tiles that stay in cache: sources are summed into a tile for
// each axis, the last tile is copied to all destinations. Adding is the same
// for any vector width.

#include "Reduce.h"
#include "colrow/runtime/Plan/PlanLimits.h"
#include "llvm/Support/ErrorHandling.h"
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

COLROW_CLONES
static void widen(float *__restrict to, const uint16_t *__restrict from,
                  int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = fromBf16(from[i]);
}

COLROW_CLONES
static void narrow(uint16_t *__restrict to, const float *__restrict from,
                   int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = toBf16(from[i]);
}

// Two ranks: the common case, one pass.

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

COLROW_CLONES
static void addBf16Pair(const uint16_t *a, const uint16_t *b, uint16_t *x,
                        uint16_t *y, int64_t count) {
  constexpr int64_t strip = 64;
  int64_t i = 0;
  for (; i + strip <= count; i += strip) {
    uint16_t sums[strip];
    for (int64_t j = 0; j < strip; ++j)
      sums[j] = toBf16(fromBf16(a[i + j]) + fromBf16(b[i + j]));
    std::memcpy(x + i, sums, sizeof(sums));
    std::memcpy(y + i, sums, sizeof(sums));
  }
  for (; i < count; ++i) {
    uint16_t sum = toBf16(fromBf16(a[i]) + fromBf16(b[i]));
    x[i] = sum;
    y[i] = sum;
  }
}

template <typename T>
static void addPairBy(void (*add)(const T *, const T *, T *, T *, int64_t),
                      ArrayRef<const char *> sources,
                      ArrayRef<char *> destinations, int64_t count) {
  add(reinterpret_cast<const T *>(sources[0]),
      reinterpret_cast<const T *>(sources[1]),
      reinterpret_cast<T *>(destinations.front()),
      reinterpret_cast<T *>(destinations.back()), count);
}

namespace {
/// How elements are stored, and what they are summed as.
template <typename T> struct Plain {
  using Stored = T;
  using Value = T;
  using Result = T;
  static void load(const T *from, T *to, int64_t count) {
    std::memcpy(to, from, count * sizeof(T));
  }
  static void store(const T *from, T *to, int64_t count) {
    std::memcpy(to, from, count * sizeof(T));
  }
  /// The term itself: nothing to convert.
  static const T *term(const T *from, T *, int64_t) { return from; }
};

struct Bf16 {
  using Stored = uint16_t;
  using Value = float;
  using Result = uint16_t;
  static void load(const uint16_t *from, float *to, int64_t count) {
    widen(to, from, count);
  }
  static void store(const float *from, uint16_t *to, int64_t count) {
    narrow(to, from, count);
  }
  static const float *term(const uint16_t *from, float *room, int64_t count) {
    widen(room, from, count);
    return room;
  }
};

/// Parts of sums, and sums of parts.
struct Bf16ToFloat : Bf16 {
  using Result = float;
  static void store(const float *from, float *to, int64_t count) {
    std::memcpy(to, from, count * sizeof(float));
  }
};
struct FloatToBf16 : Plain<float> {
  using Result = uint16_t;
  static void store(const float *from, uint16_t *to, int64_t count) {
    narrow(to, from, count);
  }
};
} // namespace

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

namespace {
/// A tile of a reduction: what has been summed so far over each axis.
template <typename Format> class Tiles {
public:
  using Stored = typename Format::Stored;
  using Value = typename Format::Value;
  static constexpr int64_t size = 4096 / sizeof(Value);

  Tiles(plan::Reduction reduction, ArrayRef<unsigned> axes)
      : reduction(reduction), axes(axes) {}

  void add(const Stored *source, int64_t count) {
    if (done[0] == 0)
      Format::load(source, tiles[0], count);
    else
      accumulate(reduction, tiles[0], Format::term(source, room, count), count);
    ++done[0];
    for (size_t a = 0; a + 1 < axes.size() && done[a] == axes[a]; ++a) {
      if (done[a + 1] == 0)
        std::memcpy(tiles[a + 1], tiles[a], count * sizeof(Value));
      else
        accumulate(reduction, tiles[a + 1], tiles[a], count);
      done[a] = 0;
      ++done[a + 1];
    }
  }

  /// The sum, and ready for the next tile.
  const Value *take() {
    done[axes.size() - 1] = 0;
    return tiles[axes.size() - 1];
  }

private:
  plan::Reduction reduction;
  ArrayRef<unsigned> axes;
  unsigned done[maxMeshAxes] = {}; // terms that are in each tile
  Value tiles[maxMeshAxes][size], room[size];
};
} // namespace

template <typename Format>
static void reduceTiles(plan::Reduction reduction, ArrayRef<unsigned> axes,
                        ArrayRef<const char *> sources,
                        ArrayRef<char *> destinations, int64_t count) {
  using Stored = typename Format::Stored;
  using Result = typename Format::Result;
  Tiles<Format> tiles(reduction, axes);
  for (int64_t first = 0; first < count; first += tiles.size) {
    int64_t n = std::min(tiles.size, count - first);
    for (const char *source : sources)
      tiles.add(reinterpret_cast<const Stored *>(source) + first, n);
    const auto *sum = tiles.take();
    for (char *destination : destinations)
      Format::store(sum, reinterpret_cast<Result *>(destination) + first, n);
  }
}

void reduceInOrder(plan::DType dtype, plan::Reduction reduction,
                   ArrayRef<unsigned> axes, ArrayRef<const char *> sources,
                   ArrayRef<char *> destinations, int64_t count) {
  bool isPair = reduction == plan::Reduction::sum && sources.size() == 2 &&
                destinations.size() <= 2;
  if (isPair && dtype == plan::DType::f32)
    return addPairBy(addPair, sources, destinations, count);
  if (isPair && dtype == plan::DType::bf16)
    return addPairBy(addBf16Pair, sources, destinations, count);
  switch (dtype) {
  case plan::DType::f32:
    return reduceTiles<Plain<float>>(reduction, axes, sources, destinations,
                                     count);
  case plan::DType::i32:
    return reduceTiles<Plain<int32_t>>(reduction, axes, sources, destinations,
                                       count);
  case plan::DType::i64:
    return reduceTiles<Plain<int64_t>>(reduction, axes, sources, destinations,
                                       count);
  case plan::DType::bf16:
    return reduceTiles<Bf16>(reduction, axes, sources, destinations, count);
  case plan::DType::f16:
  case plan::DType::i1:
  case plan::DType::i8:
    llvm_unreachable("refused by checkPlanTables()");
  }
}

void reduceParts(plan::DType from, plan::DType to, plan::Reduction reduction,
                 ArrayRef<unsigned> axes, ArrayRef<const char *> sources,
                 ArrayRef<char *> destinations, int64_t count) {
  if (from == to)
    return reduceInOrder(from, reduction, axes, sources, destinations, count);
  if (from == plan::DType::bf16)
    return reduceTiles<Bf16ToFloat>(reduction, axes, sources, destinations,
                                    count);
  return reduceTiles<FloatToBf16>(reduction, axes, sources, destinations,
                                  count);
}

} // namespace colrow::runtime
