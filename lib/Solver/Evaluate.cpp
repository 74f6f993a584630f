// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The objective itself, for one assignment of choices, and brute force over
// all of them. Shares nothing with the solver but the conversion trees.

#include "colrow/Solver/Solver.h"

using namespace colrow::solver;

/// Fills states and wanted sets and returns what the nodes themselves cost.
static Cost applyChoices(const Problem &problem, Solution &solution) {
  Cost total;
  for (size_t n = 0; n < problem.nodes.size(); ++n) {
    const Node &node = problem.nodes[n];
    const Choice &choice =
        problem.choices[node.choiceTable].choices[solution.choice[n]];
    total += choice.cost;
    for (size_t i = 0; i < node.results.size(); ++i)
      solution.state[node.results[i]] = choice.resultStates[i];
    for (size_t i = 0; i < node.operands.size(); ++i)
      solution.wanted[node.operands[i]] |= 1u << choice.operandStates[i];
  }
  return total;
}

static std::vector<ConversionTrees> allTrees(const Problem &problem) {
  return {problem.conversions.begin(), problem.conversions.end()};
}

static Solution evaluateWith(const Problem &problem,
                             llvm::ArrayRef<ConversionTrees> trees,
                             llvm::ArrayRef<unsigned> choice) {
  Solution solution;
  solution.choice.assign(choice.begin(), choice.end());
  solution.state.assign(problem.valueConversion.size(), 0);
  solution.wanted.assign(problem.valueConversion.size(), 0);
  solution.total = applyChoices(problem, solution);
  for (size_t v = 0; v < problem.valueConversion.size(); ++v)
    solution.total += trees[problem.valueConversion[v]].cost(
        solution.state[v], solution.wanted[v]);
  return solution;
}

Solution colrow::solver::evaluate(const Problem &problem,
                                  llvm::ArrayRef<unsigned> choice) {
  return evaluateWith(problem, allTrees(problem), choice);
}

/// Advances to the next combination, the last node fastest; false after the
/// last one.
static bool advance(const Problem &problem, std::vector<unsigned> &choice) {
  for (size_t n = choice.size(); n-- > 0;) {
    if (++choice[n] <
        problem.choices[problem.nodes[n].choiceTable].choices.size())
      return true;
    choice[n] = 0;
  }
  return false;
}

Solution colrow::solver::bruteForce(const Problem &problem) {
  Solution best;
  best.total = Cost::infinite();
  for (const Node &node : problem.nodes)
    if (problem.choices[node.choiceTable].choices.empty())
      return best;
  std::vector<ConversionTrees> trees = allTrees(problem);
  std::vector<unsigned> choice(problem.nodes.size(), 0);
  do {
    Solution candidate = evaluateWith(problem, trees, choice);
    if (candidate.total < best.total)
      best = std::move(candidate);
  } while (advance(problem, choice));
  return best;
}
