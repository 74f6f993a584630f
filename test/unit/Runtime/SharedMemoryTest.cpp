// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of threads, of processes and of both give the same bits: those of
// sums that the test brackets itself.

#include "SharedRanks.h"
#include "TestPlan.h"
#include "colrow/runtime/Plan/DType.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace colrow::runtime::test {
namespace {

using plan::CollectiveKind;
using plan::DType;
using plan::Reduction;

/// A value whose sums depend on their order, the same in every run.
uint64_t randomBits(unsigned rank, int64_t i) {
  uint64_t x = (uint64_t(rank) << 32 | uint64_t(i)) + 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

template <DType type> struct Element;
template <> struct Element<DType::f32> {
  using Stored = float;
  using Sum = float;
  static Stored value(unsigned rank, int64_t i) {
    uint64_t bits = randomBits(rank, i);
    return std::ldexp(float(int32_t(bits)) * 0x1p-31f, int(bits >> 32) % 20);
  }
  static Sum widen(Stored x) { return x; }
  static Stored narrow(Sum x) { return x; }
};
template <> struct Element<DType::bf16> {
  using Stored = uint16_t;
  using Sum = float;
  static Stored value(unsigned rank, int64_t i) {
    return toBf16(Element<DType::f32>::value(rank, i));
  }
  static Sum widen(Stored x) { return fromBf16(x); }
  static Stored narrow(Sum x) { return toBf16(x); }
};
template <> struct Element<DType::i32> {
  using Stored = int32_t;
  using Sum = uint32_t;
  static Stored value(unsigned rank, int64_t i) {
    return int32_t(randomBits(rank, i));
  }
  static Sum widen(Stored x) { return Sum(x); }
  static Stored narrow(Sum x) { return Stored(x); }
};
template <> struct Element<DType::i64> {
  using Stored = int64_t;
  using Sum = uint64_t;
  static Stored value(unsigned rank, int64_t i) {
    return int64_t(randomBits(rank, i));
  }
  static Sum widen(Stored x) { return Sum(x); }
  static Stored narrow(Sum x) { return Stored(x); }
};

/// Ranks of `rank`'s group in the order of the list of axes.
std::vector<unsigned> groupOf(const Mesh &mesh, unsigned rank,
                              const std::vector<uint8_t> &axes) {
  std::vector<unsigned> group(mesh.groupSize(axes));
  for (unsigned other = 0; other < mesh.ranks(); ++other)
    if (mesh.leader(other, axes) == mesh.leader(rank, axes))
      group[mesh.memberIndex(other, axes)] = other;
  return group;
}

/// The sum of value(rank) over `axes` of the mesh, the outermost first, for a
/// rank with coordinate 0 on them: over all but the first, then over that.
template <typename Sum, typename F>
Sum bracketed(const Mesh &mesh, unsigned rank, llvm::ArrayRef<uint8_t> axes,
              F value) {
  if (axes.empty())
    return value(rank);
  unsigned stride = 1;
  for (size_t inner = axes[0] + 1; inner < mesh.sizes.size(); ++inner)
    stride *= mesh.sizes[inner];
  Sum sum = bracketed<Sum>(mesh, rank, axes.drop_front(), value);
  for (unsigned c = 1; c < mesh.sizes[axes[0]]; ++c)
    sum += bracketed<Sum>(mesh, rank + c * stride, axes.drop_front(), value);
  return sum;
}

/// All kinds of collectives of one type over one list of axes on one rank.
template <DType type> class Collectives {
  using E = Element<type>;
  using Stored = typename E::Stored;

public:
  Collectives(const Mesh &mesh, const TestRank &on,
              const std::vector<uint8_t> &axes)
      : mesh(mesh), on(on), axes(axes), group(groupOf(mesh, on.rank, axes)),
        outermostFirst(axes), index(mesh.memberIndex(on.rank, axes)),
        size(group.size()), run(on.transport.communicator(on.rank, axes)) {
    std::sort(outermostFirst.begin(), outermostFirst.end());
  }

  /// `count` elements, a block each of the other kinds.
  void check(int64_t count) {
    for (Reduction reduction : {Reduction::sum, Reduction::max})
      for (bool inPlace : {false, true})
        checkAllReduce(reduction, count, inPlace);
    for (int64_t cut : {int64_t(0), count - 1}) {
      checkAllGather(count, size * count - cut);
      checkReduceScatter(count, size * count - cut);
    }
    checkAllToAll(count);
  }

private:
  static constexpr int64_t outer = 2;

  Stored *src() { return reinterpret_cast<Stored *>(on.arena); }
  Stored *dst() {
    return reinterpret_cast<Stored *>(on.arena) + outer * size * 3000;
  }
  Stored *fill(int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      src()[i] = E::value(on.rank, i);
    return src();
  }
  Stored sum(int64_t i) const {
    return E::narrow(bracketed<typename E::Sum>(
        mesh, group[0], outermostFirst,
        [&](unsigned rank) { return E::widen(E::value(rank, i)); }));
  }
  Stored largest(int64_t i) const {
    Stored result = E::value(group[0], i);
    for (unsigned rank : group) {
      Stored other = E::value(rank, i);
      if constexpr (type == DType::bf16)
        result = fromBf16(other) > fromBf16(result) ? other : result;
      else
        result = std::max(result, other);
    }
    return result;
  }
  /// By their bits.
  void expect(const Stored *got, int64_t i, Stored want) {
    const void *bits = got + i, *wanted = &want;
    EXPECT_EQ(std::memcmp(bits, wanted, sizeof(want)), 0)
        << plan::EnumNameDType(type) << " " << i << " of rank " << on.rank
        << ", mesh " << mesh.text() << ", first axis " << int(axes[0]);
  }

  void checkAllReduce(Reduction reduction, int64_t count, bool inPlace) {
    fill(count);
    Stored *result = inPlace ? src() : dst();
    run->run({CollectiveKind::all_reduce, reduction, type, count, 0, 0, 0,
              src(), result});
    for (int64_t i = 0; i < count; ++i)
      expect(result, i, reduction == Reduction::sum ? sum(i) : largest(i));
  }
  void checkAllGather(int64_t block, int64_t total) {
    fill(outer * block);
    run->run({CollectiveKind::all_gather, Reduction::none, type, 0, outer,
              block, total, src(), dst()});
    for (int64_t row = 0; row < outer; ++row)
      for (int64_t c = 0; c < total; ++c)
        expect(dst(), row * total + c,
               E::value(group[c / block], row * block + c % block));
  }
  void checkReduceScatter(int64_t block, int64_t total) {
    fill(outer * total);
    run->run({CollectiveKind::reduce_scatter, Reduction::sum, type, 0, outer,
              block, total, src(), dst()});
    for (int64_t row = 0; row < outer; ++row)
      for (int64_t c = 0; c < block; ++c) {
        int64_t column = index * block + c;
        expect(dst(), row * block + c,
               column < total ? sum(row * total + column) : Stored());
      }
  }
  void checkAllToAll(int64_t block) {
    fill(outer * size * block);
    run->run({CollectiveKind::all_to_all, Reduction::none, type, 0, outer,
              block, 0, src(), dst()});
    for (unsigned m = 0; m < size; ++m)
      for (int64_t i = 0; i < outer * block; ++i)
        expect(dst(), m * outer * block + i,
               E::value(group[m], index * outer * block + i));
  }

  const Mesh &mesh;
  TestRank on;
  std::vector<uint8_t> axes;
  std::vector<unsigned> group;
  std::vector<uint8_t> outermostFirst;
  unsigned index;
  int64_t size;
  std::unique_ptr<Communicator> run;
};

/// Around what goes through slots, tiles, and the parts of an all-reduce.
template <DType type>
void checkType(const Mesh &mesh, const TestRank &on,
               const std::vector<uint8_t> &axes) {
  Collectives<type> collectives(mesh, on, axes);
  int64_t inSlot = GroupMember::slotBytes / elementBytes(type);
  for (int64_t count :
       {int64_t(1), int64_t(5), inSlot, inSlot + 1, int64_t(2987)})
    if (count <= 3000)
      collectives.check(count);
}

void checkEverything(const Mesh &mesh, unsigned ranksPerProcess) {
  std::vector<std::vector<uint8_t>> lists = {{0}};
  if (mesh.sizes.size() == 2)
    lists = {{0}, {0, 1}, {1}, {1, 0}};
  EXPECT_TRUE(onMachine(mesh, lists, 1 << 20, {}, ranksPerProcess,
                        [&](const TestRank &on) {
                          for (const std::vector<uint8_t> &axes : lists) {
                            checkType<DType::f32>(mesh, on, axes);
                            checkType<DType::bf16>(mesh, on, axes);
                            checkType<DType::i32>(mesh, on, axes);
                            checkType<DType::i64>(mesh, on, axes);
                          }
                        }));
}

TEST(SharedMemory, ThreadsAndProcessesGiveTheSameBits) {
  for (unsigned ranksPerProcess : {1u, 2u})
    checkEverything(meshOf({2}), ranksPerProcess);
  for (unsigned ranksPerProcess : {1u, 3u})
    checkEverything(meshOf({3}), ranksPerProcess);
  for (unsigned ranksPerProcess : {1u, 2u, 4u})
    checkEverything(meshOf({2, 2}), ranksPerProcess);
  for (unsigned ranksPerProcess : {1u, 3u, 6u})
    checkEverything(meshOf({2, 3}), ranksPerProcess);
}

/// Ranks 0 to 3 of 2 x 2: 1e8, 1, -1e8, 1. One after the other they are 1,
/// over the outer axis first 2; over the inner axis first they are 0.
TEST(SharedMemory, SumsGoOverTheInnermostAxisFirst) {
  Mesh mesh = meshOf({2, 2});
  constexpr float values[] = {1e8f, 1, -1e8f, 1};
  std::vector<std::vector<uint8_t>> lists = {{0, 1}, {1, 0}};
  for (unsigned ranksPerProcess : {1u, 4u})
    for (int64_t count : {4, 4000})
      EXPECT_TRUE(onMachine(
          mesh, lists, 1 << 16, {}, ranksPerProcess, [&](const TestRank &on) {
            auto *data = reinterpret_cast<float *>(on.arena);
            for (const std::vector<uint8_t> &axes : lists) {
              auto group = on.transport.communicator(on.rank, axes);
              std::fill(data, data + count, values[on.rank]);
              group->run({CollectiveKind::reduce_scatter, Reduction::sum,
                          DType::f32, 0, 1, count / 4, count, data,
                          data + count});
              group->run({CollectiveKind::all_reduce, Reduction::sum,
                          DType::f32, count, 0, 0, 0, data, data});
              for (int64_t i :
                   {int64_t(0), count - 1, count, count * 5 / 4 - 1})
                EXPECT_EQ(data[i], 0) << i;
            }
          }));
}

/// Every process reads a constant where it has it itself.
TEST(SharedMemory, ConstantsAreOperands) {
  Mesh mesh = meshOf({2});
  constexpr int64_t count = 5000;
  std::vector<float> table(count);
  for (int64_t i = 0; i < count; ++i)
    table[i] = float(i);
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(table.data()),
                             count * sizeof(float));
  for (unsigned ranksPerProcess : {1u, 2u})
    EXPECT_TRUE(onMachine(
        mesh, {{0}}, 1 << 16, bytes, ranksPerProcess, [&](const TestRank &on) {
          auto *data = reinterpret_cast<float *>(on.arena);
          auto group = on.transport.communicator(on.rank, {0});
          group->run({CollectiveKind::all_reduce, Reduction::sum, DType::f32,
                      count, 0, 0, 0, on.constants, data});
          EXPECT_EQ(data[1], 2);
          EXPECT_EQ(data[count - 1], 2 * float(count - 1));
          // The arena's last bytes are of it, too.
          float *last = data + (1 << 14) - 2000;
          group->run({CollectiveKind::all_gather, Reduction::none, DType::f32,
                      0, 1, 1000, 2000, on.constants + 8, last});
          EXPECT_EQ(last[0], 2);
          EXPECT_EQ(last[1999], 1001);
        }));
}

} // namespace
} // namespace colrow::runtime::test
