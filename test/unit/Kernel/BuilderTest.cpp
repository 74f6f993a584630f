// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The builder: one node an expression, and one clear error for misuse.

#include "Harness.h"
#include <functional>

namespace colrow::kernel {

namespace {

std::string errorOf(std::function<void(RowKernelBuilder &)> build) {
  RowKernelBuilder b({3}, 5);
  build(b);
  llvm::Expected<RowKernel> kernel = b.finish();
  return kernel ? "" : llvm::toString(kernel.takeError());
}

RowKernel scaled(float factor) {
  RowKernelBuilder b({3}, 5);
  int x = b.denseArg(Elem::F32, Access::Read);
  int y = b.denseArg(Elem::F32, Access::Write);
  b.store(y, b.load(x) * factor);
  return llvm::cantFail(b.finish());
}

} // namespace

TEST(Builder, EqualExpressionsAreOneNode) {
  RowKernelBuilder b({3}, 5);
  int x = b.denseArg(Elem::F32, Access::Read);
  EXPECT_EQ((b.load(x) + 1.0f).node, (b.load(x) + 1.0f).node);
  EXPECT_NE((b.load(x) + 1.0f).node, (b.load(x) + 2.0f).node);
}

TEST(Builder, EqualKernelsHaveOneKey) {
  EXPECT_EQ(scaled(2), scaled(2));
  EXPECT_EQ(hash_value(scaled(2)), hash_value(scaled(2)));
  EXPECT_EQ(scaled(2).canonical(), scaled(2).canonical());
  EXPECT_NE(scaled(2), scaled(3));
  EXPECT_NE(scaled(2).canonical(), scaled(3).canonical());
}

TEST(Builder, Prints) {
  EXPECT_EQ(scaled(2).canonical(),
            "kernel rows [3] cols 5 ints 0\n"
            "  arg0: f32 read offset 0 rows [5] col 1\n"
            "  arg1: f32 write offset 0 rows [5] col 1\n"
            "  %0 = load arg0 offset 0 : f32 full\n"
            "  %1 = const 40000000 (2.000000e+00) : f32 scalar\n"
            "  %2 = mul %0 %1 : f32 full\n"
            "  store arg1 offset 0 %2\n");
}

TEST(Builder, RefusesMisuse) {
  using B = RowKernelBuilder;
  EXPECT_EQ(errorOf([](B &b) { b.constF32(1) + b.constI32(1); }),
            "row kernel: add: the operands' types differ");
  EXPECT_EQ(errorOf([](B &b) { b.exp(b.constI32(1)); }),
            "row kernel: exp: wanted f32");
  EXPECT_EQ(errorOf([](B &b) {
              b.store(b.rowArg(Elem::I64, Access::Write), b.colIndex());
            }),
            "row kernel: store: the value differs by column, the argument "
            "does not");
  EXPECT_EQ(errorOf([](B &b) {
              b.store(b.denseArg(Elem::F32, Access::Read), b.constF32(1));
            }),
            "row kernel: store: argument 0 is read only; give it "
            "Access::Write or Accumulate");
  EXPECT_EQ(errorOf([](B &b) { b.load(3); }),
            "row kernel: load: argument 3 does not exist");
  EXPECT_EQ(errorOf([](B &b) { b.rowIndex(1); }),
            "row kernel: row_index: row dimension 1 of 1");
  EXPECT_EQ(errorOf([](B &b) {
              int table = b.colArg(Elem::F32, Access::Read);
              b.loadRow(table, b.colIndex(), 5);
            }),
            "row kernel: load_row: the index differs by column");
  EXPECT_EQ(errorOf([](B &b) {
              b.totalSum(b.colArg(Elem::F32, Access::Write), b.constF32(1));
            }),
            "row kernel: total_sum: the argument must be one element: all "
            "strides 0");
  EXPECT_EQ(errorOf([](B &b) {
              int sum = b.scalarArg(Elem::F32, Access::Write);
              b.totalSum(sum, b.constF32(1));
              b.totalSum(sum, b.constF32(2));
            }),
            "row kernel: two sums go to arg0; give each its own argument");
  EXPECT_EQ(errorOf([](B &b) { b.arg(Elem::F32, Access::Read, {1, 2}); }),
            "row kernel: arg0 has 2 row strides, wanted one for each of the 1 "
            "row dimensions");
}

/// What is built on the first misuse, or is no sum, adds no other error.
TEST(Builder, TheFirstMisuseIsReported) {
  EXPECT_EQ(errorOf([](RowKernelBuilder &b) {
              Expr wrong = b.exp(b.constI32(1));
              EXPECT_EQ(b.typeOf(wrong), Type::None);
              b.load(7);
              b.keepLost(9);
            }),
            "row kernel: exp: wanted f32");
  EXPECT_EQ(errorOf([](RowKernelBuilder &b) { b.keepLost(0); }), "");
}

TEST(Builder, VerifyRefusesForgedKernels) {
  RowKernel cycle = scaled(2);
  cycle.nodes[2].operands[0] = 2;
  EXPECT_EQ(llvm::toString(verify(cycle)),
            "row kernel: node 2 uses node 2, which does not stand before it");
  RowKernel mistyped = scaled(2);
  mistyped.nodes[2].type = Type::I32;
  EXPECT_EQ(llvm::toString(verify(mistyped)),
            "row kernel: node 2 (mul) has another type or class than its "
            "operands give");
  RowKernel empty = scaled(2);
  empty.cols = 0;
  EXPECT_EQ(llvm::toString(verify(empty)),
            "row kernel: cols is 0, wanted at least 1");
  RowKernel huge = scaled(2);
  huge.rows = {int64_t(1) << 60};
  EXPECT_EQ(llvm::toString(verify(huge)),
            "row kernel: more than 2^56 elements");
}

} // namespace colrow::kernel
