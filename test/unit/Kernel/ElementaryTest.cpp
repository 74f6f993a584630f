// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions against double, in units of the last place, and at the
// ends of their ranges.

#include "Harness.h"
#include <cmath>
#include <limits>

namespace colrow::kernel {

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

using Unary = Expr (RowKernelBuilder::*)(Expr);

/// The function on all of `in`, in column vectors.
std::vector<float> evaluate(Unary function, const std::vector<float> &in) {
  RowKernelBuilder b({}, in.size());
  int x = b.denseArg(Elem::F32, Access::Read);
  int y = b.denseArg(Elem::F32, Access::Write);
  b.store(y, (b.*function)(b.load(x)));
  Compiled kernel(b);
  Floats input(in), output(in.size(), 0);
  kernel(input, output);
  return {output.data(), output.data() + in.size()};
}

double ulp(double x) {
  float f = std::max(std::fabs(float(x)), std::numeric_limits<float>::min());
  return double(std::nextafter(f, inf)) - f;
}

/// Largest error in ulp over [low, high].
double worst(Unary function, double (*reference)(double), float low,
             float high) {
  std::vector<float> in = randomFloats(100000, low, high);
  std::vector<float> out = evaluate(function, in);
  double error = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    double wanted = reference(in[i]);
    error = std::max(error, std::fabs(out[i] - wanted) / ulp(wanted));
  }
  return error;
}

/// Every pair is (input, wanted output), exactly.
void expectExactly(Unary function, std::vector<std::pair<float, float>> cases) {
  std::vector<float> in(cases.size());
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = cases[i].first;
  std::vector<float> out = evaluate(function, in);
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_CLOSE(out[i], cases[i].second, 0) << "at " << in[i];
}

double reciprocal(double x) { return 1 / x; }
double rsqrt(double x) { return 1 / std::sqrt(x); }

} // namespace

TEST(Elementary, Exp) {
  EXPECT_LT(worst(&RowKernelBuilder::exp, std::exp, -86.9f, 88.7f), 1.5);
  EXPECT_LT(worst(&RowKernelBuilder::exp, std::exp, -1, 1), 1.5);
  expectExactly(&RowKernelBuilder::exp, {{-inf, 0},
                                         {-1e30f, 0},
                                         {-104, 0},
                                         {-88, 0},
                                         {0, 1},
                                         {-0.0f, 1},
                                         {88.8f, inf},
                                         {1e30f, inf},
                                         {inf, inf},
                                         {nan, nan}});
}

TEST(Elementary, Log) {
  EXPECT_LT(worst(&RowKernelBuilder::log, std::log, 1e-6f, 1), 1.5);
  EXPECT_LT(worst(&RowKernelBuilder::log, std::log, 0.5f, 2), 1.5);
  EXPECT_LT(worst(&RowKernelBuilder::log, std::log, 1, 1e30f), 1.5);
  EXPECT_LT(worst(&RowKernelBuilder::log, std::log, 1e-44f, 1e-39f), 1.5);
  expectExactly(&RowKernelBuilder::log, {{0, -inf},
                                         {-0.0f, -inf},
                                         {1, 0},
                                         {-1, nan},
                                         {-inf, nan},
                                         {inf, inf},
                                         {nan, nan}});
}

TEST(Elementary, Tanh) {
  EXPECT_LT(worst(&RowKernelBuilder::tanh, std::tanh, -10, 10), 2.5);
  EXPECT_LT(worst(&RowKernelBuilder::tanh, std::tanh, -1, 1), 2.5);
  EXPECT_LT(worst(&RowKernelBuilder::tanh, std::tanh, -1e-6f, 1e-6f), 1);
  expectExactly(&RowKernelBuilder::tanh,
                {{0, 0}, {20, 1}, {-20, -1}, {inf, 1}, {-inf, -1}, {nan, nan}});
}

TEST(Elementary, Erf) {
  EXPECT_LT(worst(&RowKernelBuilder::erf, std::erf, -5, 5), 2.5);
  EXPECT_LT(worst(&RowKernelBuilder::erf, std::erf, -1, 1), 2.5);
  EXPECT_LT(worst(&RowKernelBuilder::erf, std::erf, -1e-6f, 1e-6f), 1.5);
  expectExactly(&RowKernelBuilder::erf,
                {{0, 0}, {5, 1}, {-5, -1}, {inf, 1}, {-inf, -1}, {nan, nan}});
}

TEST(Elementary, RootsAndReciprocal) {
  EXPECT_LT(worst(&RowKernelBuilder::sqrt, std::sqrt, 0, 1e6f), 0.51);
  EXPECT_LT(worst(&RowKernelBuilder::rsqrt, rsqrt, 1e-6f, 1e6f), 1.5);
  EXPECT_LT(worst(&RowKernelBuilder::reciprocal, reciprocal, 0.1f, 1e6f), 0.51);
  expectExactly(&RowKernelBuilder::rsqrt, {{0, inf}, {inf, 0}, {-1, nan}});
  expectExactly(&RowKernelBuilder::sqrt, {{0, 0}, {inf, inf}, {-1, nan}});
  expectExactly(&RowKernelBuilder::abs, {{-3, 3}, {-inf, inf}, {nan, nan}});
  expectExactly(&RowKernelBuilder::neg, {{-3, 3}, {0, 0}, {nan, nan}});
}

/// Row values are scalars, and must be what vectors give.
TEST(Elementary, RowValuesEqualVectors) {
  for (Unary function : {&RowKernelBuilder::exp, &RowKernelBuilder::log,
                         &RowKernelBuilder::tanh, &RowKernelBuilder::erf}) {
    std::vector<float> in = randomFloats(64, 0.01f, 3);
    std::vector<float> wanted = evaluate(function, in);
    RowKernelBuilder b({64}, 4);
    int x = b.rowArg(Elem::F32, Access::Read);
    int y = b.denseArg(Elem::F32, Access::Write);
    b.store(y, (b.*function)(b.load(x)));
    Compiled kernel(b);
    Floats input(in), output(256, 0);
    kernel(input, output);
    for (size_t i = 0; i < 256; ++i)
      EXPECT_CLOSE(output[i], wanted[i / 4], 1e-7);
  }
}

} // namespace colrow::kernel
