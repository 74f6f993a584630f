// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op of the dialect as its examples show it, and one way to run it.

#ifndef COLROW_TEST_OPS_INSTANCE_H
#define COLROW_TEST_OPS_INSTANCE_H

#include "colrow/passes/Passes.h"
#include "colrow/runtime/Core/Executor.h"
#include "colrow/runtime/Plan/PlanFile.h"

namespace colrow::optest {

/// An op with attributes and whole types, from an example. The op belongs to
/// the example's module.
using Instance = mlir::Operation *;

/// One run of an instance: split in `way` on `ranks` ranks.
struct Run {
  Instance op;
  layout::Way way;
  unsigned ranks = 1;
  /// Padding of operands that are split holds 1 instead of 0.
  bool ones = false;
};

/// The numbers that operands hold.
enum class Signs { Both, Positive };

/// Values of a tensor, whatever its element type.
using Values = std::vector<double>;

/// The whole operand `i` of a run: small integers plus `shift`, the same for
/// every run of an instance; integer types hold what they index.
Values operandValues(Instance op, unsigned i, Signs signs, double shift = 0);

/// A function in phase `step`, compiled by the passes of tp-compile, that runs
/// any number of times.
class Executable {
public:
  /// `composite`: it has ops with `ways` to be decomposed.
  static llvm::Expected<std::unique_ptr<Executable>>
  compile(mlir::ModuleOp module, bool composite);

  /// Inputs by name; what is not set is zero.
  void set(llvm::StringRef name, const Values &values);
  void run();
  /// An output as rank `rank` has it.
  Values get(llvm::StringRef name, unsigned rank);

private:
  runtime::LoadedPlan plan;
  std::unique_ptr<runtime::Executor> executor;
  runtime::LoadedProgram *program = nullptr;
};

/// A further argument of `function`, an input of role data called `name`.
mlir::Value addInput(mlir::func::FuncOp function, mlir::RankedTensorType type,
                     llvm::StringRef name);

/// Lets `value` leave as `name`.
void addOutput(mlir::OpBuilder &builder, const std::string &name,
               mlir::Value value);

/// What every run tells the program of the step.
runtime::ScalarBlock scalarsOfRuns();

/// From a function in phase `step` to instructions that are not placed yet.
llvm::Error lowerToInstructions(mlir::ModuleOp module, bool composite);

/// Compares the gradients that `op` builds with central differences in double;
/// how many operands have one. Error: the first element that differs.
llvm::Expected<unsigned> checkGradients(Instance op);

/// What a run computes: each result, whole, as every rank has it, one copy
/// behind the other.
using Results = std::vector<Values>;

/// The results of `run` for each of `signs`.
llvm::Expected<std::vector<Results>> execute(const Run &run,
                                             llvm::ArrayRef<Signs> signs);

/// Builds the function that executes a run: see Split.cpp.
struct SplitFunction {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// For each operand, the number of parts that its input holds, one behind the
  /// other, and what was taken off each element of it.
  llvm::SmallVector<int64_t> parts, less;
};
llvm::Expected<SplitFunction> buildSplit(const Run &run);

/// An input that a split function may have: a table [numberRows, 1] whose row i
/// holds i.
inline constexpr llvm::StringLiteral numbersName = "numbers";
inline constexpr int64_t numberRows = 16;

} // namespace colrow::optest

#endif // COLROW_TEST_OPS_INSTANCE_H
