// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of layouts on one feature axis as a solver problem: IR in, a
// problem of plain structs, and the solution as layouts and ways.

#ifndef COLROW_SHARDING_AXISPROBLEM_H
#define COLROW_SHARDING_AXISPROBLEM_H

#include "colrow/Sharding/DimClasses.h"
#include "colrow/Sharding/StepWork.h"
#include "colrow/Solver/Solver.h"

namespace colrow::sharding {

/// Parameters that must be stored split, and on which dimension.
using Pins = llvm::MapVector<mlir::Operation *, unsigned>;

class AxisProblem {
public:
  /// `table` prices by the mesh and axis that are chosen for. Parameters that
  /// have a layout already are stored in it.
  AxisProblem(mlir::ModuleOp module, mlir::func::FuncOp step,
              const DimClasses &classes, const Gradients &gradients,
              WorkTable &table)
      : module(module), step(step), classes(classes), gradients(gradients),
        table(table), mesh(table.getMesh()), axis(table.getAxis()),
        symbols(module) {}

  /// Builds the problem. Errors, at the op: heads that cannot be dealt out to
  /// the ranks, more states than the solver holds.
  mlir::LogicalResult build();
  /// Finds the best layouts that obey `pins`. Where there are none, the error
  /// has the fewest pins that cannot hold together, the op at which that shows,
  /// and for each of them what works in its place.
  mlir::LogicalResult solve(const Pins &pins);
  /// Tries all assignments and compares the cost of the best.
  mlir::LogicalResult checkExhaustively() const;
  /// Writes layouts into types and the ways onto ops.
  void write();

  const solver::Solution &getSolution() const { return solution; }

private:
  /// States of values that are alike, and the table of their conversions.
  struct ValueClass {
    ChangeQuery query;
    llvm::SmallVector<tp::LayoutAttr, 6> layouts; ///< per state
    unsigned conversion = 0;
  };
  /// Choices of ops that are alike.
  struct OpClass {
    unsigned choiceTable = 0;
    llvm::SmallVector<mlir::StringAttr> ways; ///< per choice
  };
  /// The node of a parameter without a layout: its table now, and all its
  /// choices without a pin.
  struct Stored {
    mlir::Value value;
    unsigned choiceTable = 0;
    solver::ChoiceTable all;
  };

  mlir::LogicalResult checkUnits();
  layout::Layout layoutOf(mlir::Value value, layout::State state);
  mlir::LogicalResult addValue(mlir::Value value);
  ValueClass makeValue(mlir::Value value, bool mixed);
  mlir::LogicalResult addParameter(tp::ParamOp param);
  mlir::LogicalResult addOp(mlir::Operation *op);
  OpClass makeOp(mlir::Operation *op, const layout::FactorRule &rule);
  bool addChoice(mlir::Operation *op, const layout::FactorRule &rule,
                 layout::Way way, solver::ChoiceTable &choices);
  void addLeaving(mlir::Value value);
  void addNode(mlir::Operation *op, mlir::ValueRange operands,
               mlir::ValueRange results, unsigned choiceTable);

  tp::ParameterOp parameterOf(tp::ParamOp param) const {
    return symbols.lookup<tp::ParameterOp>(param.getSymbol());
  }
  const ValueClass &infoOf(mlir::Value value) const {
    return values[valueKind[valueIndex.lookup(value)]];
  }
  std::optional<uint8_t> stateIndex(mlir::Value value, ValueState state) const;
  unsigned intern(solver::ChoiceTable table);
  std::string nameOf(unsigned node) const;

  void obey(const Pins &pins);
  llvm::Expected<solver::Solution> find(const Pins &pins);
  std::optional<unsigned> infeasibleNode(const Pins &pins);
  Pins fewestOf(const Pins &pins);
  std::string storedNote();
  std::string pinText(mlir::Operation *parameter, unsigned dim) const;
  std::string reasonFor(const Pins &conflict);
  std::string insteadOf(mlir::Operation *parameter, Pins conflict);
  mlir::LogicalResult refuse(const Pins &pins);

  mlir::ModuleOp module;
  mlir::func::FuncOp step;
  const DimClasses &classes;
  const Gradients &gradients;
  WorkTable &table;
  layout::Mesh mesh;
  unsigned axis;
  mlir::SymbolTable symbols;

  bool anyStored = false; ///< a parameter had a layout

  solver::Problem problem;
  llvm::MapVector<mlir::Value, unsigned> valueIndex; ///< solver values
  std::vector<unsigned> valueKind;                   ///< index into `values`
  std::vector<ValueClass> values;
  std::vector<OpClass> ops;
  std::map<std::vector<int64_t>, unsigned> valueKinds;
  std::map<std::vector<const void *>, unsigned> opKinds;
  std::vector<mlir::Operation *> opOfNode;               ///< null: an argument
  llvm::MapVector<mlir::Operation *, Stored> parameters; ///< by tp.parameter
  llvm::MapVector<mlir::Operation *, std::pair<unsigned, unsigned>>
      nodeOf; ///< node, and index into `ops`
  solver::Solution solution;
};

} // namespace colrow::sharding

#endif // COLROW_SHARDING_AXISPROBLEM_H
