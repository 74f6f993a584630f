// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a row is swept: each row reduction ends a phase, and a phase is one loop
// over the row's columns.
//
// Invariant: a node of level p depends on reductions of phases below p only.
// Values that differ by column are computed anew in every phase that needs
// them, except those kept in a row buffer.

#ifndef COLROW_LIB_KERNEL_SCHEDULE_H
#define COLROW_LIB_KERNEL_SCHEDULE_H

#include "KernelSupport.h"
#include "llvm/ADT/DenseMap.h"

namespace colrow::kernel {

struct Phase {
  /// RowSum and RowMax nodes whose operand is complete here.
  llvm::SmallVector<int32_t, 4> reductions;
  /// Effects that go over the columns; all stand in one phase, after every
  /// load, so that outputs may be inputs' buffers.
  llvm::SmallVector<int32_t, 4> effects;
};

struct Schedule {
  llvm::SmallVector<unsigned, 32> level;
  llvm::SmallVector<bool, 32> live;
  llvm::SmallVector<Phase, 4> phases;
  /// Effects of one element a row, done when all phases are.
  llvm::SmallVector<int32_t, 4> rowEffects;
  /// Nodes kept in a row buffer: their slot, and the phase that fills it.
  struct Kept {
    unsigned slot;
    unsigned phase;
  };
  llvm::DenseMap<int32_t, Kept> kept;
};

/// Schedules a verified kernel. Without `keepRows` nothing is kept in buffers.
Schedule schedule(const RowKernel &kernel, bool keepRows);

} // namespace colrow::kernel

#endif // COLROW_LIB_KERNEL_SCHEDULE_H
