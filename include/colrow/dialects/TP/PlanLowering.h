// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an op sees when it becomes instructions of a plan: a builder, and the
// buffers that hold tensors.

#ifndef COLROW_DIALECTS_TP_PLANLOWERING_H
#define COLROW_DIALECTS_TP_PLANLOWERING_H

#include "colrow/dialects/Plan/Plan.h"
#include "colrow/dialects/TP/TP.h"

namespace colrow::tp {

class PlanLowering {
public:
  explicit PlanLowering(mlir::OpBuilder &builder) : builder(builder) {}

  /// New instructions stand where it stands.
  mlir::OpBuilder &getBuilder() { return builder; }

  /// The buffer that holds `value`; scratch is made for one that has none yet.
  mlir::Value buffer(mlir::Value value);
  void setBuffer(mlir::Value value, mlir::Value buffer) {
    buffers[value] = buffer;
  }
  /// Where the first element of `value` lies.
  planir::Place place(mlir::Value value) { return {buffer(value), {}}; }
  /// `result` is `source` under another shape: one buffer, no instruction.
  void alias(mlir::Value result, mlir::Value source) {
    setBuffer(result, buffer(source));
  }

  /// What the instructions of an op are called: "h.0.mlp.up tp.matmul".
  void setName(mlir::StringAttr instructionName) { name = instructionName; }
  mlir::StringAttr getName() const { return name; }

private:
  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  mlir::StringAttr name;
};

/// Bytes of a plain local tensor.
int64_t tensorBytes(mlir::Type type);

} // namespace colrow::tp

#endif // COLROW_DIALECTS_TP_PLANLOWERING_H
