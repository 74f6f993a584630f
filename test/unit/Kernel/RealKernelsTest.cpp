// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a Transformer's step, against the same formulas in double.

#include "Harness.h"
#include <cmath>
#include <limits>

namespace colrow::kernel {

namespace {

constexpr int64_t oddCols[] = {1, 7, 16, 17, 60, 150, 251, 1024};
constexpr int64_t rows = 6;

double mean(const float *x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += x[i];
  return sum / n;
}

} // namespace

/// y = (x - mean) rstd gamma + beta, in place, with both statistics kept.
TEST(RealKernels, LayerNormInPlace) {
  for (int64_t cols : oddCols) {
    RowKernelBuilder b({2, 3}, cols);
    int argX = b.denseArg(Elem::F32, Access::Read);
    int gamma = b.colArg(Elem::F32, Access::Read);
    int beta = b.colArg(Elem::F32, Access::Read);
    int argY = b.denseArg(Elem::F32, Access::Write);
    int argMean = b.rowArg(Elem::F32, Access::Write);
    int argRstd = b.rowArg(Elem::F32, Access::Write);
    Expr mu = b.rowSum(b.load(argX)) * (1.0f / cols);
    Expr centered = b.load(argX) - mu;
    Expr rstd = b.rsqrt(b.rowSum(centered * centered) * (1.0f / cols) + 1e-5f);
    b.store(argY, centered * rstd * b.load(gamma) + b.load(beta));
    b.store(argMean, mu);
    b.store(argRstd, rstd);
    Compiled kernel(b);
    std::vector<float> before = randomFloats(rows * cols, 2, 4);
    Floats data(before), g(randomFloats(cols, -1, 1, 2));
    Floats s(randomFloats(cols, -1, 1, 3)), means(rows, 0), rstds(rows, 0);
    kernel(data, g, s, data, means, rstds);
    for (int64_t r = 0; r < rows; ++r) {
      const float *x = before.data() + r * cols;
      double mu = mean(x, cols), variance = 0;
      for (int64_t c = 0; c < cols; ++c)
        variance += (x[c] - mu) * (x[c] - mu) / cols;
      double rstd = 1 / std::sqrt(variance + 1e-5);
      EXPECT_CLOSE(means[r], mu, 1e-6);
      EXPECT_CLOSE(rstds[r], rstd, 1e-5);
      for (int64_t c = 0; c < cols; ++c)
        EXPECT_CLOSE(data[r * cols + c], (x[c] - mu) * rstd * g[c] + s[c], 1e-5,
                     cols == 1 ? 1e-3 : 1e-5);
    }
    EXPECT_TRUE(data.guardIsWhole());
  }
}

/// dx of an RMS norm, and its weight's gradient by a column sum.
TEST(RealKernels, RmsNormBackward) {
  for (int64_t cols : oddCols) {
    RowKernelBuilder b({rows}, cols);
    int argX = b.denseArg(Elem::F32, Access::Read);
    int argW = b.colArg(Elem::F32, Access::Read);
    int argDy = b.denseArg(Elem::F32, Access::Read);
    int argDx = b.denseArg(Elem::F32, Access::Write);
    int argDw = b.colArg(Elem::F32, Access::Write);
    Expr x = b.load(argX), dy = b.load(argDy);
    Expr r = b.rsqrt(b.rowSum(x * x) * (1.0f / cols) + 1e-6f);
    Expr dn = dy * b.load(argW), n = x * r;
    b.store(argDx, (dn - n * (b.rowSum(dn * n) * (1.0f / cols))) * r);
    b.colSum(argDw, dy * n);
    Compiled kernel(b);
    Floats in(randomFloats(rows * cols, -2, 2)), w(randomFloats(cols, 0, 2, 2));
    Floats g(randomFloats(rows * cols, -1, 1, 3)), dx(rows * cols, 0);
    Floats dw(cols, 5);
    kernel(in, w, g, dx, dw);
    std::vector<double> wantedDw(cols, 0);
    for (int64_t row = 0; row < rows; ++row) {
      const float *x = in.data() + row * cols, *dy = g.data() + row * cols;
      double square = 0, dot = 0;
      for (int64_t c = 0; c < cols; ++c)
        square += double(x[c]) * x[c] / cols;
      double r = 1 / std::sqrt(square + 1e-6);
      for (int64_t c = 0; c < cols; ++c)
        dot += double(dy[c]) * w[c] * x[c] * r / cols;
      for (int64_t c = 0; c < cols; ++c) {
        double wanted = (double(dy[c]) * w[c] - x[c] * r * dot) * r;
        EXPECT_CLOSE(dx[row * cols + c], wanted, 1e-5, 5e-6);
        wantedDw[c] += dy[c] * x[c] * r;
      }
    }
    for (int64_t c = 0; c < cols; ++c)
      EXPECT_CLOSE(dw[c], wantedDw[c], 1e-5, 1e-5);
    EXPECT_TRUE(dx.guardIsWhole() && dw.guardIsWhole());
  }
}

/// Loss and gradient of the scores, with ignored labels, over rows short and
/// longer than what is kept in a row buffer.
TEST(RealKernels, SoftmaxCrossEntropy) {
  for (int64_t cols : {1, 7, 17, 60, 251, 1000, 17001}) {
    RowKernelBuilder b({rows}, cols);
    int argX = b.denseArg(Elem::F32, Access::Read);
    int argLabel = b.rowArg(Elem::I32, Access::Read);
    int argLoss = b.scalarArg(Elem::F32, Access::Write);
    int argDx = b.denseArg(Elem::F32, Access::Write);
    Expr x = b.load(argX), label = b.load(argLabel);
    Expr valid = b.ge(label, b.constI32(0)), zero = b.constF32(0);
    Expr max = b.rowMax(x);
    Expr e = b.exp(x - max), sum = b.rowSum(e);
    Expr hit = b.eq(b.cast(label, Type::I64), b.colIndex());
    Expr own = b.rowSum(b.select(hit, x, zero));
    b.totalSum(argLoss, b.select(valid, b.log(sum) + max - own, zero));
    Expr p = e / sum - b.cast(hit, Type::F32);
    b.store(argDx, b.select(valid, p, zero));
    Compiled kernel(b);
    Floats in(randomFloats(rows * cols, -3, 3)), loss(1, 0), dx(rows * cols, 1);
    in[cols - 1] = -std::numeric_limits<float>::infinity();
    if (cols == 1)
      in[0] = 0;
    Buffer<int32_t> labels(rows, 0);
    for (int64_t r = 0; r < rows; ++r)
      labels[r] = r == 2 ? -100 : int32_t(r * 37 % cols);
    kernel(in, labels, loss, dx);
    double wantedLoss = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const float *x = in.data() + r * cols;
      double sum = 0;
      for (int64_t c = 0; c < cols; ++c)
        sum += std::exp(double(x[c]));
      if (labels[r] >= 0)
        wantedLoss += std::log(sum) - x[labels[r]];
      for (int64_t c = 0; c < cols; ++c) {
        double p = std::exp(double(x[c])) / sum - (c == labels[r]);
        EXPECT_CLOSE(dx[r * cols + c], labels[r] < 0 ? 0 : p, 2e-6, 1e-7);
      }
    }
    EXPECT_CLOSE(loss[0], wantedLoss, 1e-6, 1e-6);
    EXPECT_TRUE(dx.guardIsWhole());
  }
}

