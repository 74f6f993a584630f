// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slow interpreter of plan IR in double, on one rank: every element, bf16
// too, is a double, so that differences of a program's results are exact to
// about 1e-10.

#ifndef COLROW_TEST_SUPPORT_PLANINTERPRETER_H
#define COLROW_TEST_SUPPORT_PLANINTERPRETER_H

#include "colrow/Kernel/RowKernel.h"
#include "colrow/dialects/Plan/Plan.h"
#include "colrow/runtime/Plan/PlanLimits.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <vector>

namespace colrow::planir {

class PlanInterpreter {
public:
  /// Takes the first program of `module`, whose attention is expanded and whose
  /// kernels have their text; places in memory are not looked at. Error: what
  /// it does not know (collectives, fills of other than zero).
  static llvm::Expected<PlanInterpreter>
  create(mlir::ModuleOp module, const runtime::ScalarBlock &scalars);

  /// Elements of an input; those that are not set are zero.
  void set(llvm::StringRef input, llvm::ArrayRef<double> elements);
  void run();
  std::vector<double> get(llvm::StringRef output) const;

private:
  /// A cell a byte: an element is the double at its first byte.
  using Cells = std::vector<double>;

  llvm::Error prepare(mlir::Operation &op);
  void setScalars(Cells &cells, const runtime::ScalarBlock &scalars);
  void run(mlir::Block &block);
  void run(GemmOp op);
  void run(LaunchOp op);
  void run(CopyOp op);
  int64_t evaluate(const Affine &affine) const;
  double *at(mlir::Value buffer, const Affine &address);

  mlir::ModuleOp module;
  ProgramOp program;
  runtime::ScalarBlock scalars;
  llvm::DenseMap<mlir::Value, Cells> memory;
  llvm::DenseMap<mlir::Attribute, kernel::RowKernel> kernels;
  llvm::StringMap<InputOp> inputs;
  llvm::StringMap<OutputOp> outputs;
  /// Indices of the loops around the instruction, innermost last.
  llvm::SmallVector<int64_t> loops;
};

} // namespace colrow::planir

#endif // COLROW_TEST_SUPPORT_PLANINTERPRETER_H
