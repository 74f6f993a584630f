// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types, layouts and parameters in IR and in tables.

#ifndef COLROW_LIB_PLAN_TYPES_H
#define COLROW_LIB_PLAN_TYPES_H

#include "colrow/dialects/TP/TP.h"
#include "colrow/runtime/Plan/PlanSchema.h"
#include "mlir/IR/BuiltinOps.h"

namespace colrow::planir {

plan::DType toDType(mlir::Type element);
mlir::Type fromDType(plan::DType type, mlir::MLIRContext *context);

using DimTables = std::vector<std::unique_ptr<plan::DimT>>;

/// The layout of a whole tensor, a list of factors a dimension.
DimTables toDims(mlir::RankedTensorType whole);
/// The whole tensor; without a layout where `dims` split nothing, unless
/// `withLayout`.
mlir::RankedTensorType fromDims(llvm::ArrayRef<int64_t> shape,
                                plan::DType element, const DimTables &dims,
                                tp::MeshAttr mesh, bool withLayout);

std::vector<std::unique_ptr<plan::MeshAxisT>> toMesh(tp::MeshAttr mesh);
tp::MeshAttr fromMesh(llvm::ArrayRef<std::unique_ptr<plan::MeshAxisT>> axes,
                      mlir::MLIRContext *context);

/// A tp.parameter or tp.state, whose buffer and owner are `buffer` and
/// `stateOf` (-1 for a parameter).
std::unique_ptr<plan::ParameterT> toParameter(mlir::Operation *op,
                                              uint32_t buffer, int32_t stateOf);
/// The declaration of a parameter or state; `owner` names the parameter that it
/// is state of. An error is emitted where the IR does not take what the tables
/// say.
mlir::LogicalResult createParameter(mlir::OpBuilder &builder,
                                    const plan::ParameterT &parameter,
                                    const plan::BufferT &buffer,
                                    llvm::StringRef owner, tp::MeshAttr mesh);

/// Equal for parameters of the same names, types and layouts.
uint64_t
fingerprint(llvm::ArrayRef<std::unique_ptr<plan::ParameterT>> parameters);

} // namespace colrow::planir

#endif // COLROW_LIB_PLAN_TYPES_H
