// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The canonical text of kernels read back, what it refuses, and what a kernel
// says about its arguments.

#include "Harness.h"
#include "colrow/Kernel/RowKernel.h"
#include "gtest/gtest.h"
#include <limits>

namespace colrow::kernel {
namespace {

RowKernel take(llvm::Expected<RowKernel> kernel) {
  if (kernel)
    return std::move(*kernel);
  ADD_FAILURE() << llvm::toString(kernel.takeError());
  return {};
}

/// y = x * `factor`, over 2 x 3 rows of 4.
RowKernelBuilder scaled(float factor) {
  RowKernelBuilder b({2, 3}, 4);
  Expr x = b.load(b.denseArg(Elem::F32, Access::Read));
  b.store(b.denseArg(Elem::F32, Access::Write), x * factor);
  return b;
}

/// Floats by their bits: no rounding, signed zeros, infinities and NaNs apart.
TEST(KernelText, KeepsEveryConstant) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (float value : {0.1f, -0.0f, 1e-45f, 3.4028235e38f, infinity, -infinity,
                      std::numeric_limits<float>::quiet_NaN()}) {
    RowKernel kernel = take(scaled(value).finish());
    EXPECT_EQ(take(parseKernel(kernel.canonical())), kernel);
  }
  RowKernelBuilder b({}, 1);
  Expr wide = b.add(b.constI64(std::numeric_limits<int64_t>::min()),
                    b.cast(b.constI32(-7), Type::I64));
  b.store(b.denseArg(Elem::I64, Access::Write), wide);
  RowKernel kernel = take(b.finish());
  EXPECT_EQ(take(parseKernel(kernel.canonical())), kernel);
}

TEST(KernelText, KeepsWhatOneLineCannotSayAlone) {
  RowKernelBuilder b({5}, 4);
  int table = b.arg(Elem::F32, Access::Read, {0}, 1, 3);
  Expr row = b.rowIndex(0) + b.intArg(2);
  Expr valid = b.lt(row, b.constI64(3));
  Expr x = b.loadRow(table, row, 4, valid);
  Expr drawn = b.philoxUniform(b.constI64(1), 4000000000u, b.constI64(2),
                               row * b.constI64(4) + b.colIndex());
  int out = b.arg(Elem::F32, Access::Accumulate, {0}, 1);
  b.scatterAddRow(out, row, 4, b.select(b.ge(drawn, b.constF32(0.5f)), x, -x),
                  valid);
  b.totalSum(b.arg(Elem::F32, Access::Write, {0}, 0), b.rowSum(x));
  RowKernel kernel = take(b.finish());
  EXPECT_EQ(kernel.numInts, 3u);
  EXPECT_EQ(take(parseKernel(kernel.canonical())), kernel);
}

std::string errorOf(llvm::StringRef text) {
  auto kernel = parseKernel(text);
  return kernel ? "" : llvm::toString(kernel.takeError());
}

std::string replaced(std::string text, llvm::StringRef what,
                     llvm::StringRef with) {
  size_t at = text.find(what.str());
  EXPECT_NE(at, std::string::npos) << what.str();
  return text.replace(at, what.size(), with.str());
}

TEST(KernelText, NamesTheLineThatIsNone) {
  std::string text = take(scaled(2).finish()).canonical();
  EXPECT_EQ(errorOf(text), "");
  EXPECT_EQ(errorOf(replaced(text, "cols 4", "cols")),
            "row kernel: line 1 is not one: 'kernel rows [2, 3] cols ints 0'");
  EXPECT_EQ(errorOf(replaced(text, "read", "reads")),
            "row kernel: line 2 is not one: '  arg0: f32 reads offset 0 rows "
            "[12, 4] col 1'");
  EXPECT_EQ(errorOf(replaced(text, "%0 = load", "%0 = lode")),
            "row kernel: line 4 is not one: '  %0 = lode arg0 offset 0 : f32 "
            "full'");
  // A value that is not there yet, another number, another class.
  EXPECT_EQ(errorOf(replaced(text, "mul %0", "mul %7")),
            "row kernel: line 6 is not one: '  %2 = mul %7 %1 : f32 full'");
  EXPECT_EQ(errorOf(replaced(text, "%2 = mul", "%5 = mul")),
            "row kernel: line 6 is not one: '  %5 = mul %0 %1 : f32 full'");
  EXPECT_EQ(errorOf(replaced(text, "%1 : f32 full", "%1 : f32 row")),
            "row kernel: line 6 is not one: '  %2 = mul %0 %1 : f32 row'");
}

TEST(KernelText, RefusesWhatNoBuilderMakes) {
  std::string text = take(scaled(2).finish()).canonical();
  EXPECT_EQ(errorOf(replaced(text, "arg1: f32 write", "arg1: f32 read")),
            "row kernel: store: argument 1 is read only; give it "
            "Access::Write or Accumulate");
  EXPECT_EQ(errorOf(replaced(text, "rows [2, 3] cols", "rows [2, 0] cols")),
            "row kernel: a row dimension has size 0, wanted at least 1");
}

/// Bytes from the pointer to the last element, by stride and offset.
TEST(KernelArgs, ExtentsReachTheLastElement) {
  RowKernelBuilder b({2, 3}, 4);
  int strided = b.arg(Elem::F32, Access::Read, {100, 10}, 2, 7);
  Expr x = b.load(strided);
  b.store(b.denseArg(Elem::F32, Access::Write), x);
  Expr wide =
      b.load(b.arg(Elem::I64, Access::Read, {0, 1}, 0), /*colOffset=*/5);
  b.store(b.arg(Elem::I64, Access::Write, {3, 1}, 0), wide);
  int shifted = b.arg(Elem::F32, Access::Write, {40, 10}, 1);
  b.store(shifted, x);
  b.store(shifted, x, /*colOffset=*/4);
  RowKernel kernel = take(b.finish());
  EXPECT_EQ(extentBytes(kernel, 0), (7 + 100 + 20 + 6 + 1) * 4);
  EXPECT_EQ(extentBytes(kernel, shifted), (40 + 20 + 3 + 4 + 1) * 4);
  EXPECT_EQ(extentBytes(kernel, 1), 24 * 4);
  EXPECT_EQ(extentBytes(kernel, 2), (2 + 5 + 1) * 8);
  EXPECT_EQ(extentBytes(kernel, 3), (3 + 2 + 1) * 8);
}

using Args = llvm::SmallVector<int64_t>;

/// Elements that are read where the result is written may be its memory.
TEST(KernelArgs, InPlace) {
  RowKernelBuilder b({3}, 4);
  Expr same = b.load(b.denseArg(Elem::F32, Access::Read));
  Expr other = b.load(b.arg(Elem::F32, Access::Read, {5}, 1));
  Expr perRow = b.load(b.rowArg(Elem::F32, Access::Read));
  int shifted = b.denseArg(Elem::F32, Access::Read);
  Expr beside = b.load(shifted, /*colOffset=*/1);
  int gathered = b.denseArg(Elem::F32, Access::Read);
  Expr row = b.loadRow(gathered, b.rowIndex(0), 4);
  b.store(b.denseArg(Elem::F32, Access::Write),
          same + other + perRow + beside + row);
  RowKernel kernel = take(b.finish());
  EXPECT_EQ(getInPlaceArgs(kernel, 5), (Args{0}));
}

/// One element for many rows, sums, and what is added to stand alone.
TEST(KernelArgs, NotInPlace) {
  RowKernelBuilder b({3}, 4);
  Expr x = b.load(b.denseArg(Elem::F32, Access::Read));
  Expr perRow = b.load(b.rowArg(Elem::F32, Access::Read));
  Expr column = b.load(b.colArg(Elem::F32, Access::Read));
  b.store(b.denseArg(Elem::F32, Access::Accumulate), x + column);
  b.store(b.rowArg(Elem::F32, Access::Write), perRow);
  b.colSum(b.colArg(Elem::F32, Access::Write), x);
  RowKernel kernel = take(b.finish());
  EXPECT_EQ(getInPlaceArgs(kernel, 3), Args());
  EXPECT_EQ(getInPlaceArgs(kernel, 4), Args());
  EXPECT_EQ(getInPlaceArgs(kernel, 5), Args());
}

} // namespace
} // namespace colrow::kernel
