// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over many rows whose rounding errors do not grow with the rows.
//
// Invariant of a column sum: `arg` holds the blocks of sumBlock terms that are
// complete, less what their addition lost; scratch holds the block at hand, and
// behind it what was lost. Of a scatter: a row of the table that is met more
// than sumBlock times has a row of scratch, given in order, for what it loses.

#include "Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace llvm;
using namespace mlir;

namespace colrow::kernel {

void Emitter::emitBlockCounts() {
  for (const Node &node : kernel.nodes) {
    if (!isLong(node) || node.kind == NodeKind::ScatterAddRow)
      continue;
    Value &count = blockCounts[countSummedDims(kernel, argOf(node))];
    if (count)
      continue;
    count = memory.reserve(b.getI64Type(), 1);
    LLVM::StoreOp::create(b, memory.i64(0), count);
  }
}

/// Behind an iteration of the first `dim` row dimensions: a term of the sums
/// over these.
void Emitter::emitEndsOfBlocks(size_t dim) {
  Value slot = blockCounts.lookup(dim);
  if (!slot)
    return;
  Value before = LLVM::LoadOp::create(b, b.getI64Type(), slot);
  Value count = arith::AddIOp::create(b, before, memory.i64(1));
  Value isFull = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, count,
                                       memory.i64(sumBlock));
  LLVM::StoreOp::create(b, values.select(isFull, memory.i64(0), count), slot);
  auto branch = scf::IfOp::create(b, isFull, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  for (const Node &node : kernel.nodes)
    if (isLong(node) && node.kind != NodeKind::ScatterAddRow &&
        countSummedDims(kernel, argOf(node)) == dim)
      emitEndOfBlock(node);
}

/// Adds the block at hand to the sum and begins another.
void Emitter::emitEndOfBlock(const Node &node) {
  emitEndOfBlock(node, countSummedDims(kernel, argOf(node)), memory.i64(0));
}

/// The same for the elements at `offset` in the dimensions before `dim`.
void Emitter::emitEndOfBlock(const Node &node, size_t dim, Value offset) {
  const Arg &arg = argOf(node);
  if (dim < kernel.rows.size()) {
    auto loop = scf::ForOp::create(b, memory.i64(0),
                                   memory.i64(kernel.rows[dim]), memory.i64(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value step = arith::MulIOp::create(b, loop.getInductionVar(),
                                       memory.i64(arg.rowStrides[dim]));
    return emitEndOfBlock(node, dim + 1,
                          arith::AddIOp::create(b, offset, step));
  }
  int64_t elements = 1 + (kernel.cols - 1) * arg.colStride;
  for (auto [size, stride] : zip_equal(kernel.rows, arg.rowStrides))
    elements += (size - 1) * stride;
  auto at = [&](int32_t k) {
    return memory.advance(base[k], Elem::F32, offset);
  };
  Value sumRow = at(node.arg), blockRow = at(node.scratch);
  Value lostRow = memory.advance(blockRow, Elem::F32, elements);
  auto add = [&](Place sum, Place block, Place lost) {
    Value zero = values.constant(Type::F32, block.lanes, 0);
    auto [next, rest] = values.addKeepingLost(memory.load(Elem::F32, sum),
                                              memory.load(Elem::F32, lost),
                                              memory.load(Elem::F32, block));
    memory.store(next, Elem::F32, sum);
    memory.store(rest, Elem::F32, lost);
    memory.store(zero, Elem::F32, block);
  };
  if (arg.colStride == 0)
    return add(Place(sumRow), Place(blockRow), Place(lostRow));
  auto body = [&](Chunk &chunk) -> SmallVector<Value, 4> {
    add(placeOf(node, sumRow, chunk), placeOf(node, blockRow, chunk),
        placeOf(node, lostRow, chunk));
    return {};
  };
  sweep.run(memory.i64(0), kernel.cols, {}, body);
}

/// Counts the row's meetings up to sumBlock; the next one takes the next row of
/// scratch, and from then on its number, above sumBlock, stands for the count.
void Emitter::chooseLostRow(int32_t index) {
  const Node &node = kernel.nodes[index];
  auto i32 = [&](int64_t value) {
    return values.constant(Type::I32, /*lanes=*/0, value);
  };
  Value row = rowValues[node.operands[0]];
  if (!row.getType().isInteger(64))
    row = arith::ExtSIOp::create(b, b.getI64Type(), row);
  int64_t lost = kernel.numRows() / sumBlock * kernel.cols;
  Place taken(memory.advance(base[node.scratch], Elem::I32, lost));
  Value counts = memory.advance(taken.pointer, Elem::I32, int64_t(1));
  Place countPlace(memory.advance(counts, Elem::I32, row));
  countPlace.mask = condition(node.operands[2], countPlace);

  Value count = memory.load(Elem::I32, countPlace);
  Value next = values.add(memory.load(Elem::I32, taken), i32(1));
  Value takes =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, count, i32(sumBlock));
  Value isFew =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, count, i32(sumBlock));
  Value many = values.select(takes, values.add(next, i32(sumBlock)), count);
  Value number = values.select(isFew, values.add(count, i32(1)), many);
  memory.store(number, Elem::I32, countPlace);
  taken.mask = takes;
  memory.store(next, Elem::I32, taken);

  Value keeps = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, number,
                                      i32(sumBlock));
  Value place = values.add(number, i32(-sumBlock - 1));
  place = arith::ExtSIOp::create(b, b.getI64Type(), place);
  place = arith::MulIOp::create(b, place, memory.i64(kernel.cols));
  lostRows[index] = {memory.advance(base[node.scratch], Elem::F32, place),
                     keeps};
}

void Emitter::emitLongScatter(int32_t index, Chunk &chunk) {
  const Node &node = kernel.nodes[index];
  auto [lostRow, keeps] = lostRows.lookup(index);
  Place sum = placeOf(node, indexed[index], chunk);
  sum.mask = condition(node.operands[2], sum);
  Place lost(memory.advance(lostRow, Elem::F32, chunk.col), 1, chunk.lanes);
  lost.mask = values.broadcast(keeps, chunk.lanes);
  if (sum.mask)
    lost.mask = arith::AndIOp::create(b, lost.mask, sum.mask);
  auto [next, rest] = values.addKeepingLost(memory.load(Elem::F32, sum),
                                            memory.load(Elem::F32, lost),
                                            valueOf(node.operands[1], chunk));
  memory.store(next, Elem::F32, sum);
  memory.store(rest, Elem::F32, lost);
}

} // namespace colrow::kernel
