// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small random problems for comparing the solver with brute force.

#ifndef COLROW_TEST_UNIT_SOLVER_RANDOMPROBLEM_H
#define COLROW_TEST_UNIT_SOLVER_RANDOMPROBLEM_H

#include "colrow/Solver/Solver.h"

#include <random>

namespace colrow::solver {

/// Deterministic for a seed. Costs are small integers, so that ties are common;
/// conversions and choices are infinite now and then, and conversions free; a
/// value has up to 4 states and any number of consumers; operands may repeat.
class RandomProblem {
public:
  explicit RandomProblem(unsigned seed) : random(seed) {}

  Problem make(unsigned maxNodes) {
    problem = Problem();
    for (unsigned i = 0, n = 1 + below(3); i < n; ++i)
      problem.conversions.push_back(makeConversions(1 + below(4)));
    for (unsigned i = 0, n = 1 + below(maxNodes); i < n; ++i)
      problem.nodes.push_back(makeNode());
    return problem;
  }

  unsigned below(unsigned n) { return random() % n; }

private:
  Cost makeCost() {
    if (below(16) == 0)
      return Cost::infinite();
    return {below(6), below(2), below(3)};
  }

  ConversionTable makeConversions(unsigned states) {
    ConversionTable table{states, {}};
    for (unsigned from = 0; from < states; ++from)
      for (unsigned to = 0; to < states; ++to)
        table.cost.push_back(from == to      ? Cost{}
                             : below(4) == 0 ? Cost::infinite()
                             : below(4) == 0 ? Cost{}
                                             : makeCost());
    return table;
  }

  uint8_t makeState(unsigned value) {
    return below(problem.conversions[problem.valueConversion[value]].numStates);
  }

  Node makeNode() {
    Node node;
    unsigned numValues = problem.valueConversion.size();
    for (unsigned i = 0, n = numValues ? below(4) : 0; i < n; ++i)
      node.operands.push_back(below(numValues));
    for (unsigned i = 0, n = below(8) ? 1 : below(3); i < n; ++i) {
      node.results.push_back(problem.valueConversion.size());
      problem.valueConversion.push_back(below(problem.conversions.size()));
    }
    node.choiceTable = problem.choices.size();
    problem.choices.push_back(makeChoices(node));
    return node;
  }

  ChoiceTable makeChoices(const Node &node) {
    ChoiceTable table;
    for (unsigned i = 0, n = 1 + below(4); i < n; ++i) {
      Choice &choice = table.choices.emplace_back();
      for (unsigned value : node.operands)
        choice.operandStates.push_back(makeState(value));
      for (unsigned value : node.results)
        choice.resultStates.push_back(makeState(value));
      choice.cost = makeCost();
    }
    return table;
  }

  std::mt19937 random;
  Problem problem;
};

} // namespace colrow::solver

#endif // COLROW_TEST_UNIT_SOLVER_RANDOMPROBLEM_H
