// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over columns in vectors: the main body in wide vectors, then at most
// one masked vector for the rest.

#ifndef COLROW_LIB_KERNEL_COLUMNSWEEP_H
#define COLROW_LIB_KERNEL_COLUMNSWEEP_H

#include "Memory.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace colrow::kernel {

/// Some adjacent columns of the row at hand, from `col` on, and the values of
/// nodes already emitted for them.
struct Chunk {
  mlir::Value col;
  unsigned lanes = 0;
  mlir::Value mask;
  llvm::DenseMap<int32_t, mlir::Value> values;
};

/// A reduction over columns: by sum, or by maximum from -inf.
enum class Fold : uint8_t { Sum, Max };

class ColumnSweep {
public:
  /// Vectors are `width * unroll` lanes wide: several registers, so that their
  /// chains of operations overlap.
  ColumnSweep(mlir::ImplicitLocOpBuilder &b, ValueBuilder &values,
              Memory &memory, unsigned width, unsigned unroll)
      : b(b), values(values), memory(memory), width(width), unroll(unroll) {}

  /// Whether one chunk without a loop holds `count` columns.
  bool isOneChunk(int64_t count) const { return count <= 4 * width; }
  unsigned lanes() const { return width * unroll; }

  /// A chunk of `count` columns, at most 4 registers, from `col` on.
  Chunk chunk(mlir::Value col, int64_t count);

  /// Emits `body` for chunks that cover `count` columns from `begin` on. It
  /// returns one f32 vector a fold; their reductions over all lanes come back
  /// as scalars. Order: lanes, then halves of the vector.
  using Body =
      llvm::function_ref<llvm::SmallVector<mlir::Value, 4>(Chunk &chunk)>;
  llvm::SmallVector<mlir::Value, 4> run(mlir::Value begin, int64_t count,
                                        llvm::ArrayRef<Fold> folds, Body body);
  /// The same for one chunk.
  llvm::SmallVector<mlir::Value, 4>
  runOne(Chunk &chunk, llvm::ArrayRef<Fold> folds, Body body);

  mlir::Value neutral(Fold fold, unsigned lanes);
  mlir::Value combine(Fold fold, mlir::Value x, mlir::Value y);

private:
  llvm::SmallVector<mlir::Value, 4>
  masked(Chunk &chunk, llvm::ArrayRef<Fold> folds, Body body);
  llvm::SmallVector<mlir::Value, 4> loop(mlir::Value begin, int64_t count,
                                         llvm::ArrayRef<Fold> folds, Body body);
  mlir::Value reduce(Fold fold, mlir::Value vector);

  mlir::ImplicitLocOpBuilder &b;
  ValueBuilder &values;
  Memory &memory;
  unsigned width, unroll;
};

} // namespace colrow::kernel

#endif // COLROW_LIB_KERNEL_COLUMNSWEEP_H
