// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places of values: fixed ones (parameters, inputs), and scratch buffers that
// share the arena where their lives do not meet.
//
// Invariant: values that are one buffer (a reshape and its operand, an
// all-reduce in place) share an entry whose life covers all of theirs.

#ifndef COLROW_PASSES_BUFFERPLAN_H
#define COLROW_PASSES_BUFFERPLAN_H

#include "PlanWriter.h"

namespace colrow::passes {

class BufferPlan {
public:
  /// `steps`: the program in order; ops of one step run together.
  BufferPlan(mlir::func::FuncOp step,
             llvm::ArrayRef<llvm::SmallVector<mlir::Operation *>> steps);

  /// Puts `value` at a fixed place outside the arena.
  void fix(mlir::Value value, uint8_t region, uint64_t offset);
  /// True if `value` was fixed there.
  bool isAt(mlir::Value value, uint8_t region, uint64_t offset);
  void keepToEnd(mlir::Value value);
  /// Scratch for step `at` only; returns its number.
  int64_t addTemporary(unsigned at, uint64_t bytes);

  unsigned stepOf(mlir::Operation *op) const { return stepIndex.lookup(op); }
  /// The last step that reads `value`.
  unsigned lastUse(mlir::Value value) const;

  /// Place of `value`; scratch addresses are provisional until resolve().
  Address locate(mlir::Value value);
  Address locateTemporary(int64_t number);

  /// Gives every scratch buffer its offset; returns the arena's bytes.
  uint64_t allocate();
  void resolve(Address &address) const;

  /// Bytes of buffers made before the first gradient op and read after it:
  /// what the forward saves for the backward.
  uint64_t savedBytes() const;

private:
  struct Buffer {
    uint64_t bytes = 0;
    unsigned begin = 0, end = 0;
    bool fixed = false;
    uint8_t region = 1;
    uint64_t offset = 0;
  };

  unsigned bufferOf(mlir::Value value);
  void mergeInPlace(mlir::Operation *op);

  mlir::func::FuncOp step;
  llvm::DenseMap<mlir::Operation *, unsigned> stepIndex;
  llvm::DenseMap<mlir::Value, unsigned> index;
  std::vector<Buffer> buffers;
  unsigned steps, firstBackward;
};

} // namespace colrow::passes

#endif // COLROW_PASSES_BUFFERPLAN_H
