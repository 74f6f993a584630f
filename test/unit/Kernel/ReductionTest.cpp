// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over rows and columns, and rows found by index.

#include "Harness.h"
#include <cmath>
#include <limits>

namespace colrow::kernel {

namespace {

constexpr int64_t oddCols[] = {1, 7, 16, 17, 60, 150, 251, 1000};
constexpr float inf = std::numeric_limits<float>::infinity();

} // namespace

TEST(Reduction, RowSumAndRowMax) {
  for (int64_t cols : oddCols) {
    RowKernelBuilder b({2, 5}, cols);
    int x = b.denseArg(Elem::F32, Access::Read);
    int sum = b.rowArg(Elem::F32, Access::Write);
    int max = b.rowArg(Elem::F32, Access::Write);
    b.store(sum, b.rowSum(b.load(x)));
    b.store(max, b.rowMax(b.load(x)));
    Compiled kernel(b);
    Floats in(randomFloats(10 * cols, -5, -1)), sums(10, 0), maxima(10, 0);
    kernel(in, sums, maxima);
    for (int64_t row = 0; row < 10; ++row) {
      float *values = in.data() + row * cols;
      EXPECT_CLOSE(sums[row], std::accumulate(values, values + cols, 0.0),
                   1e-6);
      EXPECT_EQ(maxima[row], *std::max_element(values, values + cols));
    }
    EXPECT_TRUE(sums.guardIsWhole() && maxima.guardIsWhole());
  }
}

/// Rows that are summed in blocks of columns, with a rest of any size.
TEST(Reduction, ManyColumnsAndARest) {
  for (int64_t cols : {4096, 4097, 4101, 4112, 4113, 8193, 9000}) {
    RowKernelBuilder b({2}, cols);
    int x = b.denseArg(Elem::F32, Access::Read);
    int sum = b.rowArg(Elem::F32, Access::Write);
    int max = b.rowArg(Elem::F32, Access::Write);
    int total = b.scalarArg(Elem::F32, Access::Write);
    b.store(sum, b.rowSum(b.load(x)));
    b.store(max, b.rowMax(b.load(x)));
    b.totalSum(total, b.load(x));
    Compiled kernel(b);
    Floats in(2 * cols, 1), sums(2, 0), maxima(2, 0), all(1, 0);
    in[cols - 1] = 3; // the last column of either row counts
    in[2 * cols - 1] = 4;
    kernel(in, sums, maxima, all);
    EXPECT_EQ(sums[0], cols + 2) << cols;
    EXPECT_EQ(sums[1], cols + 3) << cols;
    EXPECT_EQ(maxima[0], 3) << cols;
    EXPECT_EQ(maxima[1], 4) << cols;
    EXPECT_EQ(all[0], 2 * cols + 5) << cols;
  }
}

TEST(Reduction, KeepsInfinityAndNaN) {
  for (int64_t cols : {7, 64, 150}) {
    RowKernelBuilder b({4}, cols);
    int x = b.denseArg(Elem::F32, Access::Read);
    int sum = b.rowArg(Elem::F32, Access::Write);
    int max = b.rowArg(Elem::F32, Access::Write);
    b.store(sum, b.rowSum(b.load(x)));
    b.store(max, b.rowMax(b.load(x)));
    Compiled kernel(b);
    Floats in(4 * cols, 1), sums(4, 0), maxima(4, 0);
    std::fill_n(in.data(), cols, -inf);
    in[cols + 3] = NAN;
    in[2 * cols + 5] = inf;
    in[3 * cols + 1] = inf;
    in[3 * cols + 2] = -inf;
    kernel(in, sums, maxima);
    EXPECT_EQ(maxima[0], -inf);
    EXPECT_EQ(sums[0], -inf);
    EXPECT_TRUE(std::isnan(maxima[1]) && std::isnan(sums[1]));
    EXPECT_EQ(maxima[2], inf);
    EXPECT_EQ(sums[2], inf);
    EXPECT_TRUE(std::isnan(sums[3]));
  }
}

TEST(Reduction, SumOfARowValueCountsColumns) {
  RowKernelBuilder b({3}, 70);
  int x = b.rowArg(Elem::F32, Access::Read);
  int y = b.rowArg(Elem::F32, Access::Write);
  int total = b.scalarArg(Elem::F32, Access::Write);
  b.store(y, b.rowSum(b.load(x)));
  b.totalSum(total, b.load(x));
  Compiled kernel(b);
  Floats in({1, 2, 3}), out(3, 0), all(1, 0);
  kernel(in, out, all);
  EXPECT_EQ(out[1], 140);
  EXPECT_EQ(all[0], 6);
}

/// Once for each of the rows, which are dense but no longer columns then.
TEST(Reduction, TotalSumOfAScalarCountsRows) {
  RowKernelBuilder b({3, 5}, 8);
  Expr x = b.load(b.scalarArg(Elem::F32));
  b.store(b.denseArg(Elem::F32, Access::Write),
          b.load(b.denseArg(Elem::F32, Access::Read)) + x);
  b.totalSum(b.scalarArg(Elem::F32, Access::Write), x);
  Compiled kernel(b);
  Floats scalar(1, 2), out(120, 0), in(120, 1), total(1, 0);
  kernel(scalar, out, in, total);
  EXPECT_EQ(out[119], 3);
  EXPECT_EQ(total[0], 30);
}

/// Rows longer than what is kept of them from one pass to the next.
TEST(Reduction, LongRowsAreComputedAgain) {
  for (int64_t cols : {60000, 70000}) {
    RowKernelBuilder b({2}, cols);
    Expr e = b.exp(b.load(b.denseArg(Elem::F32, Access::Read)));
    b.store(b.denseArg(Elem::F32, Access::Write), e / b.rowSum(e));
    Compiled kernel(b);
    Floats in(randomFloats(2 * cols, -1, 1)), out(2 * cols, 0);
    kernel(in, out);
    for (int64_t r = 0; r < 2; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < cols; ++c)
        sum += std::exp(double(in[r * cols + c]));
      for (int64_t c = 0; c < cols; c += 7)
        ASSERT_CLOSE(out[r * cols + c],
                     std::exp(double(in[r * cols + c])) / sum, 1e-5);
    }
    EXPECT_TRUE(out.guardIsWhole());
  }
}