/// tanh-GELU as u / (1 + exp(-2z)): accurate in the negative tail too.
TEST(RealKernels, GeluTanh) {
  RowKernelBuilder b({3}, 5000);
  int argX = b.denseArg(Elem::F32, Access::Read);
  int argY = b.denseArg(Elem::F32, Access::Write);
  Expr u = b.load(argX);
  Expr z = u * (u * u * (0.7978845608f * 0.044715f) + 0.7978845608f);
  b.store(argY, u / (b.exp(z * -2.0f) + 1.0f));
  Compiled kernel(b);
  Floats in(randomFloats(15000, -6, 6)), out(15000, 0);
  kernel(in, out);
  for (int i = 0; i < 15000; ++i) {
    double u = in[i];
    double z = std::sqrt(2 / M_PI) * (u + 0.044715 * u * u * u);
    EXPECT_CLOSE(out[i], u / (1 + std::exp(-2 * z)), 1e-5);
  }
}

/// AdamW with clipping: three arrays in place, scalars from memory, and
/// nothing changed where the norm is not finite.
TEST(RealKernels, AdamW) {
  constexpr double beta1 = 0.9, beta2 = 0.95, eps = 1e-8, decay = 0.1;
  RowKernelBuilder b({5}, 1003);
  int argG = b.denseArg(Elem::F32, Access::Read);
  int scale = b.scalarArg(Elem::F32), rate = b.scalarArg(Elem::F32);
  int inW = b.denseArg(Elem::F32, Access::Read);
  int inM = b.denseArg(Elem::F32, Access::Read);
  int inV = b.denseArg(Elem::F32, Access::Read);
  int outW = b.denseArg(Elem::F32, Access::Write);
  int outM = b.denseArg(Elem::F32, Access::Write);
  int outV = b.denseArg(Elem::F32, Access::Write);
  Expr g = b.load(argG) * b.load(scale), w = b.load(inW);
  Expr finite = b.isFinite(b.load(scale));
  Expr m = b.load(inM) * float(beta1) + g * float(1 - beta1);
  Expr v = b.load(inV) * float(beta2) + g * g * float(1 - beta2);
  Expr next =
      w - b.load(rate) * (m / (b.sqrt(v) + float(eps)) + w * float(decay));
  b.store(outW, b.select(finite, next, w));
  b.store(outM, b.select(finite, m, b.load(inM)));
  b.store(outV, b.select(finite, v, b.load(inV)));
  Compiled kernel(b);
  const int n = 5 * 1003;
  std::vector<float> w0 = randomFloats(n, -1, 1, 2),
                     m0 = randomFloats(n, -1, 1);
  std::vector<float> v0 = randomFloats(n, 0, 1, 4);
  Floats grad(randomFloats(n, -1, 1, 5)), s({0.5f}), lr({0.01f});
  Floats bw(w0), bm(m0), bv(v0);
  kernel(grad, s, lr, bw, bm, bv, bw, bm, bv);
  for (int i = 0; i < n; ++i) {
    double g = grad[i] * 0.5, m = beta1 * m0[i] + (1 - beta1) * g;
    double v = beta2 * v0[i] + (1 - beta2) * g * g;
    EXPECT_CLOSE(bm[i], m, 1e-6, 1e-7);
    EXPECT_CLOSE(bv[i], v, 1e-6, 1e-7);
    double step = double(lr[0]) * (m / (std::sqrt(v) + eps) + decay * w0[i]);
    EXPECT_CLOSE(bw[i], w0[i] - step, 1e-6, 1e-7);
  }
  std::vector<float> kept(bw.data(), bw.data() + n);
  s[0] = std::numeric_limits<float>::infinity();
  kernel(grad, s, lr, bw, bm, bv, bw, bm, bv);
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(bw[i], kept[i]);
}

} // namespace colrow::kernel
