// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over many rows: rounding errors do not grow with the rows. Plain sums
// in float of a million equal terms are wrong in the second digit.

#include "Harness.h"
#include <cmath>
#include <limits>

namespace colrow::kernel {

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
/// What the project asks of sums over a million tokens.
constexpr double tolerance = 1e-5;

/// An argument of few rows that follow each other again and again.
int repeated(RowKernelBuilder &b, int64_t cols) {
  return b.arg(Elem::F32, Access::Read, {0, cols});
}

/// An accumulating store by `arg`, and scratch for it.
void sumInto(RowKernelBuilder &b, Arg arg, Expr value) {
  arg.access = Access::Accumulate;
  b.store(b.arg(arg), value);
  b.keepLost(b.arg(arg));
}

} // namespace

TEST(LongSum, ColSumOfAMillionRows) {
  for (int64_t cols : {1, 7, 40, 150}) {
    constexpr int64_t many = 50000, period = 20;
    RowKernelBuilder b({many, period}, cols);
    Expr x = b.load(repeated(b, cols));
    int sum = b.colArg(Elem::F32, Access::Write);
    b.colSum(sum, x);
    b.keepLost(b.colArg(Elem::F32, Access::Accumulate));
    int second = b.colArg(Elem::F32, Access::Accumulate);
    b.colSum(second, x * x);
    b.keepLost(b.colArg(Elem::F32, Access::Accumulate));
    Compiled kernel(b);
    Floats in(randomFloats(period * cols, 0.1f, 0.2f)), sums(cols, 9);
    Floats scratch(sumScratch(cols), 0), squares(cols, 1000);
    Floats scratch2(sumScratch(cols), 0);
    kernel(in, sums, scratch, squares, scratch2);
    for (int64_t c = 0; c < cols; ++c) {
      double wanted = 0, wantedSquares = 0;
      for (int64_t r = 0; r < period; ++r) {
        double value = in[r * cols + c];
        wanted += value * many;
        wantedSquares += value * value * many;
      }
      EXPECT_CLOSE(sums[c], wanted, tolerance);
      EXPECT_CLOSE(squares[c], 1000 + wantedSquares, tolerance);
    }
    EXPECT_TRUE(sums.guardIsWhole() && scratch.guardIsWhole());
    EXPECT_TRUE(squares.guardIsWhole() && scratch2.guardIsWhole());
  }
}

/// Equal terms round the same way each time: the worst case.
TEST(LongSum, EqualTermsAndOnesOfOtherSigns) {
  constexpr int64_t rows = 1000000, cols = 3;
  RowKernelBuilder b({rows}, cols);
  Expr sign = b.cast(b.rowIndex(0), Type::F32) * (2.0f / (rows - 1)) - 1.0f;
  Expr x = b.load(b.colArg(Elem::F32, Access::Read));
  b.colSum(b.colArg(Elem::F32, Access::Write), x);
  b.keepLost(b.colArg(Elem::F32, Access::Accumulate));
  b.colSum(b.colArg(Elem::F32, Access::Write), x * sign);
  b.keepLost(b.colArg(Elem::F32, Access::Accumulate));
  Compiled kernel(b);
  Floats in(std::vector<float>{0.1f, 1.0f / 3, -1e-3f}), sums(cols, 0),
      signedSums(cols, 0);
  Floats scratch(sumScratch(cols), 0), scratch2(sumScratch(cols), 0);
  kernel(in, sums, scratch, signedSums, scratch2);
  for (int64_t c = 0; c < cols; ++c) {
    EXPECT_CLOSE(sums[c], double(in[c]) * rows, tolerance);
    EXPECT_CLOSE(signedSums[c], 0, 0, tolerance * std::fabs(in[c]) * rows);
  }
}

/// Sums over the leading dimension alone: gradients of position tables.
TEST(LongSum, LeadingDimension) {
  constexpr int64_t many = 20000, kept = 3, cols = 37;
  RowKernelBuilder b({many, kept}, cols);
  Expr x = b.load(repeated(b, cols));
  Arg arg;
  arg.rowStrides = {0, cols};
  sumInto(b, arg, x);
  Compiled kernel(b);
  Floats in(randomFloats(kept * cols, 0.1f, 0.2f)), sums(kept * cols, 1);
  Floats scratch(sumScratch(kept * cols), 0);
  kernel(in, sums, scratch);
  for (int64_t i = 0; i < kept * cols; ++i)
    EXPECT_CLOSE(sums[i], 1 + double(in[i]) * many, tolerance);
  EXPECT_TRUE(sums.guardIsWhole() && scratch.guardIsWhole());
}

