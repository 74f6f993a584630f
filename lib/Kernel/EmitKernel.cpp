// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emission of a row kernel: scalars, then loops over rows, and in a row its
// phases in turn, each a sweep over the columns.

#include "EmitKernel.h"
#include "ColumnSweep.h"
#include "Schedule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace llvm;
using namespace mlir;

namespace colrow::kernel {

namespace {

/// Wider rows are not kept: they would not stay in the first-level cache.
constexpr int64_t maxKeptCols = 16384;
/// Stack bytes that row buffers may take.
constexpr int64_t maxKeptBytes = 256 * 1024;
/// Columns over which a total is summed in float.
constexpr int64_t totalBlock = 4096;

/// Registers a vector spans: two keep a memory-bound loop busy; Philox is one
/// long chain of operations, so more of them must overlap.
unsigned chooseUnroll(const RowKernel &kernel) {
  bool random = any_of(kernel.nodes, [](const Node &node) {
    return node.byCol && isPhilox(node.kind);
  });
  return random ? 4 : 2;
}

class Emitter {
public:
  Emitter(ImplicitLocOpBuilder &b, const RowKernel &kernel, unsigned width)
      : b(b), kernel(kernel), values(b), memory(b, values),
        sweep(b, values, memory, width, chooseUnroll(kernel)),
        plan(schedule(kernel, canKeep(kernel, sweep))) {}

  void emitBody(Value pointers, Value ints);

private:
  static bool canKeep(const RowKernel &kernel, const ColumnSweep &sweep) {
    return kernel.cols <= maxKeptCols && !sweep.isOneChunk(kernel.cols);
  }

  // Before and after the rows.
  void emitBases(Value pointers);
  void emitScalars(Value ints);
  void emitOutputs();
  void emitZeroColumns(const Node &node);
  void emitTotals();
  void reserveKept();

  // A row.
  void emitRows(size_t dim);
  void emitRow();
  void emitRowPointers();
  void emitRowLevel(unsigned level);
  Value emitRowValue(int32_t index);
  void emitRowEffect(int32_t index);

  // A phase.
  SmallVector<Fold, 4> foldsOf(const Phase &phase) const;
  SmallVector<Value, 4> emitChunk(const Phase &phase, Chunk &chunk);
  void emitPhase(unsigned index);
  void emitBlocks(const Phase &phase, ArrayRef<Fold> folds);
  SmallVector<Value, 4> emitSweep(const Phase &phase, Value begin,
                                  int64_t count, ArrayRef<Fold> folds);
  void addToTotals(const Phase &phase, ArrayRef<Value> sums);
  void addToTotal(int32_t index, Value sum);

  // A chunk of columns.
  Value valueOf(int32_t index, Chunk &chunk);
  Value emitValue(int32_t index, Chunk &chunk);
  Value columnIndex(const Chunk &chunk);
  Place placeOf(const Node &node, Value rowPointer, const Chunk &chunk);
  Place keptPlace(unsigned slot, const Chunk &chunk);
  Value condition(int32_t operand, const Place &place);
  void emitEffect(int32_t index, Chunk &chunk);
  bool storesAroundCache(const Node &node, const Place &place) const;

  const Arg &argOf(const Node &node) const { return kernel.args[node.arg]; }
  Type typeOf(const Node &node) const { return valueType(argOf(node).elem); }
  bool isUsed(int32_t index) const { return plan.live[index]; }

  ImplicitLocOpBuilder &b;
  const RowKernel &kernel;
  ValueBuilder values;
  Memory memory;
  ColumnSweep sweep;
  Schedule plan;

