// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10 against the published answers and a scalar implementation.

#include "Harness.h"

namespace colrow::kernel {

namespace {

/// Word 0 of the block, as the paper states the rounds.
uint32_t philoxWord(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53) * c[0];
    uint64_t p1 = uint64_t(0xCD9E8D57) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1),
         uint32_t(p0 >> 32) ^ c[3] ^ k[1], uint32_t(p0)};
    k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
  }
  return c[0];
}

/// Words for indices first, first + 1, ...; the step is the second integer.
std::vector<uint32_t> generate(int64_t seed, uint32_t stream, int64_t step,
                               int64_t first, int64_t count) {
  RowKernelBuilder b({}, count);
  int out = b.denseArg(Elem::I32, Access::Write);
  int unit = b.denseArg(Elem::F32, Access::Write);
  Expr index = b.intArg(2) + b.colIndex();
  b.store(out, b.philox(b.intArg(0), stream, b.intArg(1), index));
  b.store(unit, b.philoxUniform(b.intArg(0), stream, b.intArg(1), index));
  Compiled kernel(b);
  Buffer<int32_t> words(count, 0);
  Floats units(count, 0);
  kernel.call({words.data(), units.data()}, {seed, step, first});
  for (int64_t i = 0; i < count; ++i)
    EXPECT_EQ(units[i], float(uint32_t(words[i]) >> 8) * 0x1p-24f);
  return {words.data(), words.data() + count};
}

} // namespace

/// Random123's known answers, word 0: all zeros, all ones, digits of pi.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(generate(0, 0, 0, 0, 1)[0], 0x6627e8d5u);
  EXPECT_EQ(generate(-1, 0xffffffff, -1, -1, 1)[0], 0x408f276du);
  EXPECT_EQ(generate(0x299f31d0a4093822, 0x13198a2e, 0x03707344,
                     int64_t(0x85a308d3243f6a88), 1)[0],
            0xd16cfe09u);
}

TEST(Philox, EqualsScalar) {
  const int64_t seed = 0x0123456789abcdef, step = (int64_t(5) << 32) + 77;
  const int64_t first = (int64_t(1) << 32) - 100;
  std::vector<uint32_t> words = generate(seed, 42, step, first, 251);
  for (int64_t i = 0; i < 251; ++i) {
    uint64_t index = first + i;
    EXPECT_EQ(words[i],
              philoxWord({uint32_t(index), uint32_t(index >> 32), 42, 77},
                         {uint32_t(seed), uint32_t(seed >> 32)}));
  }
}

/// The index alone decides, not how the tensor is cut.
TEST(Philox, PartsEqualTheWhole) {
  std::vector<uint32_t> whole = generate(7, 1, 2, 0, 200);
  std::vector<uint32_t> part = generate(7, 1, 2, 93, 17);
  for (size_t i = 0; i < part.size(); ++i)
    EXPECT_EQ(part[i], whole[93 + i]);
}

/// A word a row, computed alone, is the word of a column.
TEST(Philox, RowsEqualColumns) {
  const int64_t seed = 0x0123456789abcdef, step = 5;
  const int64_t first = (int64_t(1) << 32) - 10;
  std::vector<uint32_t> wanted = generate(seed, 42, step, first, 20);
  RowKernelBuilder b({20}, 3);
  int out = b.rowArg(Elem::I32, Access::Write);
  int unit = b.rowArg(Elem::F32, Access::Write);
  Expr index = b.intArg(2) + b.rowIndex(0);
  b.store(out, b.philox(b.intArg(0), 42, b.intArg(1), index));
  b.store(unit, b.philoxUniform(b.intArg(0), 42, b.intArg(1), index));
  Compiled kernel(b);
  Buffer<int32_t> words(20, 0);
  Floats units(20, 0);
  kernel.call({words.data(), units.data()}, {seed, step, first});
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(uint32_t(words[i]), wanted[i]);
    EXPECT_EQ(units[i], float(wanted[i] >> 8) * 0x1p-24f);
  }
}

} // namespace colrow::kernel
