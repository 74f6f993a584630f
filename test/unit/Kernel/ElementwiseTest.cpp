// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes without reductions: arithmetic, comparisons, conversions, indices, and
// every way to address an argument.

#include "Harness.h"
#include <cmath>
#include <functional>
#include <limits>

namespace colrow::kernel {

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Sizes around every change of code: part of a vector, one, several, a loop.
constexpr int64_t oddCols[] = {1, 7, 16, 17, 60, 64, 150, 251};

/// f(x, y) of two f32 arrays.
using Binary = std::function<Expr(RowKernelBuilder &, Expr, Expr)>;
std::vector<float> evaluate(const std::vector<float> &x,
                            const std::vector<float> &y, Binary f) {
  RowKernelBuilder b({}, x.size());
  int argX = b.denseArg(Elem::F32, Access::Read);
  int argY = b.denseArg(Elem::F32, Access::Read);
  int out = b.denseArg(Elem::F32, Access::Write);
  b.store(out, f(b, b.load(argX), b.load(argY)));
  Compiled kernel(b);
  Floats bufferX(x), bufferY(y), result(x.size(), 0);
  kernel(bufferX, bufferY, result);
  EXPECT_TRUE(result.guardIsWhole());
  return {result.data(), result.data() + x.size()};
}

} // namespace

TEST(Elementwise, Arithmetic) {
  std::vector<float> x = randomFloats(251, -4, 4, 1);
  std::vector<float> y = randomFloats(251, -4, 4, 2);
  auto check = [&](Binary f, std::function<double(double, double)> reference) {
    std::vector<float> out = evaluate(x, y, f);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_CLOSE(out[i], reference(x[i], y[i]), 1e-6, 1e-6);
  };
  using B = RowKernelBuilder;
  check([](B &b, Expr x, Expr y) { return x + y; }, std::plus<double>());
  check([](B &b, Expr x, Expr y) { return x - y; }, std::minus<double>());
  check([](B &b, Expr x, Expr y) { return x * y; }, std::multiplies<double>());
  check([](B &b, Expr x, Expr y) { return x / y; }, std::divides<double>());
  check([](B &b, Expr x, Expr y) { return 3.0f * x - 0.5f; },
        [](double x, double y) { return 3 * x - 0.5; });
  check([](B &b, Expr x, Expr y) { return b.max(x, y); },
        [](double x, double y) { return std::max(x, y); });
  check([](B &b, Expr x, Expr y) { return b.min(x, y); },
        [](double x, double y) { return std::min(x, y); });
  check([](B &b, Expr x, Expr y) { return -b.abs(x) + y; },
        [](double x, double y) { return y - std::fabs(x); });
  check(
      [](B &b, Expr x, Expr y) { return 1.0f / (2.0f - x * 3.0f + y / 4.0f); },
      [](double x, double y) { return 1 / (2 - x * 3 + y / 4); });
}

TEST(Elementwise, InfinityAndNaN) {
  std::vector<float> x = {nan, 1, -inf, inf, -inf, nan};
  std::vector<float> y = {1, nan, -inf, 2, 3, nan};
  using B = RowKernelBuilder;
  auto expect = [&](Binary f, std::vector<float> wanted) {
    std::vector<float> out = evaluate(x, y, f);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_CLOSE(out[i], wanted[i], 0) << i;
  };
  expect([](B &b, Expr x, Expr y) { return b.max(x, y); },
         {nan, nan, -inf, inf, 3, nan});
  expect([](B &b, Expr x, Expr y) { return b.min(x, y); },
         {nan, nan, -inf, 2, -inf, nan});
  expect([](B &b, Expr x, Expr y) { return x + y; },
         {nan, nan, -inf, inf, -inf, nan});
  expect([](B &b, Expr x, Expr y) { return x * 0.0f; },
         {nan, 0, nan, nan, nan, nan});
  expect([](B &b, Expr x, Expr y) { return b.cast(b.isFinite(x), Type::F32); },
         {0, 1, 0, 0, 0, 0});
}

