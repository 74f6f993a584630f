// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The topology that a module is compiled for, as an attribute of it, so that
// every pass prices by the one that tp-shard was given.

#ifndef COLROW_SHARDING_TOPOLOGYATTR_H
#define COLROW_SHARDING_TOPOLOGYATTR_H

#include "colrow/Cost/CostModel.h"
#include "mlir/IR/BuiltinOps.h"

namespace colrow::sharding {

mlir::DictionaryAttr toAttr(const cost::Topology &topology,
                            mlir::MLIRContext *context);

/// The cost model of the module's topology; an error at the module if its
/// attribute is none.
mlir::FailureOr<cost::CostModel> getCostModel(mlir::ModuleOp module);

} // namespace colrow::sharding

#endif // COLROW_SHARDING_TOPOLOGYATTR_H
