// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be told of a partitioned step without the whole one: checks of the
// phase `local`.

#ifndef COLROW_PASSES_LOCALCHECKS_H
#define COLROW_PASSES_LOCALCHECKS_H

#include "colrow/passes/Passes.h"

namespace colrow::passes {

/// Infers the state of each value on each axis, from the layouts of parameters,
/// collectives and positions, and checks that each op is used in one of its
/// ways, each `layout` says where its value lies, and outputs and updates are
/// in the states of their whole types. Types do not tell this any more.
llvm::LogicalResult checkLocalStates(mlir::ModuleOp module,
                                     mlir::func::FuncOp step);

/// Checks that what leaves the step leaves once: outputs under names of their
/// own, and symbols updated once, by a function that is trained.
llvm::LogicalResult checkEffects(mlir::ModuleOp module,
                                 mlir::func::FuncOp step);

/// Checks that the function that is trained, which may be null, updates all
/// optimizer state and what it is kept for.
llvm::LogicalResult checkStates(mlir::ModuleOp module,
                                mlir::func::FuncOp trained);

/// Checks that each `tp.mask_padding` has one use, which needs its value.
llvm::LogicalResult checkMasks(mlir::func::FuncOp step);

/// Checks that every value is made before it is used: what an op that was moved
/// may break.
llvm::LogicalResult checkOrder(mlir::func::FuncOp step);

/// Checks that the members of a kernel stand together, and that their numbers
/// rise.
llvm::LogicalResult checkKernels(mlir::func::FuncOp step);

} // namespace colrow::passes

#endif // COLROW_PASSES_LOCALCHECKS_H