TEST(Elementwise, Comparisons) {
  std::vector<float> x = {1, 2, 3, nan}, y = {2, 2, 2, 2};
  const std::vector<float> wanted[] = {{1, 0, 0, 0}, {1, 1, 0, 0},
                                       {0, 1, 0, 0}, {1, 0, 1, 1},
                                       {0, 0, 1, 0}, {0, 1, 1, 0}};
  for (unsigned p = 0; p < 6; ++p) {
    auto compare = [&](RowKernelBuilder &b, Expr x, Expr y) {
      return b.select(b.cmp(Predicate(p), x, y), b.constF32(1), b.constF32(0));
    };
    EXPECT_EQ(evaluate(x, y, compare), wanted[p]) << p;
  }
  auto logic = [](RowKernelBuilder &b, Expr x, Expr y) {
    Expr both = b.logicalAnd(b.gt(x, b.constF32(1)), b.le(x, y));
    Expr either = b.logicalOr(both, b.logicalNot(b.eq(x, x)));
    return b.cast(either, Type::F32);
  };
  EXPECT_EQ(evaluate(x, y, logic), (std::vector<float>{0, 1, 0, 1}));
}

TEST(Elementwise, IntegersAndConversions) {
  RowKernelBuilder b({2, 3}, 19);
  int x = b.denseArg(Elem::I32, Access::Read);
  int wide = b.denseArg(Elem::I64, Access::Write);
  int narrow = b.denseArg(Elem::I32, Access::Write);
  int real = b.denseArg(Elem::F32, Access::Write);
  Expr v = b.load(x);
  Expr index =
      (b.rowIndex(0) * b.constI64(3) + b.rowIndex(1)) * b.constI64(19) +
      b.colIndex() + b.intArg(0);
  Expr sum = b.cast(v, Type::I64) * b.intArg(1) + index;
  b.store(wide, sum);
  b.store(narrow, b.max(b.cast(sum, Type::I32), b.neg(v)));
  b.store(real, b.cast(v, Type::F32) + b.cast(index, Type::F32) +
                    b.cast(b.lt(v, b.constI32(0)), Type::F32));
  Compiled kernel(b);
  Buffer<int32_t> in(114, 0), outNarrow(114, 0);
  Buffer<int64_t> outWide(114, 0);
  Floats outReal(114, 0);
  for (int i = 0; i < 114; ++i)
    in[i] = (i % 7 - 3) * 1000;
  const int64_t start = int64_t(1) << 40, scale = 12345678901;
  kernel.call({in.data(), outWide.data(), outNarrow.data(), outReal.data()},
              {start, scale});
  for (int i = 0; i < 114; ++i) {
    int64_t sum = in[i] * scale + i + start;
    EXPECT_EQ(outWide[i], sum);
    EXPECT_EQ(outNarrow[i], std::max(int32_t(sum), -in[i]));
    EXPECT_CLOSE(outReal[i], double(in[i]) + i + start + (in[i] < 0), 1e-7);
  }
  EXPECT_TRUE(outWide.guardIsWhole() && outNarrow.guardIsWhole());
}

/// Every operation on integers, in vectors and on one value a row.
template <typename T> void checkIntegers(Elem elem, Type type) {
  constexpr int64_t count = 19, results = 12;
  auto build = [&](RowKernelBuilder &b, bool byRow) {
    auto arg = [&](Access access) {
      return byRow ? b.rowArg(elem, access) : b.denseArg(elem, access);
    };
    Expr x = b.load(arg(Access::Read)), y = b.load(arg(Access::Read));
    for (Expr value :
         {x + y, x - y, x * y, b.neg(x), b.abs(x), b.max(x, y), b.min(x, y),
          b.cast(b.le(x, y), type), b.cast(b.ne(x, y), type),
          b.cast(b.logicalOr(b.gt(x, y), b.eq(x, y)), type),
          b.cast(b.logicalNot(b.ge(x, y)), type),
          b.select(b.logicalAnd(b.lt(x, y), b.ne(x, y)), x, y)})
      b.store(arg(Access::Write), value);
  };
  std::vector<T> x(count), y(count);
  for (int64_t i = 0; i < count; ++i)
    x[i] = T(i * 7919 % 23 - 11),
    y[i] = T(i % 5 * (sizeof(T) == 8 ? T(1) << 20 : 1) - 2);
  x[0] = std::numeric_limits<T>::min() + 2, y[1] = -1;
  for (bool byRow : {false, true}) {
    RowKernelBuilder b({byRow ? count : 1}, byRow ? 1 : count);
    build(b, byRow);
    Compiled kernel(b);
    Buffer<T> inX(x), inY(y);
    std::vector<Buffer<T>> out(results, Buffer<T>(count, T(0)));
    std::vector<void *> pointers = {inX.data(), inY.data()};
    for (Buffer<T> &buffer : out)
      pointers.push_back(buffer.data());
    kernel.call(pointers);
    for (int64_t i = 0; i < count; ++i) {
      T a = x[i], c = y[i];
      const T wanted[results] = {
          T(a + c),       T(a - c),    T(uint64_t(a) * uint64_t(c)),
          T(-a),          std::abs(a), std::max(a, c),
          std::min(a, c), a <= c,      a != c,
          a >= c,         a < c,       std::min(a, c)};
      for (int64_t k = 0; k < results; ++k)
        EXPECT_EQ(out[k][i], wanted[k]) << k << ": " << a << ", " << c;
    }
  }
}