/// One element a row of columns: a sum over them that is stored once a row.
TEST(LongSum, OneElementARow) {
  constexpr int64_t many = 20000, kept = 5, cols = 6;
  RowKernelBuilder b({many, kept}, cols);
  Expr x = b.rowSum(b.load(repeated(b, cols)));
  Arg arg;
  arg.rowStrides = {0, 1};
  arg.colStride = 0;
  sumInto(b, arg, x);
  Compiled kernel(b);
  Floats in(randomFloats(kept * cols, 0.1f, 0.2f)), sums(kept, 0);
  Floats scratch(sumScratch(kept), 0);
  kernel(in, sums, scratch);
  for (int64_t i = 0; i < kept; ++i) {
    float *row = in.data() + i * cols;
    EXPECT_CLOSE(sums[i], std::accumulate(row, row + cols, 0.0) * many,
                 tolerance);
  }
}

/// Rows that are met once, some 64 times, and nearly always; one is out of the
/// table.
TEST(LongSum, Scatter) {
  for (int64_t cols : {1, 9, 70}) {
    constexpr int64_t rows = 1000000, table = 300;
    RowKernelBuilder b({rows}, cols);
    int ids = b.rowArg(Elem::I32, Access::Read);
    int gradient = b.colArg(Elem::F32, Access::Accumulate);
    Expr id = b.load(ids);
    Expr valid =
        b.logicalAnd(b.ge(id, b.constI32(0)), b.lt(id, b.constI32(table)));
    Expr x = b.load(b.colArg(Elem::F32, Access::Read));
    b.scatterAddRow(gradient, id, cols, x, valid);
    b.keepLost(b.scalarArg(Elem::F32, Access::Accumulate));
    Compiled kernel(b);
    std::vector<int32_t> index(rows, 7);
    for (int64_t r = 0; r < rows; ++r)
      if (r % 5 == 1)
        index[r] = 299;
      else if (r % 7 == 2)
        index[r] = r % 11 ? 1000000000 : -1;
      else if (r % 500 == 3)
        index[r] = 20 + r / 500 % 40;
    for (int64_t k = 0; k < 100; ++k)
      for (int64_t r = 0; r < 1 + k; ++r)
        index[r * 10 + k] = 100 + int32_t(k); // met 1 + k times
    std::vector<int64_t> met(table, 0);
    for (int32_t id : index)
      if (id >= 0 && id < table)
        ++met[id];
    Buffer<int32_t> indices(index);
    Floats in(randomFloats(cols, 0.1f, 0.2f)), sums(table * cols, 2);
    Floats scratch(scatterScratch(rows, cols, table), 0);
    kernel(indices, sums, in, scratch);
    for (int64_t id = 0; id < table; ++id)
      for (int64_t c = 0; c < cols; ++c)
        ASSERT_CLOSE(sums[id * cols + c], 2 + double(in[c]) * met[id],
                     tolerance);
    EXPECT_TRUE(sums.guardIsWhole() && scratch.guardIsWhole());
  }
}

/// Whole vectors, and no condition: nothing is masked.
TEST(LongSum, ScatterOfWholeVectors) {
  constexpr int64_t rows = 100000, cols = 32, table = 3;
  RowKernelBuilder b({rows}, cols);
  Expr id = b.load(b.rowArg(Elem::I32, Access::Read));
  Expr x = b.load(b.colArg(Elem::F32, Access::Read));
  b.scatterAddRow(b.colArg(Elem::F32, Access::Accumulate), id, cols, x);
  b.keepLost(b.scalarArg(Elem::F32, Access::Accumulate));
  Compiled kernel(b);
  std::vector<int32_t> index(rows, 2);
  index[5] = 0;
  Buffer<int32_t> indices(index);
  Floats in(randomFloats(cols, 0.1f, 0.2f)), sums(table * cols, 2);
  Floats scratch(scatterScratch(rows, cols, table), 0);
  kernel(indices, in, sums, scratch);
  for (int64_t c = 0; c < cols; ++c) {
    EXPECT_CLOSE(sums[c], 2 + double(in[c]), tolerance);
    EXPECT_EQ(sums[cols + c], 2);
    EXPECT_CLOSE(sums[2 * cols + c], 2 + double(in[c]) * (rows - 1), tolerance);
  }
  EXPECT_TRUE(sums.guardIsWhole() && scratch.guardIsWhole());
}

/// Each row of the table is met just often enough for scratch.
TEST(LongSum, ScatterTakesAllOfItsScratch) {
  constexpr int64_t table = 5, cols = 20, rows = table * (sumBlock + 1);
  RowKernelBuilder b({rows}, cols);
  int ids = b.rowArg(Elem::I64, Access::Read);
  int gradient = b.colArg(Elem::F32, Access::Accumulate);
  b.scatterAddRow(gradient, b.load(ids), cols,
                  b.load(b.colArg(Elem::F32, Access::Read)));
  b.keepLost(b.scalarArg(Elem::F32, Access::Accumulate));
  Compiled kernel(b);
  std::vector<int64_t> index(rows);
  for (int64_t r = 0; r < rows; ++r)
    index[r] = r % table;
  Buffer<int64_t> indices(index);
  Floats in(randomFloats(cols, 0.1f, 0.2f)), sums(table * cols, 0);
  Floats scratch(scatterScratch(rows, cols, table), 0);
  kernel(indices, sums, in, scratch);
  for (int64_t i = 0; i < table * cols; ++i)
    EXPECT_CLOSE(sums[i], double(in[i % cols]) * (sumBlock + 1), tolerance);
  EXPECT_TRUE(sums.guardIsWhole() && scratch.guardIsWhole());
}

