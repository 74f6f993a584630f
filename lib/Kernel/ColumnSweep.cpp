// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over the columns of a row.

#include "ColumnSweep.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace llvm;
using namespace mlir;

namespace colrow::kernel {

Value ColumnSweep::neutral(Fold fold, unsigned lanes) {
  float value = fold == Fold::Sum ? 0.0f : -INFINITY;
  return values.constant(Type::F32, lanes, bit_cast<uint32_t>(value));
}

Value ColumnSweep::combine(Fold fold, Value x, Value y) {
  return fold == Fold::Sum ? values.add(x, y) : values.maximum(x, y);
}

/// Halves of the vector are combined until one register is left.
Value ColumnSweep::reduce(Fold fold, Value vector) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  while (lanes > width) {
    lanes /= 2;
    auto half = [&](int64_t offset) -> Value {
      return vector::ExtractStridedSliceOp::create(
          b, vector, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{lanes},
          ArrayRef<int64_t>{1});
    };
    vector = combine(fold, half(0), half(lanes));
  }
  if (fold == Fold::Sum)
    return vector::ReductionOp::create(b, vector::CombiningKind::ADD, vector,
                                       arith::FastMathFlags::reassoc);
  return vector::ReductionOp::create(b, vector::CombiningKind::MAXIMUMF, vector,
                                     arith::FastMathFlags::nsz);
}

Chunk ColumnSweep::chunk(Value col, int64_t count) {
  Chunk result;
  result.col = col;
  result.lanes = width;
  while (result.lanes < count)
    result.lanes *= 2;
  if (result.lanes == count)
    return result;
  SmallVector<bool> bits(result.lanes, false);
  std::fill_n(bits.begin(), count, true);
  result.mask = arith::ConstantOp::create(
      b, DenseElementsAttr::get(VectorType::get(result.lanes, b.getI1Type()),
                                ArrayRef<bool>(bits)));
  return result;
}

/// The body's vectors, with lanes that are off made neutral.
SmallVector<Value, 4> ColumnSweep::masked(Chunk &chunk, ArrayRef<Fold> folds,
                                          Body body) {
  SmallVector<Value, 4> results = body(chunk);
  if (chunk.mask)
    for (auto [fold, result] : zip_equal(folds, results))
      result = values.select(chunk.mask, result, neutral(fold, chunk.lanes));
  return results;
}

SmallVector<Value, 4> ColumnSweep::runOne(Chunk &chunk, ArrayRef<Fold> folds,
                                          Body body) {
  SmallVector<Value, 4> results = masked(chunk, folds, body);
  for (auto [fold, result] : zip_equal(folds, results))
    result = reduce(fold, result);
  return results;
}

/// The main loop over `count` columns, a multiple of lanes(): the folds'
/// accumulators, still vectors.
SmallVector<Value, 4> ColumnSweep::loop(Value begin, int64_t count,
                                        ArrayRef<Fold> folds, Body body) {
  if (count == lanes()) {
    Chunk only = chunk(begin, lanes());
    return body(only);
  }
  SmallVector<Value, 4> initial;
  for (Fold fold : folds)
    initial.push_back(neutral(fold, lanes()));
  Value end = arith::AddIOp::create(b, begin, memory.i64(count));
  auto loop = scf::ForOp::create(b, begin, end, memory.i64(lanes()), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Chunk current = chunk(loop.getInductionVar(), lanes());
  SmallVector<Value, 4> next = body(current);
  for (auto [i, fold] : enumerate(folds))
    next[i] = combine(fold, loop.getRegionIterArgs()[i], next[i]);
  // Without accumulators the loop comes with its terminator.
  if (!folds.empty())
    scf::YieldOp::create(b, next);
  return SmallVector<Value, 4>(loop.getResults());
}

SmallVector<Value, 4> ColumnSweep::run(Value begin, int64_t count,
                                       ArrayRef<Fold> folds, Body body) {
  int64_t rest = count % lanes(), main = count - rest;
  SmallVector<Value, 4> results;
  if (main > 0)
    results = loop(begin, main, folds, body);
  if (rest == 0 || main == 0) {
    if (main == 0) {
      Chunk only = chunk(begin, rest);
      return runOne(only, folds, body);
    }
    for (auto [fold, result] : zip_equal(folds, results))
      result = reduce(fold, result);
    return results;
  }
  Chunk last = chunk(arith::AddIOp::create(b, begin, memory.i64(main)), rest);
  SmallVector<Value, 4> tail = masked(last, folds, body);
  for (auto [i, fold] : enumerate(folds)) {
    bool sameShape = last.lanes == lanes();
    results[i] = sameShape ? reduce(fold, combine(fold, results[i], tail[i]))
                           : combine(fold, reduce(fold, results[i]),
                                     reduce(fold, tail[i]));
  }
  return results;
}

} // namespace colrow::kernel