TEST(Elementwise, IntegerOperations) {
  checkIntegers<int32_t>(Elem::I32, Type::I32);
  checkIntegers<int64_t>(Elem::I64, Type::I64);
}

/// Each index alone: loops over what it does not count may be joined, the
/// others not.
TEST(Elementwise, OneIndexAlone) {
  for (std::vector<int64_t> sizes :
       {std::vector<int64_t>{3, 5, 7}, {2, 3, 4, 5}, {4, 1, 6}, {6, 5, 1}}) {
    int64_t cols = sizes.back();
    llvm::ArrayRef<int64_t> rows = llvm::ArrayRef(sizes).drop_back();
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      RowKernelBuilder b(rows, cols);
      int y = b.denseArg(Elem::I64, Access::Write);
      b.store(y, dim == rows.size() ? b.colIndex() : b.rowIndex(dim));
      Compiled kernel(b);
      int64_t count = 1, inner = 1;
      for (size_t d = 0; d < sizes.size(); ++d) {
        count *= sizes[d];
        inner *= d > dim ? sizes[d] : 1;
      }
      Buffer<int64_t> out(count, -1);
      kernel(out);
      for (int64_t i = 0; i < count; ++i)
        EXPECT_EQ(out[i], i / inner % sizes[dim]) << "dimension " << dim;
    }
  }
}

TEST(Elementwise, BroadcastsRowsColumnsAndScalars) {
  for (int64_t cols : oddCols) {
    RowKernelBuilder b({2, 5}, cols);
    int x = b.denseArg(Elem::F32, Access::Read);
    int row = b.rowArg(Elem::F32, Access::Read);
    int col = b.colArg(Elem::F32, Access::Read);
    int scalar = b.scalarArg(Elem::F32);
    int outer = b.arg(Elem::F32, Access::Read, {cols, 0});
    int y = b.denseArg(Elem::F32, Access::Write);
    b.store(y, b.load(x) * b.load(row) + b.load(col) * b.load(scalar) +
                   b.load(outer));
    Compiled kernel(b);
    Floats in(randomFloats(10 * cols, -1, 1)), byRow(randomFloats(10, 1, 2));
    Floats byCol(randomFloats(cols, 3, 4)), one({2.5f});
    Floats byOuter(randomFloats(2 * cols, -9, 9)), out(10 * cols, 0);
    kernel(in, byRow, byCol, one, byOuter, out);
    for (int64_t i = 0; i < 10 * cols; ++i) {
      int64_t r = i / cols, c = i % cols;
      EXPECT_CLOSE(out[i],
                   double(in[i]) * byRow[r] + double(byCol[c]) * 2.5 +
                       byOuter[r / 5 * cols + c],
                   1e-6, 1e-6);
    }
    EXPECT_TRUE(out.guardIsWhole());
  }
}

