// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emission of a row's phases: sweeps over its columns, and the values and
// effects of a chunk.

#include "Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace llvm;
using namespace mlir;

namespace colrow::kernel {

/// Columns whose sum is one sweep in float; a longer one is of such sums.
static constexpr int64_t sumColumns = 4096;

SmallVector<Fold, 4> Emitter::foldsOf(const Phase &phase) const {
  SmallVector<Fold, 4> folds;
  for (int32_t index : phase.reductions)
    folds.push_back(kernel.nodes[index].kind == NodeKind::RowSum ? Fold::Sum
                                                                 : Fold::Max);
  for (int32_t index : phase.effects)
    if (kernel.nodes[index].kind == NodeKind::TotalSum)
      folds.push_back(Fold::Sum);
  return folds;
}

/// All values first, then all stores: an output may be an input's buffer.
SmallVector<Value, 4> Emitter::emitChunk(const Phase &phase, Chunk &chunk) {
  SmallVector<Value, 4> reduced;
  for (int32_t index : phase.reductions)
    reduced.push_back(valueOf(kernel.nodes[index].operands[0], chunk));
  for (int32_t index : phase.effects) {
    const Node &node = kernel.nodes[index];
    Value value =
        valueOf(node.operands[node.kind == NodeKind::ScatterAddRow], chunk);
    if (node.kind == NodeKind::TotalSum)
      reduced.push_back(value);
  }
  for (int32_t index : phase.effects)
    emitEffect(index, chunk);
  return reduced;
}

SmallVector<Value, 4> Emitter::emitSweep(const Phase &phase, Value begin,
                                         int64_t count, ArrayRef<Fold> folds) {
  auto body = [&](Chunk &chunk) { return emitChunk(phase, chunk); };
  if (wholeRow)
    return sweep.runOne(*wholeRow, folds, body);
  return sweep.run(begin, count, folds, body);
}

void Emitter::emitPhase(unsigned index) {
  phaseIndex = index;
  const Phase &phase = plan.phases[index];
  SmallVector<Fold, 4> folds = foldsOf(phase);
  if (is_contained(folds, Fold::Sum) && kernel.cols > sumColumns)
    return emitBlocks(phase, folds);
  SmallVector<Value, 4> results =
      emitSweep(phase, memory.i64(0), kernel.cols, folds);
  for (auto [i, reduction] : enumerate(phase.reductions))
    rowValues[reduction] = results[i];
  addToTotals(phase, results);
}

/// Sweeps over blocks of columns, so that no lane's rounding errors grow with
/// the row.
void Emitter::emitBlocks(const Phase &phase, ArrayRef<Fold> folds) {
  size_t numReductions = phase.reductions.size();
  SmallVector<Value, 4> running;
  for (size_t i = 0; i < numReductions; ++i)
    running.push_back(sweep.neutral(folds[i], 0));
  auto emitBlock = [&](Value begin, int64_t count, ValueRange before) {
    SmallVector<Value, 4> results = emitSweep(phase, begin, count, folds);
    addToTotals(phase, results);
    results.truncate(numReductions);
    for (size_t i = 0; i < numReductions; ++i)
      results[i] = sweep.combine(folds[i], before[i], results[i]);
    return results;
  };
  int64_t rest = kernel.cols % sumColumns, main = kernel.cols - rest;
  auto loop = scf::ForOp::create(b, memory.i64(0), memory.i64(main),
                                 memory.i64(sumColumns), running);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value, 4> next =
        emitBlock(loop.getInductionVar(), sumColumns, loop.getRegionIterArgs());
    if (!running.empty())
      scf::YieldOp::create(b, next);
  }
  running.assign(loop.result_begin(), loop.result_end());
  if (rest > 0)
    running = emitBlock(memory.i64(main), rest, running);
  for (auto [i, reduction] : enumerate(phase.reductions))
    rowValues[reduction] = running[i];
}

void Emitter::addToTotals(const Phase &phase, ArrayRef<Value> sums) {
  size_t next = phase.reductions.size();
  for (int32_t index : phase.effects)
    if (kernel.nodes[index].kind == NodeKind::TotalSum)
      addToTotal(index, sums[next++]);
}

void Emitter::addToTotal(int32_t index, Value sum) {
  Value wide = arith::ExtFOp::create(b, b.getF64Type(), sum);
  Value before = LLVM::LoadOp::create(b, b.getF64Type(), totals[index]);
  LLVM::StoreOp::create(b, Value(arith::AddFOp::create(b, before, wide)),
                        totals[index]);
}

