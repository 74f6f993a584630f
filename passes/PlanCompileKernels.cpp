// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan-compile-kernels: the kernels' texts become one object.

#include "colrow/Kernel/Compile.h"
#include "colrow/passes/Passes.h"
#include "mlir/IR/AsmState.h"

namespace colrow::passes {
#define GEN_PASS_DEF_PLANCOMPILEKERNELS
#include "colrow/passes/Passes.h.inc"
} // namespace colrow::passes

using namespace mlir;
using namespace colrow;
using namespace colrow::passes;

namespace {
struct PlanCompileKernelsPass
    : passes::impl::PlanCompileKernelsBase<PlanCompileKernelsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::vector<std::pair<std::string, kernel::RowKernel>> kernels;
    for (auto op : module.getOps<planir::KernelOp>()) {
      if (!op.getText()) {
        op.emitOpError("has no text to compile; it is compiled already");
        return signalPassFailure();
      }
      auto kernel = kernel::parseKernel(*op.getText());
      if (!kernel) {
        op.emitOpError() << llvm::toString(kernel.takeError());
        return signalPassFailure();
      }
      kernels.push_back({op.getSymName().str(), std::move(*kernel)});
    }
    if (kernels.empty())
      return;
    kernel::Target target = kernel::hostTarget();
    auto object = kernel::compileSharedObject(kernels, target);
    if (!object) {
      module.emitError("plan-compile-kernels: ")
          << llvm::toString(object.takeError());
      return signalPassFailure();
    }
    for (auto op : module.getOps<planir::KernelOp>())
      op.removeTextAttr();
    addObject(target, *object);
  }

  /// Stands before the first program.
  void addObject(const kernel::Target &target, ArrayRef<char> code) {
    ModuleOp module = getOperation();
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto programs = module.getOps<planir::ProgramOp>();
    if (!programs.empty())
      builder.setInsertionPoint(*programs.begin());
    auto type =
        RankedTensorType::get(int64_t(code.size()), builder.getI8Type());
    auto value = DenseResourceElementsAttr::get(
        type, "object", HeapAsmResourceBlob::allocateAndCopyInferAlign(code));
    planir::ObjectOp::create(builder, module.getLoc(), target.cpu,
                             target.features, value);
  }
};
} // namespace