/// A transpose of [rows, cols] by strides, and by a strided store.
TEST(Elementwise, StridedLoadAndStore) {
  for (int64_t cols : oddCols) {
    RowKernelBuilder b({3}, cols);
    int x = b.arg(Elem::F32, Access::Read, {1}, /*colStride=*/3);
    int y = b.denseArg(Elem::F32, Access::Write);
    int z = b.arg(Elem::F32, Access::Write, {2}, /*colStride=*/7,
                  /*offset=*/1);
    b.store(y, b.load(x));
    b.store(z, b.load(x));
    Compiled kernel(b);
    Floats in(randomFloats(3 * cols, -1, 1)), out(3 * cols, 0);
    Floats spread(7 * cols, 5);
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

/// Rotary embedding's access: two halves of a head, in place.
TEST(Elementwise, ColumnOffsetsInPlace) {
  for (int64_t half : {5, 16, 32, 100}) {
    RowKernelBuilder b({4, 3}, half);
    llvm::SmallVector<int64_t> strides = {6 * half, 2 * half};
    int x = b.arg(Elem::F32, Access::Read, strides);
    int angle = b.arg(Elem::F32, Access::Read, {half, 0});
    int y = b.arg(Elem::F32, Access::Write, strides);
    Expr low = b.load(x), high = b.load(x, half), c = b.load(angle);
    b.store(y, low * c - high);
    b.store(y, high * c + low, half);
    Compiled kernel(b);
    std::vector<float> before = randomFloats(24 * half, -1, 1);
    Floats data(before), angles(randomFloats(4 * half, -1, 1));
    kernel(data, angles, data);
    for (int64_t r = 0; r < 12; ++r)
      for (int64_t c = 0; c < half; ++c) {
        double l = before[r * 2 * half + c], a = angles[r / 3 * half + c];
        double h = before[r * 2 * half + half + c];
        EXPECT_CLOSE(data[r * 2 * half + c], l * a - h, 1e-6, 1e-6);
        EXPECT_CLOSE(data[r * 2 * half + half + c], h * a + l, 1e-6, 1e-6);
      }
    EXPECT_TRUE(data.guardIsWhole());
  }
}

TEST(Elementwise, Accumulates) {
  RowKernelBuilder b({3}, 21);
  int x = b.denseArg(Elem::F32, Access::Read);
  int y = b.denseArg(Elem::F32, Access::Accumulate);
  int z = b.rowArg(Elem::F32, Access::Accumulate);
  b.store(y, b.load(x));
  b.store(z, b.rowMax(b.load(x)));
  Compiled kernel(b);
  Floats in(63, 2), out(63, 1), row(3, 5);
  kernel(in, out, row);
  for (int i = 0; i < 63; ++i)
    EXPECT_EQ(out[i], 3);
  EXPECT_EQ(row[2], 7);
  EXPECT_TRUE(out.guardIsWhole() && row.guardIsWhole());
}

/// One value a row and one column: the rows become the loop.
/// One column, which lies beside the place of its row, and one that all rows
/// are added to.
TEST(Elementwise, SingleColumnsBesideAndShared) {
  RowKernelBuilder b({20}, 1);
  Expr x = b.load(b.arg(Elem::F32, Access::Read, {3}, 1), /*colOffset=*/2);
  b.store(b.arg(Elem::F32, Access::Write, {2}, 1), x, /*colOffset=*/1);
  Compiled beside(b);
  Floats in(randomFloats(60, 1, 2)), out(40, 5);
  beside(in, out);
  for (int64_t r = 0; r < 20; ++r) {
    EXPECT_EQ(out[2 * r], 5);
    EXPECT_EQ(out[2 * r + 1], in[3 * r + 2]);
  }
  RowKernelBuilder shared({20}, 1);
  Expr y = shared.load(shared.denseArg(Elem::F32, Access::Read));
  shared.store(shared.colArg(Elem::F32, Access::Accumulate), y);
  Compiled added(shared);
  Floats terms(randomFloats(20, 1, 2)), sum(1, 3);
  added(terms, sum);
  double wanted = 3;
  for (int64_t r = 0; r < 20; ++r)
    wanted += terms[r];
  EXPECT_CLOSE(sum[0], wanted, 1e-6);
}

TEST(Elementwise, SingleColumn) {
  RowKernelBuilder b({4, 9}, 1);
  int x = b.rowArg(Elem::F32, Access::Read);
  int y = b.arg(Elem::F32, Access::Write, {9, 1}, 0);
  b.store(y, b.load(x) + b.cast(b.rowIndex(1), Type::F32));
  Compiled kernel(b);
  Floats in(36, 1), out(36, 0);
  kernel(in, out);
  for (int i = 0; i < 36; ++i)
    EXPECT_EQ(out[i], 1 + i % 9);
  EXPECT_TRUE(out.guardIsWhole());
}

} // namespace colrow::kernel
