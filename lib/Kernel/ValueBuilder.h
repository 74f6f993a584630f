// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on scalars or vectors: one description for row values and column
// vectors, on every target.

#ifndef COLROW_LIB_KERNEL_VALUEBUILDER_H
#define COLROW_LIB_KERNEL_VALUEBUILDER_H

#include "KernelSupport.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace colrow::kernel {

/// Emits arith, math and vector ops at `b`'s insertion point. Operands of one
/// call have one shape, which is the result's. Multiplications may fuse with
/// additions; nothing else is reordered, so infinities and NaN are kept.
class ValueBuilder {
public:
  ValueBuilder(mlir::ImplicitLocOpBuilder &b) : b(b) {}

  mlir::Type elementType(Type type);
  /// A vector of `lanes` values, or a scalar for 0 lanes.
  mlir::Type shapedType(Type type, unsigned lanes);
  mlir::Value constant(Type type, unsigned lanes, int64_t bits);
  mlir::Value broadcast(mlir::Value scalar, unsigned lanes);

  /// The value of a node whose operands' values are given; not for loads,
  /// indices, reductions and effects.
  mlir::Value emit(const Node &node, llvm::ArrayRef<mlir::Value> operands,
                   unsigned lanes);

  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value maximum(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y);
  /// sum + x, and what that sum loses to rounding, when `lost` was lost before
  /// (W. Kahan, "Further remarks on reducing truncation errors", 1965). Nothing
  /// is lost of a sum that is not finite.
  std::pair<mlir::Value, mlir::Value>
  addKeepingLost(mlir::Value sum, mlir::Value lost, mlir::Value x);

private:
  using V = mlir::Value;
  V f(float value, V like);
  V i(int64_t value, V like);
  V sub(V x, V y);
  V div(V x, V y);
  V fma(V x, V y, V z) { return add(mul(x, y), z); }
  V less(V x, V y);
  V bits(V x);
  V floats(V x);
  V polynomial(V x, llvm::ArrayRef<float> coefficients);

  V emitUnary(const Node &node, V x);
  V emitBinary(const Node &node, V x, V y);
  V emitCompare(Predicate predicate, V x, V y);
  V emitCast(V x, Type to);

  V exp(V x);
  V log(V x);
  V tanh(V x);
  V erf(V x);
  std::pair<V, V> multiplyWide(V x, uint32_t factor);
  V philox(V seed, uint32_t stream, V step, V index);
  V uniform(V word);

  mlir::ImplicitLocOpBuilder &b;
};

} // namespace colrow::kernel

#endif // COLROW_LIB_KERNEL_VALUEBUILDER_H