TEST(Reduction, ColSum) {
  for (bool accumulates : {false, true})
    for (int64_t cols : oddCols) {
      RowKernelBuilder b({3, 7}, cols);
      int x = b.denseArg(Elem::F32, Access::Read);
      int y =
          b.colArg(Elem::F32, accumulates ? Access::Accumulate : Access::Write);
      int z = b.colArg(Elem::F32, Access::Write);
      b.colSum(y, b.load(x) * 2.0f);
      b.colSum(z, b.rowSum(b.load(x)));
      Compiled kernel(b);
      Floats in(randomFloats(21 * cols, 1, 2)), out(cols, 10), same(cols, 3);
      kernel(in, out, same);
      double all = 0;
      for (int64_t i = 0; i < 21 * cols; ++i)
        all += in[i];
      for (int64_t c = 0; c < cols; ++c) {
        double sum = accumulates ? 10 : 0;
        for (int64_t r = 0; r < 21; ++r)
          sum += 2.0 * in[r * cols + c];
        EXPECT_CLOSE(out[c], sum, 1e-6);
        EXPECT_CLOSE(same[c], all, 1e-6);
      }
      EXPECT_TRUE(out.guardIsWhole() && same.guardIsWhole());
    }
}

/// The rule of float blocks and double totals: 1e-6 over millions of squares.
TEST(Reduction, TotalSumIsExactEnough) {
  for (int64_t cols : {5, 4096, 5000, 3000001}) {
    RowKernelBuilder b({}, cols);
    int x = b.denseArg(Elem::F32, Access::Read);
    int total = b.scalarArg(Elem::F32, Access::Accumulate);
    int max = b.rowArg(Elem::F32, Access::Write);
    Expr v = b.load(x);
    b.totalSum(total, v * v);
    b.store(max, b.rowMax(v));
    Compiled kernel(b);
    Floats in(randomFloats(cols, 0, 1)), out(1, 2), maximum(1, 0);
    kernel(in, out, maximum);
    double sum = 2;
    for (int64_t i = 0; i < cols; ++i)
      sum += double(in[i]) * in[i];
    EXPECT_CLOSE(out[0], sum, 1e-6);
    EXPECT_EQ(maximum[0], *std::max_element(in.data(), in.data() + cols));
  }
}

