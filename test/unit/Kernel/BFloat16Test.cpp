// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments in bf16, computed in float32: every way to address them.

#include "Harness.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <limits>

namespace colrow::kernel {

namespace {

using Bits = Buffer<uint16_t>;

/// Sizes around every change of code: part of a vector, one, several, a loop.
constexpr int64_t oddCols[] = {1, 7, 16, 17, 60, 64, 150, 251};

float wide(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

/// The nearer of the two neighbours, by distance in double; of a tie the even.
uint16_t narrow(float x) {
  if (std::isnan(x))
    return 0x7fc0;
  auto down = uint16_t(llvm::bit_cast<uint32_t>(x) >> 16);
  if (std::isinf(x))
    return down;
  auto up = uint16_t(down + 1);
  // Beyond the largest number lies what would be the next one.
  auto value = [](uint16_t bits) {
    double magnitude = wide(bits & 0x7fff);
    return std::isinf(magnitude) ? 0x1p128 : magnitude;
  };
  double low = std::fabs(double(x)) - value(down);
  double high = value(up) - std::fabs(double(x));
  return low < high || (low == high && down % 2 == 0) ? down : up;
}

/// NaN as one, whichever it is.
uint16_t canonical(uint16_t bits) {
  return std::isnan(wide(bits)) ? 0x7fc0 : bits;
}

/// Random numbers, and between them ties, neighbours of ties, denormals and all
/// that is special.
std::vector<float> hardFloats(size_t count) {
  std::vector<float> result = randomFloats(count, -4, 4);
  uint32_t special[] = {
      0x3f808000, 0x3f818000, 0x3f807fff, 0x3f808001, 0xbf808000, 0xbf818000,
      0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
      0xffffffff, 0x7f7fffff, 0xff7fffff, 0x7f7f7fff, 0x7f7f8000, 0x00000001,
      0x00008000, 0x00018000, 0x80007fff, 0x007fffff, 0x3fffffff};
  for (size_t i = 0; i < count; i += 2)
    result[i] = llvm::bit_cast<float>(special[i / 2 % std::size(special)]);
  return result;
}

std::vector<uint16_t> randomBits(size_t count, unsigned seed = 1) {
  std::vector<uint16_t> result;
  for (float x : randomFloats(count, -4, 4, seed))
    result.push_back(narrow(x));
  return result;
}

std::string errorOf(Elem elem, void (*build)(RowKernelBuilder &, Elem)) {
  RowKernelBuilder b({3}, 5);
  build(b, elem);
  llvm::Expected<RowKernel> kernel = b.finish();
  return kernel ? "" : llvm::toString(kernel.takeError());
}

} // namespace

TEST(BFloat16, StoreRoundsToNearestEven) {
  for (const Target &target : testTargets())
    for (int64_t cols : oddCols) {
      RowKernelBuilder b({3}, cols);
      int x = b.denseArg(Elem::F32, Access::Read);
      b.store(b.denseArg(Elem::BF16, Access::Write), b.load(x));
      Compiled kernel(b.finish(), target);
      Floats in(hardFloats(3 * cols));
      Bits out(3 * cols, 0);
      kernel(in, out);
      for (int64_t i = 0; i < 3 * cols; ++i)
        EXPECT_EQ(canonical(out[i]), narrow(in[i])) << in[i];
      EXPECT_TRUE(out.guardIsWhole());
    }
}

TEST(BFloat16, EveryNumberIsLoadedAsItIs) {
  std::vector<uint16_t> all(1 << 16);
  std::iota(all.begin(), all.end(), uint16_t(0));
  RowKernelBuilder b({}, all.size());
  int x = b.denseArg(Elem::BF16, Access::Read);
  b.store(b.denseArg(Elem::F32, Access::Write), b.load(x));
  b.store(b.denseArg(Elem::BF16, Access::Write), b.load(x));
  Compiled kernel(b);
  Bits in(all), again(all.size(), 0);
  Floats out(all.size(), 0);
  kernel(in, out, again);
  for (size_t i = 0; i < all.size(); ++i) {
    if (std::isnan(wide(all[i])))
      EXPECT_TRUE(std::isnan(out[i]) && std::isnan(wide(again[i]))) << i;
    else
      EXPECT_TRUE(llvm::bit_cast<uint32_t>(out[i]) == uint32_t(all[i]) << 16 &&
                  again[i] == all[i])
          << i;
  }
}

/// Between load and store nothing is rounded; the output is an input's buffer.
TEST(BFloat16, ComputesInFloatInPlace) {
  for (int64_t cols : oddCols) {
    RowKernelBuilder b({3}, cols);
    int x = b.denseArg(Elem::BF16, Access::Read);
    int factor = b.rowArg(Elem::BF16, Access::Read);
    int bias = b.colArg(Elem::BF16, Access::Read);
    int y = b.denseArg(Elem::BF16, Access::Write);
    Expr sum = b.load(x) * b.load(factor) + b.load(bias);
    b.store(y, (sum - b.load(bias)) * 0.5f);
    Compiled kernel(b);
    std::vector<uint16_t> before = randomBits(3 * cols);
    Bits data(before), factors(randomBits(3, 2)), biases(randomBits(cols, 3));
    kernel(data, factors, biases, data);
    for (int64_t i = 0; i < 3 * cols; ++i) {
      float product = wide(before[i]) * wide(factors[i / cols]);
      float c = wide(biases[i % cols]);
      // A fused product and sum may round differently in float.
      uint16_t fused = narrow(
          (std::fma(wide(before[i]), wide(factors[i / cols]), c) - c) * 0.5f);
      EXPECT_TRUE(data[i] == narrow((product + c - c) * 0.5f) ||
                  data[i] == fused)
          << wide(data[i]);
    }
    EXPECT_TRUE(data.guardIsWhole());
  }
}

TEST(BFloat16, Strided) {
  for (const Target &target : testTargets())
    for (int64_t cols : oddCols) {
      RowKernelBuilder b({3}, cols);
      int x = b.arg(Elem::BF16, Access::Read, {1}, /*colStride=*/3);
      int y = b.denseArg(Elem::BF16, Access::Write);
      int z = b.arg(Elem::BF16, Access::Write, {2}, /*colStride=*/7,
                    /*offset=*/1);
      b.store(y, b.load(x));
      b.store(z, b.load(x));
      Compiled kernel(b.finish(), target);
      Bits in(randomBits(3 * cols)), out(3 * cols, 0), spread(7 * cols, 5);
      kernel(in, out, spread);
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t c = 0; c < cols; ++c) {
          EXPECT_EQ(out[r * cols + c], in[c * 3 + r]);
          EXPECT_EQ(spread[1 + 2 * r + 7 * c], in[c * 3 + r]);
          EXPECT_EQ(spread[7 * c], 5);
        }
      EXPECT_TRUE(out.guardIsWhole() && spread.guardIsWhole());
    }
}

/// Rows by index, where they are valid: of columns, and of one value a row.
TEST(BFloat16, RowsByIndex) {
  for (int64_t cols : oddCols) {
    RowKernelBuilder b({4}, cols);
    int ids = b.rowArg(Elem::I64, Access::Read);
    int table = b.colArg(Elem::BF16, Access::Read);
    int first = b.scalarArg(Elem::BF16, Access::Read);
    Expr id = b.load(ids), valid = b.lt(id, b.constI64(3));
    b.store(b.denseArg(Elem::BF16, Access::Write),
            b.loadRow(table, id, cols, valid));
    b.store(b.rowArg(Elem::BF16, Access::Write),
            b.loadRow(first, id, cols, valid));
    Compiled kernel(b);
    Buffer<int64_t> rows(std::vector<int64_t>{2, int64_t(1) << 40, 0, 1});
    Bits values(randomBits(3 * cols)), out(4 * cols, 9), once(4, 9);
    kernel(rows, values, values, out, once);
    for (int64_t i = 0; i < 4 * cols; ++i) {
      int64_t row = rows[i / cols];
      EXPECT_EQ(out[i], row < 3 ? values[row * cols + i % cols] : 0);
      EXPECT_EQ(once[i / cols], row < 3 ? values[row * cols] : 0);
    }
    EXPECT_TRUE(out.guardIsWhole() && once.guardIsWhole());
  }
}

/// Two halves of a row, and what each row sums to, in float.
TEST(BFloat16, OffsetsAndRowSums) {
  for (int64_t half : {5, 16, 100}) {
    RowKernelBuilder b({3}, half);
    int x = b.arg(Elem::BF16, Access::Read, {2 * half});
    int y = b.arg(Elem::BF16, Access::Write, {2 * half});
    b.store(y, b.load(x, half));
    b.store(y, b.load(x), half);
    b.store(b.rowArg(Elem::F32, Access::Write), b.rowSum(b.load(x)));
    b.colSum(b.colArg(Elem::F32, Access::Write), b.load(x));
    Compiled kernel(b);
    Bits in(randomBits(6 * half)), out(6 * half, 0);
    Floats sums(3, 0), columns(half, 0);
    kernel(in, out, sums, columns);
    std::vector<double> wanted(3, 0), down(half, 0);
    for (int64_t r = 0; r < 3; ++r)
      for (int64_t c = 0; c < half; ++c) {
        EXPECT_EQ(out[r * 2 * half + c], in[r * 2 * half + half + c]);
        EXPECT_EQ(out[r * 2 * half + half + c], in[r * 2 * half + c]);
        wanted[r] += wide(in[r * 2 * half + c]);
        down[c] += wide(in[r * 2 * half + c]);
      }
    for (int64_t r = 0; r < 3; ++r)
      EXPECT_CLOSE(sums[r], wanted[r], 1e-6, 1e-5);
    for (int64_t c = 0; c < half; ++c)
      EXPECT_CLOSE(columns[c], down[c], 1e-6, 1e-6);
  }
}

TEST(BFloat16, SumsAreKeptInFloat) {
  using B = RowKernelBuilder;
  EXPECT_EQ(errorOf(Elem::BF16,
                    [](B &b, Elem e) {
                      b.colSum(b.colArg(e, Access::Write), b.constF32(1));
                    }),
            "row kernel: col_sum: wanted an f32 argument, found bf16: sums are "
            "kept in float32");
  EXPECT_EQ(errorOf(Elem::BF16,
                    [](B &b, Elem e) {
                      b.totalSum(b.scalarArg(e, Access::Write), b.constF32(1));
                    }),
            "row kernel: total_sum: wanted an f32 argument, found bf16: sums "
            "are kept in float32");
  EXPECT_EQ(errorOf(Elem::BF16,
                    [](B &b, Elem e) {
                      b.store(b.denseArg(e, Access::Accumulate), b.constF32(1));
                    }),
            "row kernel: store: wanted an f32 argument, found bf16: sums are "
            "kept in float32");
  EXPECT_EQ(
      errorOf(Elem::I1,
              [](B &b, Elem e) {
                Expr mask = b.lt(b.colIndex(), b.constI64(2));
                b.store(b.denseArg(e, Access::Accumulate), mask);
              }),
      "row kernel: store: wanted an f32 argument, found i1: sums are kept "
      "in float32");
  EXPECT_EQ(errorOf(Elem::BF16,
                    [](B &b, Elem e) {
                      b.scatterAddRow(b.colArg(e, Access::Accumulate),
                                      b.rowIndex(0), 5, b.constF32(1));
                    }),
            "row kernel: scatter_add_row: wanted an f32 argument, found bf16: "
            "sums are kept in float32");
}

} // namespace colrow::kernel