TEST(LongSum, KeepsInfinityAndNaN) {
  constexpr int64_t rows = 1000, cols = 4;
  RowKernelBuilder b({rows}, cols);
  int ids = b.rowArg(Elem::I32, Access::Read);
  Expr x = b.load(b.denseArg(Elem::F32, Access::Read));
  b.colSum(b.colArg(Elem::F32, Access::Write), x);
  b.keepLost(b.colArg(Elem::F32, Access::Accumulate));
  b.scatterAddRow(b.colArg(Elem::F32, Access::Accumulate), b.load(ids), cols,
                  x);
  b.keepLost(b.scalarArg(Elem::F32, Access::Accumulate));
  Compiled kernel(b);
  Buffer<int32_t> indices(rows, 0);
  Floats in(rows * cols, 0.1f), sums(cols, 0), scratch(sumScratch(cols), 0);
  Floats table(cols, 0), scratch2(scatterScratch(rows, cols, 1), 0);
  in[300 * cols] = inf;
  in[300 * cols + 1] = -inf;
  in[300 * cols + 2] = NAN;
  kernel(indices, in, sums, scratch, table, scratch2);
  for (Floats *found : {&sums, &table}) {
    EXPECT_EQ((*found)[0], inf);
    EXPECT_EQ((*found)[1], -inf);
    EXPECT_TRUE(std::isnan((*found)[2]));
    EXPECT_CLOSE((*found)[3], 100, tolerance);
  }
}

TEST(LongSum, RowSumOfAMillionColumns) {
  constexpr int64_t cols = 1000003;
  RowKernelBuilder b({2}, cols);
  Expr x = b.load(b.rowArg(Elem::F32, Access::Read)) *
           b.load(b.scalarArg(Elem::F32));
  Expr first = b.select(b.ge(b.colIndex(), b.constI64(0)), x, b.constF32(0));
  b.store(b.rowArg(Elem::F32, Access::Write), b.rowSum(first));
  Compiled kernel(b);
  Floats in(std::vector<float>{0.1f, 0.7f}), one(1, 1), sums(2, 0);
  kernel(in, one, sums);
  EXPECT_CLOSE(sums[0], double(in[0]) * cols, tolerance);
  EXPECT_CLOSE(sums[1], double(in[1]) * cols, tolerance);
}

TEST(LongSum, RefusesScratchThatDoesNotFit) {
  auto error = [](auto build) {
    RowKernelBuilder b({70, 3}, 10);
    build(b, b.load(b.denseArg(Elem::F32, Access::Read)));
    return llvm::toString(b.finish().takeError());
  };
  EXPECT_EQ(error([](RowKernelBuilder &b, Expr x) {
              b.totalSum(b.scalarArg(Elem::F32, Access::Write), x);
              b.keepLost(b.scalarArg(Elem::F32, Access::Accumulate));
            }),
            "row kernel: total_sum: only sums of f32 over rows keep what they "
            "lose");
  EXPECT_EQ(error([](RowKernelBuilder &b, Expr x) {
              b.colSum(b.colArg(Elem::F32, Access::Write), x);
              b.keepLost(b.colArg(Elem::F32, Access::Write));
            }),
            "row kernel: col_sum: scratch must be f32, accumulated into, at "
            "offset 0");
  EXPECT_EQ(error([](RowKernelBuilder &b, Expr x) {
              b.colSum(b.colArg(Elem::F32, Access::Write), x);
              b.keepLost(b.scalarArg(Elem::F32, Access::Accumulate));
            }),
            "row kernel: col_sum: scratch must have the argument's strides");
  EXPECT_EQ(error([](RowKernelBuilder &b, Expr x) {
              int rows[] = {0, 0};
              for (int &arg : rows)
                arg = b.arg(Elem::F32, Access::Accumulate, {10, 0});
              b.store(rows[0], x);
              b.keepLost(rows[1]);
            }),
            "row kernel: store: the dimensions summed over must be the leading "
            "ones");
  EXPECT_EQ(error([](RowKernelBuilder &b, Expr x) {
              int gradient = b.colArg(Elem::F32, Access::Accumulate);
              b.scatterAddRow(gradient, b.rowIndex(0), 10, x);
              b.keepLost(b.denseArg(Elem::F32, Access::Accumulate));
            }),
            "row kernel: scatter_add_row: a scatter's columns must be "
            "adjacent, and its scratch's row strides 0");
}

} // namespace colrow::kernel
