// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan IR and the tables of a plan file, each from the other.

#ifndef COLROW_PLAN_TABLES_H
#define COLROW_PLAN_TABLES_H

#include "colrow/runtime/Plan/PlanSchema.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <vector>

namespace colrow::planir {

/// A plan's tables, and where they come from.
struct PlanTables {
  plan::PlanT plan;
  /// Of each program: its op, and those of its instructions.
  std::vector<mlir::Operation *> programs;
  std::vector<std::vector<mlir::Operation *>> instructions;
};

/// The tables of a placed module. It only translates: what the tables say is
/// for checkPlanTables(). Fails, with an error at the op, for what tables
/// cannot say: attention in one piece, buffers without a place.
llvm::FailureOr<PlanTables> toTables(mlir::ModuleOp module);

/// An analysis: the FlatBuffers buffer of a module's tables, so that what is
/// written is what was verified.
class PackedPlan {
public:
  explicit PackedPlan(mlir::Operation *module);

  /// False if the module has no tables; the errors are reported.
  bool isValid() const { return buffer.size() != 0; }
  const plan::Plan &getTables() const { return *plan::GetPlan(buffer.data()); }
  llvm::ArrayRef<uint8_t> getBytes() const {
    return {buffer.data(), buffer.size()};
  }
  /// The op of a program, or of an instruction unless that is -1.
  mlir::Operation *getOp(int program, int instruction) const;

private:
  flatbuffers::DetachedBuffer buffer;
  std::vector<mlir::Operation *> programs;
  std::vector<std::vector<mlir::Operation *>> instructions;
};

/// The module whose tables these are; toTables() gives the same again. `plan`
/// has passed checkPlanTables().
mlir::OwningOpRef<mlir::ModuleOp> fromTables(const plan::PlanT &plan,
                                             mlir::MLIRContext *context);

} // namespace colrow::planir

#endif // COLROW_PLAN_TABLES_H
