// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact layout solver. A problem is a directed acyclic graph of nodes; each
// node takes one choice of its table, which fixes the states of its operands
// and results, and each value pays the cheapest tree of conversions from the
// state it is produced in to all states it is wanted in. The solver finds the
// choices with the least total cost (docs/solver.md). It knows nothing of
// layouts, operations, or MLIR.

#ifndef COLROW_SOLVER_SOLVER_H
#define COLROW_SOLVER_SOLVER_H

#include "colrow/Solver/Conversions.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace colrow::solver {

/// One way to carry out a node.
struct Choice {
  /// The state in which each operand is wanted, in operand order.
  llvm::SmallVector<uint8_t, 4> operandStates;
  /// The state in which each result is produced, in result order.
  llvm::SmallVector<uint8_t, 2> resultStates;
  /// What the node itself costs so; infinite forbids the choice.
  Cost cost;
};

struct ChoiceTable {
  std::vector<Choice> choices;
};

/// A node. A read of a parameter is a node without operands whose choices are
/// the layouts in which the parameter may be stored.
struct Node {
  /// Values. One may appear twice: both wanted states are honoured.
  llvm::SmallVector<unsigned, 4> operands;
  llvm::SmallVector<unsigned, 2> results;
  /// Index into Problem::choices.
  unsigned choiceTable = 0;
};

/// Nodes in topological order; every value is the result of exactly one node.
/// Tables of equal content may be shared or repeated: the solver compares
/// content.
struct Problem {
  std::vector<ConversionTable> conversions;
  /// For each value the index of its conversion table.
  std::vector<unsigned> valueConversion;
  std::vector<ChoiceTable> choices;
  std::vector<Node> nodes;
};

struct Options {
  /// A table of more entries is an error that names the node: some seconds and
  /// 1 GiB.
  uint64_t maxTable = 2'000'000;
  /// How errors name a node; by default "node <index>".
  std::function<std::string(unsigned node)> nodeName;
};

struct Solution {
  /// The chosen index into the choice table, for each node.
  std::vector<unsigned> choice;
  /// The state each value is produced in.
  std::vector<uint8_t> state;
  /// The states each value is wanted in by its consumers; with `state` this
  /// gives the value's ConversionTrees::edges.
  std::vector<StateSet> wanted;
  Cost total;

  /// Distinct transitions that were computed; others were found in the cache.
  uint64_t transitionsComputed = 0;
  /// Entries of the largest table.
  uint64_t largestTable = 0;
};

/// No combination of choices is feasible.
class Infeasible : public llvm::ErrorInfo<Infeasible> {
public:
  static char ID;
  Infeasible(unsigned node, std::string text)
      : node(node), text(std::move(text)) {}

  /// The first node in elimination order that leaves none.
  unsigned getNode() const { return node; }
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  unsigned node;
  std::string text;
};

/// Checks what solve() requires of a problem: indices in range, topological
/// order, one producer a value, choices of the right lengths, states within
/// their tables, conversion tables well formed. The error names the node or
/// table.
llvm::Error verify(const Problem &problem, const Options &options = {});

/// The choices with the least total cost, exactly. Of equally good solutions
/// the one whose choices, read in elimination order (node order, but a node
/// without operands comes just before its first consumer), are
/// lexicographically first. Errors: verify()'s; Infeasible, with the node that
/// leaves no combination; a table above Options::maxTable.
llvm::Expected<Solution> solve(const Problem &problem,
                               const Options &options = {});

/// What the given choice of every node costs in a valid problem, conversions
/// included, with states and wanted sets filled in. The total is infinite if
/// it is not feasible.
Solution evaluate(const Problem &problem, llvm::ArrayRef<unsigned> choice);

/// Tries all combinations of choices of a valid problem, in lexicographic
/// order of node order, and returns the first of the best; the total is
/// infinite if none is feasible. For tests of small problems.
Solution bruteForce(const Problem &problem);

} // namespace colrow::solver

#endif // COLROW_SOLVER_SOLVER_H