  /// Arguments' addresses of row 0, and of the row at hand.
  SmallVector<Value, 8> base, rowBase;
  SmallVector<Value, 4> rowIndices;
  /// Values that do not differ by column, of this row.
  llvm::DenseMap<int32_t, Value> rowValues;
  /// Row pointers of LoadRow and ScatterAddRow, their index applied.
  llvm::DenseMap<int32_t, Value> indexed;
  llvm::DenseMap<unsigned, Value> keptBuffers;
  llvm::DenseMap<int32_t, Value> totals;
  unsigned phaseIndex = 0;
  /// The row's columns, when they are one chunk for all phases.
  std::optional<Chunk> wholeRow;
  bool usedNontemporal = false;
};

void Emitter::emitBases(Value pointers) {
  for (auto [k, arg] : enumerate(kernel.args)) {
    Value pointer = memory.listedPointer(pointers, k);
    base.push_back(memory.advance(pointer, valueType(arg.elem), arg.offset));
  }
  rowBase = base;
}

void Emitter::emitScalars(Value ints) {
  for (auto [i, node] : enumerate(kernel.nodes)) {
    if (!isUsed(i) || isEffect(node.kind) || node.byRow || node.byCol)
      continue;
    rowValues[i] = node.kind == NodeKind::IntArg
                       ? memory.listedInteger(ints, node.imm)
                       : emitRowValue(i);
  }
}

void Emitter::emitZeroColumns(const Node &node) {
  auto body = [&](Chunk &chunk) -> SmallVector<Value, 4> {
    Value zero = values.constant(Type::F32, chunk.lanes, 0);
    memory.store(zero, Type::F32, placeOf(node, base[node.arg], chunk));
    return {};
  };
  sweep.run(memory.i64(0), kernel.cols, {}, body);
}

/// What sums start from.
void Emitter::emitOutputs() {
  for (auto [i, node] : enumerate(kernel.nodes)) {
    bool accumulates =
        node.arg >= 0 && argOf(node).access == Access::Accumulate;
    if (node.kind == NodeKind::ColSum && !accumulates)
      emitZeroColumns(node);
    if (node.kind != NodeKind::TotalSum)
      continue;
    Value slot = memory.reserve(b.getF64Type(), 1);
    Value start = values.constant(Type::F32, 0, 0);
    if (accumulates)
      start = memory.load(Type::F32, Place{base[node.arg]});
    Value wide = arith::ExtFOp::create(b, b.getF64Type(), start);
    LLVM::StoreOp::create(b, wide, slot);
    totals[i] = slot;
  }
}

void Emitter::emitTotals() {
  for (auto [i, node] : enumerate(kernel.nodes)) {
    if (node.kind != NodeKind::TotalSum)
      continue;
    Value sum = LLVM::LoadOp::create(b, b.getF64Type(), totals[i]);
    Value narrow = arith::TruncFOp::create(b, b.getF32Type(), sum);
    memory.store(narrow, Type::F32, Place{base[node.arg]});
  }
  if (usedNontemporal)
    memory.fence();
}

void Emitter::reserveKept() {
  // Whole vectors are stored, also at the end of a row.
  int64_t length = alignTo(kernel.cols, sweep.lanes());
  for (const auto &entry : plan.kept)
    keptBuffers[entry.second.slot] = Value();
  for (unsigned slot = 0; slot < keptBuffers.size(); ++slot)
    keptBuffers[slot] = memory.reserve(b.getF32Type(), length);
}

void Emitter::emitBody(Value pointers, Value ints) {
  int64_t keptBytes = plan.kept.size() * kernel.cols * 4;
  if (keptBytes > maxKeptBytes)
    plan = schedule(kernel, /*keepRows=*/false);
  emitBases(pointers);
  reserveKept();
  emitScalars(ints);
  emitOutputs();
  emitRows(0);
  emitTotals();
}

void Emitter::emitRows(size_t dim) {
  if (dim == kernel.rows.size())
    return emitRow();
  auto loop = scf::ForOp::create(b, memory.i64(0), memory.i64(kernel.rows[dim]),
                                 memory.i64(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  rowIndices.push_back(loop.getInductionVar());
  emitRows(dim + 1);
}

void Emitter::emitRowPointers() {
  for (auto [k, arg] : enumerate(kernel.args)) {
    Value offset;
    for (auto [dim, stride] : enumerate(arg.rowStrides)) {
      if (stride == 0)
        continue;
      Value term =
          arith::MulIOp::create(b, rowIndices[dim], memory.i64(stride));
      offset = offset ? arith::AddIOp::create(b, offset, term) : term;
    }
    if (offset)
      rowBase[k] = memory.advance(base[k], valueType(arg.elem), offset);
  }
}

/// What is known of the row once the phases below `level` are done.
void Emitter::emitRowLevel(unsigned level) {
  for (auto [i, node] : enumerate(kernel.nodes)) {
    if (!isUsed(i) || plan.level[i] != level)
      continue;
    if (node.kind == NodeKind::LoadRow ||
        node.kind == NodeKind::ScatterAddRow) {
      Value index = rowValues[node.operands[0]];
      if (!index.getType().isInteger(64))
        index = arith::ExtSIOp::create(b, b.getI64Type(), index);
      index = arith::MulIOp::create(b, index, memory.i64(node.imm));
      indexed[i] = memory.advance(rowBase[node.arg], typeOf(node), index);
    }
    bool isRowValue = node.byRow && !node.byCol && !isRowReduction(node.kind);
    if (isRowValue && !isEffect(node.kind))
      rowValues[i] = emitRowValue(i);
  }
}

/// A scalar, or a value of the row; not reductions.
Value Emitter::emitRowValue(int32_t index) {
  const Node &node = kernel.nodes[index];
  switch (node.kind) {
  case NodeKind::RowIndex:
    return rowIndices[node.imm];
  case NodeKind::Load:
    return memory.load(node.type,
                       Place{memory.advance(rowBase[node.arg], node.type,
                                            node.imm * argOf(node).colStride)});
  case NodeKind::LoadRow: {
    Place place{indexed.lookup(index)};
    place.mask = condition(node.operands[1], place);
    return memory.load(node.type, place);
  }
  default:
    break;
  }
  SmallVector<Value, 3> operands;
  for (int32_t operand : node.operands)
    if (operand >= 0)
      operands.push_back(rowValues[operand]);
  return values.emit(node, operands, /*lanes=*/0);
}

void Emitter::emitRow() {
  emitRowPointers();
  wholeRow.reset();
  if (sweep.isOneChunk(kernel.cols))
    wholeRow = sweep.chunk(memory.i64(0), kernel.cols);
  emitRowLevel(0);
  for (unsigned phase = 0; phase < plan.phases.size(); ++phase) {
    emitPhase(phase);
    emitRowLevel(phase + 1);
  }
  for (int32_t effect : plan.rowEffects)
    emitRowEffect(effect);
}

/// An effect on one element a row.
void Emitter::emitRowEffect(int32_t index) {
  const Node &node = kernel.nodes[index];
  bool isScatter = node.kind == NodeKind::ScatterAddRow;
  Value value = rowValues[node.operands[isScatter ? 1 : 0]];
  if (node.kind == NodeKind::TotalSum)
    return addToTotal(index, value);
  Place place{isScatter ? indexed.lookup(index) : rowBase[node.arg]};
  if (isScatter)
    place.mask = condition(node.operands[2], place);
  if (isScatter || argOf(node).access == Access::Accumulate)
    value = values.add(memory.load(typeOf(node), place), value);
  memory.store(value, typeOf(node), place);
}

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
  bool hasTotal = folds.size() > phase.reductions.size();
  if (hasTotal && kernel.cols > totalBlock)
    return emitBlocks(phase, folds);
  SmallVector<Value, 4> results =
      emitSweep(phase, memory.i64(0), kernel.cols, folds);
  for (auto [i, reduction] : enumerate(phase.reductions))
    rowValues[reduction] = results[i];
  addToTotals(phase, results);
}

/// Sweeps over blocks of columns, so that no total is summed in float over
/// more than one of them.
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
  int64_t rest = kernel.cols % totalBlock, main = kernel.cols - rest;
  auto loop = scf::ForOp::create(b, memory.i64(0), memory.i64(main),
                                 memory.i64(totalBlock), running);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value, 4> next =
        emitBlock(loop.getInductionVar(), totalBlock, loop.getRegionIterArgs());
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
    return memory.load(node.type, keptPlace(kept->second.slot, chunk));
  Value value;
  if (node.kind == NodeKind::ColIndex) {
    value = columnIndex(chunk);
  } else if (node.kind == NodeKind::Load) {
    value = memory.load(node.type, placeOf(node, rowBase[node.arg], chunk));
  } else if (node.kind == NodeKind::LoadRow) {
    Place place = placeOf(node, indexed[index], chunk);
    place.mask = condition(node.operands[1], place);
    value = memory.load(node.type, place);
  } else {
    SmallVector<Value, 3> operands;
    for (int32_t operand : node.operands)
      if (operand >= 0)
        operands.push_back(valueOf(operand, chunk));
    value = values.emit(node, operands, chunk.lanes);
  }
  if (isKept && kept->second.phase == phaseIndex)
    memory.store(value, node.type, keptPlace(kept->second.slot, chunk));
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
  Value pointer = memory.advance(rowPointer, typeOf(node), count);
  if (hasOffset)
    pointer = memory.advance(pointer, typeOf(node), node.imm * arg.colStride);
  return Place(pointer, arg.colStride, chunk.lanes, chunk.mask);
}

Place Emitter::keptPlace(unsigned slot, const Chunk &chunk) {
  return Place(memory.advance(keptBuffers[slot], Type::F32, chunk.col), 1,
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

/// Non-temporal stores write whole lines of 64 bytes only.
bool Emitter::storesAroundCache(const Node &node, const Place &place) const {
  const Arg &arg = argOf(node);
  int64_t perLine = 64 / (arg.elem == Elem::I64 ? 8 : 4);
  auto isLine = [&](int64_t count) { return count % perLine == 0; };
  return arg.nontemporal && arg.access == Access::Write && !place.mask &&
         place.stride == 1 && isLine(place.lanes) && isLine(arg.offset) &&
         isLine(node.imm) && all_of(arg.rowStrides, isLine);
}

/// A store, column sum or scatter of this chunk; totals are folds.
void Emitter::emitEffect(int32_t index, Chunk &chunk) {
  const Node &node = kernel.nodes[index];
  if (node.kind == NodeKind::TotalSum)
    return;
  bool isScatter = node.kind == NodeKind::ScatterAddRow;
  Value value = valueOf(node.operands[isScatter], chunk);
  Place place =
      placeOf(node, isScatter ? indexed[index] : rowBase[node.arg], chunk);
  if (isScatter)
    place.mask = condition(node.operands[2], place);
  bool adds =
      node.kind != NodeKind::Store || argOf(node).access == Access::Accumulate;
  if (adds)
    value = values.add(memory.load(typeOf(node), place), value);
  bool aroundCache = !adds && storesAroundCache(node, place);
  usedNontemporal |= aroundCache;
  memory.store(value, typeOf(node), place, aroundCache);
}

} // namespace

void emitKernel(ModuleOp module, StringRef symbol, const RowKernel &kernel,
                unsigned width) {
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto function = func::FuncOp::create(
      b, symbol, b.getFunctionType({pointer, pointer}, {}));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  RowKernel collapsed = collapseRows(kernel);
  Emitter(b, collapsed, width)
      .emitBody(entry->getArgument(0), entry->getArgument(1));
  func::ReturnOp::create(b);
}

} // namespace colrow::kernel
