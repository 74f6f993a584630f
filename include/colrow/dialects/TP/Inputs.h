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

/// Adds the integers that ops which take `value`, directly or moved by other
/// ops, ignore: one for each of these ops.
void addIgnored(mlir::Value value, llvm::SmallVectorImpl<int64_t> &ignored);

/// Checks C4 of tp.input: names differ, roles stand once.
llvm::LogicalResult verifyInputs(mlir::func::FuncOp function);

} // namespace colrow::tp

#endif // COLROW_DIALECTS_TP_INPUTS_H
