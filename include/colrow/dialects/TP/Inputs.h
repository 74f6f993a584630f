// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of the step as named inputs.

#ifndef COLROW_DIALECTS_TP_INPUTS_H
#define COLROW_DIALECTS_TP_INPUTS_H

#include "colrow/dialects/TP/TP.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace colrow::tp {

/// The tp.input of an argument, or what tp.role = "ids" or "labels" is short
/// for; without either it is data called "arg<index>", whole in every step.
InputAttr getInput(mlir::func::FuncOp function, unsigned index);

/// The smallest thing that the integers of `value` index, directly or moved by
/// other ops; nullopt if nothing is indexed. On whole shapes.
std::optional<int64_t> getIndexedSize(mlir::Value value);

/// Checks C4 of tp.input: names differ, roles stand once.
llvm::LogicalResult verifyInputs(mlir::func::FuncOp function);

} // namespace colrow::tp

#endif // COLROW_DIALECTS_TP_INPUTS_H
