// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two halves of toTables().

#ifndef COLROW_LIB_PLAN_TOTABLES_H
#define COLROW_LIB_PLAN_TOTABLES_H

#include "Types.h"
#include "colrow/Plan/Tables.h"
#include "colrow/dialects/Plan/Plan.h"

namespace colrow::planir {

/// A row of the table of buffers: `offset` and `bytes` in bytes.
std::unique_ptr<plan::BufferT> makeBuffer(plan::Region region,
                                          llvm::StringRef name,
                                          mlir::Type element, uint64_t offset,
                                          uint64_t bytes);

/// Translates what stands in the module and is shared by its programs.
class ModuleWriter {
public:
  explicit ModuleWriter(mlir::ModuleOp module) : module(module) {}

  llvm::LogicalResult run(PlanTables &result);

  uint32_t bufferOf(mlir::StringAttr symbol) {
    return bufferIndex.lookup(symbol);
  }
  uint32_t kernelOf(mlir::StringAttr symbol) {
    return kernelIndex.lookup(symbol);
  }
  int32_t parameterOf(mlir::StringAttr symbol) {
    return parameterIndex.lookup(symbol);
  }
  uint32_t getScalars() const { return scalars; }
  const layout::Mesh &getMesh() const { return mesh; }

private:
  uint32_t addBuffer(plan::Region region, llvm::StringRef name,
                     mlir::Type element, uint64_t offset, uint64_t bytes);
  llvm::LogicalResult addParameter(mlir::Operation *op, mlir::Type type,
                                   int32_t stateOf);
  llvm::LogicalResult addParameters();
  /// Puts the elements that `op` holds into `list`, which is the plan's
  /// constants or its object, from byte `offset` on; the list ends aligned.
  llvm::LogicalResult addElements(mlir::Operation *op, mlir::ElementsAttr value,
                                  uint64_t offset, uint64_t alignment,
                                  std::vector<uint8_t> &list);
  llvm::LogicalResult addConstants();
  void addScalars();
  void addKernels();
  llvm::LogicalResult addObject();
  void addAttributes();

  mlir::ModuleOp module;
  plan::PlanT *plan = nullptr;
  llvm::DenseMap<mlir::StringAttr, uint32_t> bufferIndex, kernelIndex;
  llvm::DenseMap<mlir::StringAttr, int32_t> parameterIndex;
  uint32_t scalars = 0;
  layout::Mesh mesh;
};

/// Reports memory that has no place yet.
llvm::LogicalResult reportNoPlace(mlir::Operation *op);

/// Translates a program; its own buffers are numbered from `firstBuffer` on.
llvm::LogicalResult writeProgram(ModuleWriter &writer, ProgramOp op,
                                 plan::ProgramT &program,
                                 std::vector<mlir::Operation *> &instructions,
                                 size_t firstBuffer);

} // namespace colrow::planir

#endif // COLROW_LIB_PLAN_TOTABLES_H
