// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way from a kernel to a shared object.

#include "Harness.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/raw_ostream.h"

namespace colrow::kernel {

TEST(Compile, Elementwise) {
  RowKernelBuilder b({3}, 17);
  int x = b.denseArg(Elem::F32, Access::Read);
  int y = b.denseArg(Elem::F32, Access::Write);
  b.store(y, b.load(x) * 2.0f + 1.0f);
  Compiled kernel(b);
  Floats in(randomFloats(51, -1, 1)), out(51, 0);
  kernel(in, out);
  for (size_t i = 0; i < 51; ++i)
    EXPECT_FLOAT_EQ(out[i], in[i] * 2 + 1);
  EXPECT_TRUE(out.guardIsWhole());
}

TEST(Compile, RowSum) {
  for (int64_t cols : {1, 7, 16, 17, 60, 150, 251, 1000}) {
    RowKernelBuilder b({3}, cols);
    int x = b.denseArg(Elem::F32, Access::Read);
    int y = b.rowArg(Elem::F32, Access::Write);
    b.store(y, b.rowSum(b.load(x)));
    Compiled kernel(b);
    Floats in(randomFloats(3 * cols, -1, 1)), out(3, 0);
    kernel(in, out);
    for (int64_t row = 0; row < 3; ++row) {
      double sum = 0;
      for (int64_t col = 0; col < cols; ++col)
        sum += in[row * cols + col];
      EXPECT_CLOSE(out[row], sum, 1e-6, 1e-6);
    }
    EXPECT_TRUE(out.guardIsWhole());
  }
}

} // namespace colrow::kernel
