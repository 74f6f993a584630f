// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases of a step as structure: the blocks of its function.

#ifndef COLROW_DIALECTS_TP_STEP_H
#define COLROW_DIALECTS_TP_STEP_H

#include "colrow/dialects/TP/TP.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace colrow::tp {

/// The phases of a step, each a block of its function in this order. A function
/// of one block, as imported, is forward only.
enum class Phase : uint8_t { Forward, Backward, Update };
inline constexpr unsigned numPhases = 3;

/// Whether `function` is only evaluated: it says `tp.forward`. Others are
/// trained, and have a backward and an update from tp-differentiate on.
bool isForwardOnly(mlir::func::FuncOp function);

/// The phase whose block holds `op`.
Phase getPhase(mlir::Operation *op);

/// Checks that the blocks of `function` are phases: at most `numPhases`, each
/// but the last ended by `tp.next`, and only the last by `return`.
llvm::LogicalResult verifyPhases(mlir::func::FuncOp function);

/// Ends the only block of `function`, which holds the forward, before its
/// `return` and adds the blocks of backward and update; `return` moves to the
/// last one.
void addPhases(mlir::func::FuncOp function);

/// Whether a result of `function` is wanted whole on every rank: the loss, and
/// one without a role. Others leave in blocks, but not as summands.
bool leavesWhole(mlir::func::FuncOp function, unsigned result);

/// Calls `visit` for each op of `function` but terminators, phase by phase.
void forEachOp(mlir::func::FuncOp function,
               llvm::function_ref<void(mlir::Operation &)> visit);

} // namespace colrow::tp

#endif // COLROW_DIALECTS_TP_STEP_H