Value Emitter::valueOf(int32_t index, Chunk &chunk) {
  Value &known = chunk.values[index];
  if (known)
    return known;
  Value value = emitValue(index, chunk);
  return chunk.values[index] = value;
}

Value Emitter::emitValue(int32_t index, Chunk &chunk) {
  const Node &node = kernel.nodes[index];
  if (!node.byCol && node.kind <= NodeKind::ConstI64)
    return values.constant(node.type, chunk.lanes, node.imm);
  if (!node.byCol)
    return values.broadcast(rowValues[index], chunk.lanes);
  auto kept = plan.kept.find(index);
  bool isKept = kept != plan.kept.end();
  if (isKept && kept->second.phase < phaseIndex)
    return memory.load(Elem::F32, keptPlace(kept->second.slot, chunk));
  Value value;
  if (node.kind == NodeKind::ColIndex) {
    value = columnIndex(chunk);
  } else if (node.kind == NodeKind::Load) {
    value = memory.load(elemOf(node), placeOf(node, rowBase[node.arg], chunk));
  } else if (node.kind == NodeKind::LoadRow) {
    Place place = placeOf(node, indexed[index], chunk);
    place.mask = condition(node.operands[1], place);
    value = memory.load(elemOf(node), place);
  } else {
    SmallVector<Value, 3> operands;
    for (int32_t operand : node.operands)
      if (operand >= 0)
        operands.push_back(valueOf(operand, chunk));
    value = values.emit(node, operands, chunk.lanes);
  }
  if (isKept && kept->second.phase == phaseIndex)
    memory.store(value, Elem::F32, keptPlace(kept->second.slot, chunk));
  return value;
}

Value Emitter::columnIndex(const Chunk &chunk) {
  SmallVector<int64_t> lanes;
  for (unsigned lane = 0; lane < chunk.lanes; ++lane)
    lanes.push_back(lane);
  auto type = VectorType::get(chunk.lanes, b.getI64Type());
  Value steps = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<int64_t>(lanes)));
  return values.add(values.broadcast(chunk.col, chunk.lanes), steps);
}

/// The chunk's elements of a node's argument; loads and stores have a column
/// offset.
Place Emitter::placeOf(const Node &node, Value rowPointer, const Chunk &chunk) {
  const Arg &arg = argOf(node);
  bool hasOffset = node.kind == NodeKind::Load || node.kind == NodeKind::Store;
  Value count = chunk.col;
  if (arg.colStride != 1)
    count = arith::MulIOp::create(b, count, memory.i64(arg.colStride));
  Value pointer = memory.advance(rowPointer, elemOf(node), count);
  if (hasOffset)
    pointer = memory.advance(pointer, elemOf(node), node.imm * arg.colStride);
  return Place(pointer, arg.colStride, chunk.lanes, chunk.mask);
}

Place Emitter::keptPlace(unsigned slot, const Chunk &chunk) {
  return Place(memory.advance(keptBuffers[slot], Elem::F32, chunk.col), 1,
               chunk.lanes);
}

/// The mask of `place` where the condition holds too.
Value Emitter::condition(int32_t operand, const Place &place) {
  if (operand < 0)
    return place.mask;
  Value valid = values.broadcast(rowValues[operand], place.lanes);
  if (!place.mask)
    return valid;
  return arith::AndIOp::create(b, valid, place.mask);
}

/// A store, column sum or scatter of this chunk; totals are folds.
void Emitter::emitEffect(int32_t index, Chunk &chunk) {
  const Node &node = kernel.nodes[index];
  if (node.kind == NodeKind::TotalSum)
    return;
  bool isScatter = node.kind == NodeKind::ScatterAddRow;
  if (isScatter && isLong(node))
    return emitLongScatter(index, chunk);
  Value value = valueOf(node.operands[isScatter], chunk);
  Place place = placeOf(
      node, isScatter ? indexed[index] : rowBase[targetOf(node)], chunk);
  if (isScatter)
    place.mask = condition(node.operands[2], place);
  bool adds =
      node.kind != NodeKind::Store || argOf(node).access == Access::Accumulate;
  if (adds)
    value = values.add(memory.load(elemOf(node), place), value);
  memory.store(value, elemOf(node), place);
}

} // namespace colrow::kernel
