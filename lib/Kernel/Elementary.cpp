// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions in float32 by minimax polynomials (Remez exchange,
// fitted for these intervals), and the Philox generator. None needs a library
// or a conversion that is undefined at NaN, and all keep infinities and NaN.

#include "ValueBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace llvm;
using namespace mlir;

namespace colrow::kernel {

// ln 2 in two parts, the first with trailing zeros: n * ln2High is exact.
static constexpr float ln2High = 0.693359375f, ln2Low = -2.12194440e-4f;

/// e^x = 2^n e^r with |r| <= ln(2) / 2. Results below 2^-125 become 0.
Value ValueBuilder::exp(Value x) {
  constexpr float log2e = 1.44269504f;
  // Adding this rounds to an integer, and leaves n + 126 in the low bits.
  constexpr float magic = 12582912.0f + 126.0f;
  Value low = f(-126 * 0.693147181f, x), high = f(89, x);
  x = select(less(x, low), low, x);
  x = select(less(high, x), high, x);
  Value shifted = fma(x, f(log2e, x), f(magic, x));
  Value n = sub(shifted, f(magic, x));
  Value r = fma(n, f(-ln2High, x), x);
  r = fma(n, f(-ln2Low, x), r);
  // 2 e^r = 2 + 2 r + r^2 q(r); 2^(n-1) has exponent field n + 126, which is
  // 0, and so the float 0, for the least n.
  Value q =
      polynomial(r, {2 * 0.4999999337f, 2 * 0.1666651952f, 2 * 0.04166840116f,
                     2 * 0.008368851117f, 2 * 0.001381431631f});
  Value twice = fma(fma(q, r, f(2, x)), r, f(2, x));
  Value field = bits(shifted);
  Value scale = floats(arith::ShLIOp::create(b, field, i(23, field)));
  return mul(twice, scale);
}

/// log x = e ln 2 + log(1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and
/// log(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2))), s = f / (2 + f).
Value ValueBuilder::log(Value x) {
  Value one = f(1, x), half = f(0.5f, x);
  Value tiny = less(x, f(1.17549435e-38f, x));
  Value scaled = select(tiny, mul(x, f(8388608.0f, x)), x);
  Value word = bits(scaled);
  // Moves [sqrt(1/2), sqrt(2)) onto one binade.
  Value offset = i(0x3f3504f3, word);
  Value moved = sub(word, offset);
  Value exponent = arith::ShRSIOp::create(b, moved, i(23, word));
  Value mantissa =
      add(arith::AndIOp::create(b, moved, i(0x007fffff, word)), offset);
  Value e = arith::SIToFPOp::create(b, x.getType(), exponent);
  e = sub(e, select(tiny, f(23, x), f(0, x)));
  Value m = sub(floats(mantissa), one);
  Value s = div(m, add(m, f(2, x)));
  Value z = mul(s, s);
  Value tail = mul(z, polynomial(z, {0.6666666564f, 0.4000033563f,
                                     0.2853727834f, 0.2358276156f}));
  Value square = mul(mul(m, m), half);
  Value small = fma(s, add(square, tail), mul(e, f(ln2Low, x)));
  Value result = fma(e, f(ln2High, x), sub(m, sub(square, small)));
  // log(0) = -inf, log of a negative or NaN = NaN, log(inf) = inf.
  result = select(less(x, f(INFINITY, x)), result, x);
  result = select(less(x, f(0, x)), f(NAN, x), result);
  Value isZero =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, f(0, x));
  return select(isZero, f(-INFINITY, x), result);
}

/// x + x^3 T(x^2) below 0.625, else 1 - 2 / (e^(2|x|) + 1) with x's sign.
Value ValueBuilder::tanh(Value x) {
  Value z = mul(x, x), a = math::AbsFOp::create(b, x);
  Value t = polynomial(z, {-0.3333327208f, 0.1333115279f, -0.05371410623f,
                           0.02055171635f, -0.005603911015f});
  Value small = fma(mul(x, z), t, x);
  Value e = exp(add(a, a));
  Value large = sub(f(1, x), div(f(2, x), add(e, f(1, x))));
  large = math::CopySignOp::create(b, large, x);
  return select(less(a, f(0.625f, x)), small, large);
}

