// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks in memory: a byte an element, 0 or 1.

#include "Harness.h"

namespace colrow::kernel {

namespace {

using Mask = Buffer<uint8_t>;

/// Sizes around every change of code: part of a vector, one, several, a loop.
constexpr int64_t oddCols[] = {1, 7, 16, 17, 60, 64, 150, 251};

} // namespace

TEST(Masks, LoadSelectStore) {
  for (const Target &target : testTargets())
    for (int64_t cols : oddCols) {
      RowKernelBuilder b({2}, cols);
      int mask = b.denseArg(Elem::I1, Access::Read);
      int spread = b.arg(Elem::I1, Access::Read, {1}, /*colStride=*/2);
      int rowMask = b.rowArg(Elem::I1, Access::Read);
      int x = b.denseArg(Elem::F32, Access::Read);
      Expr both = b.logicalAnd(b.load(mask), b.load(spread));
      Expr kept = b.logicalAnd(both, b.load(rowMask));
      b.store(b.denseArg(Elem::F32, Access::Write),
              b.select(kept, b.load(x), b.constF32(0)));
      b.store(b.denseArg(Elem::I1, Access::Write), b.logicalNot(both));
      b.store(b.rowArg(Elem::I1, Access::Write),
              b.gt(b.rowMax(b.load(x)), b.constF32(0.5f)));
      Compiled kernel(b.finish(), target);
      std::vector<uint8_t> bits, others;
      for (int64_t i = 0; i < 2 * cols; ++i) {
        bits.push_back(i % 3 != 0);
        others.push_back(i % 5 != 0);
      }
      Mask in(bits), by(others), rows(std::vector<uint8_t>{1, 0});
      Floats values(randomFloats(2 * cols, 0, 1)), out(2 * cols, 7);
      Mask inverse(2 * cols, 7), large(2, 7);
      kernel(in, by, rows, values, out, inverse, large);
      for (int64_t i = 0; i < 2 * cols; ++i) {
        int64_t r = i / cols, c = i % cols;
        bool set = bits[i] && others[r + 2 * c];
        EXPECT_EQ(out[i], set && r == 0 ? values[i] : 0);
        EXPECT_EQ(inverse[i], !set);
      }
      for (int64_t r = 0; r < 2; ++r) {
        float *row = values.data() + r * cols;
        EXPECT_EQ(large[r], *std::max_element(row, row + cols) > 0.5f);
      }
      EXPECT_TRUE(out.guardIsWhole() && inverse.guardIsWhole() &&
                  large.guardIsWhole());
    }
}

TEST(Masks, Print) {
  RowKernelBuilder b({3}, 5);
  int mask = b.denseArg(Elem::I1, Access::Read);
  int y = b.denseArg(Elem::BF16, Access::Write);
  b.store(y, b.select(b.load(mask), b.constF32(1), b.constF32(0)));
  std::string text = llvm::cantFail(b.finish()).canonical();
  EXPECT_NE(text.find("arg0: i1 read offset 0 rows [5] col 1\n"
                      "  arg1: bf16 write offset 0 rows [5] col 1\n"
                      "  %0 = load arg0 offset 0 : i1 full\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(elemBytes(Elem::BF16), 2);
  EXPECT_EQ(elemBytes(Elem::I1), 1);
}

} // namespace colrow::kernel
