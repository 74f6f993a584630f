// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emitter of one kernel: scalars, then loops over rows, and in a row its
// phases in turn, each a sweep over the columns.
//
// Invariant: values of a chunk are emitted in the loop that holds it, values
// of a row before the first phase that uses them, scalars before all rows.

#ifndef COLROW_LIB_KERNEL_EMITTER_H
#define COLROW_LIB_KERNEL_EMITTER_H

#include "ColumnSweep.h"
#include "Schedule.h"
#include <optional>

namespace colrow::kernel {

class Emitter {
public:
  Emitter(mlir::ImplicitLocOpBuilder &b, const RowKernel &kernel,
          unsigned width);

  void emitBody(mlir::Value pointers, mlir::Value ints);

private:
  // Before and after the rows.
  void emitBases(mlir::Value pointers);
  void emitScalars(mlir::Value ints);
  void emitOutputs();
  void emitZeroColumns(const Node &node);
  void emitTotals();
  void reserveKept();

  // A row.
  void emitRows(size_t dim);
  void emitRow();
  void emitRowPointers();
  void applyIndex(int32_t index);
  void emitRowLevel(unsigned level);
  mlir::Value emitRowValue(int32_t index);
  void emitRowEffect(int32_t index);

  // Long sums.
  bool isLong(const Node &node) const { return node.scratch >= 0; }
  void emitBlockCounts();
  void emitEndsOfBlocks(size_t dim);
  void emitEndOfBlock(const Node &node);
  void emitEndOfBlock(const Node &node, size_t dim, mlir::Value offset);
  void chooseLostRow(int32_t index);
  void emitLongScatter(int32_t index, Chunk &chunk);

  // A phase.
  llvm::SmallVector<Fold, 4> foldsOf(const Phase &phase) const;
  llvm::SmallVector<mlir::Value, 4> emitChunk(const Phase &phase, Chunk &chunk);
  void emitPhase(unsigned index);
  void emitBlocks(const Phase &phase, llvm::ArrayRef<Fold> folds);
  llvm::SmallVector<mlir::Value, 4> emitSweep(const Phase &phase,
                                              mlir::Value begin, int64_t count,
                                              llvm::ArrayRef<Fold> folds);
  void addToTotals(const Phase &phase, llvm::ArrayRef<mlir::Value> sums);
  void addToTotal(int32_t index, mlir::Value sum);

  // A chunk of columns.
  mlir::Value valueOf(int32_t index, Chunk &chunk);
  mlir::Value emitValue(int32_t index, Chunk &chunk);
  mlir::Value columnIndex(const Chunk &chunk);
  Place placeOf(const Node &node, mlir::Value rowPointer, const Chunk &chunk);
  Place keptPlace(unsigned slot, const Chunk &chunk);
  mlir::Value condition(int32_t operand, const Place &place);
  void emitEffect(int32_t index, Chunk &chunk);

  const Arg &argOf(const Node &node) const { return kernel.args[node.arg]; }
  /// The argument that an effect's rows go to: a long sum's block, or `arg`.
  int32_t targetOf(const Node &node) const {
    return isLong(node) ? node.scratch : node.arg;
  }
  Elem elemOf(const Node &node) const { return argOf(node).elem; }
  bool isUsed(int32_t index) const { return plan.live[index]; }

  mlir::ImplicitLocOpBuilder &b;
  const RowKernel &kernel;
  ValueBuilder values;
  Memory memory;
  ColumnSweep sweep;
  Schedule plan;

  /// Arguments' addresses of row 0, and of the row at hand.
  llvm::SmallVector<mlir::Value, 8> base, rowBase;
  llvm::SmallVector<mlir::Value, 4> rowIndices;
  /// Values that do not differ by column, of this row.
  llvm::DenseMap<int32_t, mlir::Value> rowValues;
  /// Row pointers of LoadRow and ScatterAddRow, their index applied.
  llvm::DenseMap<int32_t, mlir::Value> indexed;
  llvm::DenseMap<unsigned, mlir::Value> keptBuffers;
  llvm::DenseMap<int32_t, mlir::Value> totals;
  /// Counters of the terms in the blocks of long sums, by the number of
  /// dimensions summed over.
  llvm::DenseMap<unsigned, mlir::Value> blockCounts;
  /// Of long scatters, for the row at hand: where its lost part is kept, and
  /// whether it has one.
  llvm::DenseMap<int32_t, std::pair<mlir::Value, mlir::Value>> lostRows;
  unsigned phaseIndex = 0;
  /// The row's columns, when they are one chunk for all phases.
  std::optional<Chunk> wholeRow;
};

} // namespace colrow::kernel

#endif // COLROW_LIB_KERNEL_EMITTER_H
