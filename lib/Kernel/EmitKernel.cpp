// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emission of a kernel down to its rows: scalars, loops, and what happens once
// a row.

#include "EmitKernel.h"
#include "Emitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace llvm;
using namespace mlir;

namespace colrow::kernel {

/// Wider rows are not kept: they would not stay in the first-level cache.
static constexpr int64_t maxKeptCols = 16384;
/// Stack bytes that row buffers may take.
static constexpr int64_t maxKeptBytes = 256 * 1024;
/// Registers a vector spans: two keep a memory-bound loop busy; Philox is one
/// long chain of operations, so more of them must overlap.
static unsigned chooseUnroll(const RowKernel &kernel) {
  bool random = any_of(kernel.nodes, [](const Node &node) {
    return node.byCol && isPhilox(node.kind);
  });
  return random ? 4 : 2;
}

static bool canKeep(const RowKernel &kernel, const ColumnSweep &sweep) {
  return kernel.cols <= maxKeptCols && !sweep.isOneChunk(kernel.cols);
}

Emitter::Emitter(ImplicitLocOpBuilder &b, const RowKernel &kernel,
                 unsigned width)
    : b(b), kernel(kernel), values(b), memory(b, values),
      sweep(b, values, memory, width, chooseUnroll(kernel)),
      plan(schedule(kernel, canKeep(kernel, sweep))) {}

void Emitter::emitBases(Value pointers) {
  for (auto [k, arg] : enumerate(kernel.args)) {
    Value pointer = memory.listedPointer(pointers, k);
    base.push_back(memory.advance(pointer, arg.elem, arg.offset));
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
    memory.store(zero, Elem::F32, placeOf(node, base[node.arg], chunk));
    return {};
  };
  sweep.run(memory.i64(0), kernel.cols, {}, body);
}

/// What sums start from.
void Emitter::emitOutputs() {
  emitBlockCounts();
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
      start = memory.load(Elem::F32, Place{base[node.arg]});
    Value wide = arith::ExtFOp::create(b, b.getF64Type(), start);
    LLVM::StoreOp::create(b, wide, slot);
    totals[i] = slot;
  }
}

void Emitter::emitTotals() {
  for (auto [i, node] : enumerate(kernel.nodes)) {
    if (isLong(node) && node.kind != NodeKind::ScatterAddRow)
      emitEndOfBlock(node);
    if (node.kind != NodeKind::TotalSum)
      continue;
    Value sum = LLVM::LoadOp::create(b, b.getF64Type(), totals[i]);
    Value narrow = arith::TruncFOp::create(b, b.getF32Type(), sum);
    memory.store(narrow, Elem::F32, Place{base[node.arg]});
  }
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
  int64_t keptBytes = plan.kept.size() * kernel.cols * elemBytes(Elem::F32);
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
  emitEndsOfBlocks(dim + 1);
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
      rowBase[k] = memory.advance(base[k], arg.elem, offset);
  }
}

/// The row pointer of a LoadRow or ScatterAddRow.
void Emitter::applyIndex(int32_t i) {
  const Node &node = kernel.nodes[i];
  Value index = rowValues[node.operands[0]];
  if (!index.getType().isInteger(64))
    index = arith::ExtSIOp::create(b, b.getI64Type(), index);
  index = arith::MulIOp::create(b, index, memory.i64(node.imm));
  indexed[i] = memory.advance(rowBase[node.arg], elemOf(node), index);
  if (isLong(node))
    chooseLostRow(i);
}

/// What is known of the row once the phases below `level` are done.
void Emitter::emitRowLevel(unsigned level) {
  for (auto [i, node] : enumerate(kernel.nodes)) {
    if (!isUsed(i) || plan.level[i] != level)
      continue;
    if ((node.kind == NodeKind::LoadRow && node.byCol) ||
        node.kind == NodeKind::ScatterAddRow)
      applyIndex(i);
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
    return memory.load(elemOf(node),
                       Place{memory.advance(rowBase[node.arg], elemOf(node),
                                            node.imm * argOf(node).colStride)});
  case NodeKind::LoadRow: {
    applyIndex(index);
    Place place{indexed.lookup(index)};
    place.mask = condition(node.operands[1], place);
    return memory.load(elemOf(node), place);
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
  Place place{isScatter ? indexed.lookup(index) : rowBase[targetOf(node)]};
  if (isScatter)
    place.mask = condition(node.operands[2], place);
  if (isScatter || argOf(node).access == Access::Accumulate)
    value = values.add(memory.load(elemOf(node), place), value);
  memory.store(value, elemOf(node), place);
}

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