/// x E(x^2) below 0.925, else 1 - e^L(|x|) with x's sign, L ~ log(erfc).
Value ValueBuilder::erf(Value x) {
  Value z = mul(x, x), a = math::AbsFOp::create(b, x);
  Value small =
      mul(x, polynomial(z, {1.128379167f, -0.3761263319f, 0.1128368718f,
                            -0.02685894131f, 0.005199906262f, -0.000813000871f,
                            8.316760661e-5f}));
  // From 3.93 on erf is 1 in float32; NaN fails the comparison and stays.
  Value limit = f(3.93f, x);
  Value c = select(less(limit, a), limit, a);
  Value l = polynomial(c, {-0.0002070576365f, -1.12762719f, -0.637266118f,
                           -0.1038560434f, 0.02218961242f, -0.003033649997f,
                           0.0001949423134f});
  Value large = sub(f(1, x), exp(l));
  large = math::CopySignOp::create(b, large, x);
  return select(less(a, f(0.925f, x)), small, large);
}

/// The low and the high words of x * factor, unsigned. In vectors, machines
/// multiply every other word to 64 bits, so even and odd lanes go apart: no
/// lane moves to another one's place.
std::pair<Value, Value> ValueBuilder::multiplyWide(Value x, uint32_t factor) {
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type) {
    auto both = arith::MulUIExtendedOp::create(b, x, i(int32_t(factor), x));
    return {both.getLow(), both.getHigh()};
  }
  auto pairs = VectorType::get(type.getNumElements() / 2, b.getI64Type());
  Value xs = vector::BitCastOp::create(b, pairs, x);
  Value m = i(factor, xs), half = i(32, xs), lowHalf = i(0xffffffff, xs);
  Value even = mul(arith::AndIOp::create(b, xs, lowHalf), m);
  Value odd = mul(arith::ShRUIOp::create(b, xs, half), m);
  Value high = arith::OrIOp::create(
      b, arith::ShRUIOp::create(b, even, half),
      arith::AndIOp::create(b, odd, i(int64_t(0xffffffff00000000), xs)));
  return {mul(x, i(int32_t(factor), x)),
          vector::BitCastOp::create(b, type, high)};
}

/// Philox4x32-10, word 0: see RowKernelBuilder::philox.
Value ValueBuilder::philox(Value seed, uint32_t stream, Value step,
                           Value index) {
  auto low = [&](Value x) { return emitCast(x, Type::I32); };
  auto high = [&](Value x) {
    return low(arith::ShRUIOp::create(b, x, i(32, x)));
  };
  Value key0 = low(seed), key1 = high(seed);
  Value c0 = low(index), c1 = high(index);
  Value c2 = i(int32_t(stream), c0), c3 = low(step);
  for (unsigned round = 0; round < 10; ++round) {
    if (round > 0) {
      key0 = add(key0, i(int32_t(0x9E3779B9), key0));
      key1 = add(key1, i(int32_t(0xBB67AE85), key1));
    }
    auto [low0, high0] = multiplyWide(c0, 0xD2511F53);
    auto [low1, high1] = multiplyWide(c2, 0xCD9E8D57);
    auto exclusiveOr = [&](Value x, Value y, Value z) -> Value {
      return arith::XOrIOp::create(b, arith::XOrIOp::create(b, x, y), z);
    };
    c0 = exclusiveOr(high1, c1, key0);
    c2 = exclusiveOr(high0, c3, key1);
    c1 = low1;
    c3 = low0;
  }
  return c0;
}

/// (word >> 8) * 2^-24.
Value ValueBuilder::uniform(Value word) {
  Value top = arith::ShRUIOp::create(b, word, i(8, word));
  Value value = emitCast(top, Type::F32);
  return mul(value, f(0x1p-24f, value));
}

} // namespace colrow::kernel