TEST(Reduction, TotalSumOverRows) {
  RowKernelBuilder b({6, 5}, 33);
  int x = b.arg(Elem::F32, Access::Read, {400, 40});
  int total = b.scalarArg(Elem::F32, Access::Write);
  b.totalSum(total, b.load(x));
  Compiled kernel(b);
  Floats in(2400, 1), out(1, 7);
  kernel(in, out);
  EXPECT_EQ(out[0], 6 * 5 * 33);
}

TEST(Reduction, LoadRowAndScatterAddRow) {
  for (int64_t cols : oddCols) {
    RowKernelBuilder b({2, 4}, cols);
    int table = b.arg(Elem::F32, Access::Read, {0, 0});
    int ids = b.rowArg(Elem::I32, Access::Read);
    int y = b.denseArg(Elem::F32, Access::Write);
    int gradient = b.arg(Elem::F32, Access::Accumulate, {0, 0});
    Expr id = b.load(ids);
    Expr valid = b.logicalAnd(b.ge(id, b.constI32(0)), b.lt(id, b.constI32(5)));
    Expr row = b.loadRow(table, id, cols, valid);
    b.store(y, row);
    b.scatterAddRow(gradient, id, cols, row * 2.0f, valid);
    Compiled kernel(b);
    Floats in(randomFloats(5 * cols, 1, 2)), out(8 * cols, 9);
    Floats sums(5 * cols, 1);
    Buffer<int32_t> index({0, 4, -1, 4, 1000000000, 3, 4, 5});
    kernel(in, index, out, sums);
    std::vector<double> wanted(5 * cols, 1);
    for (int64_t r = 0; r < 8; ++r)
      for (int64_t c = 0; c < cols; ++c) {
        bool isIn = index[r] >= 0 && index[r] < 5;
        float value = isIn ? in[index[r] * cols + c] : 0;
        EXPECT_EQ(out[r * cols + c], value);
        if (isIn)
          wanted[index[r] * cols + c] += 2.0 * value;
      }
    for (int64_t i = 0; i < 5 * cols; ++i)
      EXPECT_CLOSE(sums[i], wanted[i], 1e-6);
    EXPECT_TRUE(out.guardIsWhole() && sums.guardIsWhole());
  }
}

/// One element a row, found by index; untouched where it is not valid.
TEST(Reduction, LoadRowOfOneElement) {
  RowKernelBuilder b({3}, 10);
  int x = b.arg(Elem::F32, Access::Read, {10}, /*colStride=*/0);
  int ids = b.rowArg(Elem::I64, Access::Read);
  int y = b.rowArg(Elem::F32, Access::Write);
  int counts = b.scalarArg(Elem::F32, Access::Accumulate);
  Expr id = b.load(ids), valid = b.ge(id, b.constI64(0));
  b.store(y, b.loadRow(x, id, 1, valid));
  b.scatterAddRow(counts, id, 1, b.constF32(1), valid);
  Compiled kernel(b);
  Floats in(randomFloats(30, 1, 2)), out(3, 9), count(10, 0);
  Buffer<int64_t> index({7, -(int64_t(1) << 40), 7});
  kernel(in, index, out, count);
  EXPECT_EQ(out[0], in[7]);
  EXPECT_EQ(out[1], 0);
  EXPECT_EQ(out[2], in[27]);
  EXPECT_EQ(count[7], 2);
  EXPECT_EQ(count[0], 0);
}

/// Index and table alike for all rows: a scalar, and a row of columns.
TEST(Reduction, LoadRowByScalarIndex) {
  RowKernelBuilder b({3}, 70);
  int scalars = b.scalarArg(Elem::F32);
  int table = b.colArg(Elem::F32, Access::Read);
  int y = b.denseArg(Elem::F32, Access::Write);
  Expr index = b.intArg(0);
  b.store(y, b.loadRow(table, index, 70) * b.loadRow(scalars, index, 1));
  Compiled kernel(b);
  Floats one({1, 2, 3}), in(randomFloats(210, 1, 2)), out(210, 0);
  kernel.call({one.data(), in.data(), out.data()}, {2});
  for (int i = 0; i < 210; ++i)
    EXPECT_EQ(out[i], in[140 + i % 70] * 3);
}

} // namespace colrow::kernel
