// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Deep models: identical layers are analysed once, and totals and choices are
// still exact for each layer.

#include "colrow/Solver/Solver.h"

#include "gtest/gtest.h"

using namespace colrow::solver;

namespace {

enum State : uint8_t { R, C, S, P };

/// A stack of residual MLPs: x + W2 relu(W1 x), with layouts as in the design.
class Stack {
public:
  Stack() {
    const Cost no = Cost::infinite(), f{3, 1, 6}, g{3, 1, 6};
    problem.conversions = {{4,
                            {{},
                             f,
                             {},
                             no, // R: f, slice
                             no,
                             {},
                             no,
                             no, // C
                             {6, 1, 3},
                             {4, 1, 3},
                             {},
                             no, // S
                             g,
                             no,
                             {2, 1, 3},
                             {}}}}; // P: g, scatter
    weight = table({{{}, {R}, {8}}, {{}, {S}, {4}}});
    column = table({{{R, R}, {R}, {40}}, {{C, S}, {S}, {20}}});
    relu = table({{{R}, {R}, {4}}, {{C}, {C}, {4}}, {{S}, {S}, {2}}});
    row = table({{{R, R}, {R}, {40}}, {{S, S}, {P}, {20}}});
    residual = table({{{R, R}, {R}, {4}}, {{C, C}, {C}, {5}}});
  }

  unsigned table(std::vector<Choice> choices) {
    problem.choices.push_back({std::move(choices)});
    return problem.choices.size() - 1;
  }

  unsigned node(unsigned choices, llvm::ArrayRef<unsigned> operands) {
    unsigned value = problem.valueConversion.size();
    problem.valueConversion.push_back(0);
    problem.nodes.push_back(
        {{operands.begin(), operands.end()}, {value}, choices});
    return value;
  }

  unsigned layer(unsigned x) { return layer(x, relu); }
  unsigned layer(unsigned x, unsigned activation) {
    unsigned h = node(column, {x, node(weight, {})});
    unsigned a = node(activation, {h});
    return node(residual, {x, node(row, {a, node(weight, {})})});
  }

  void end(unsigned x) {
    problem.nodes.push_back({{x}, {}, table({{{R}, {}, {}}})});
  }

  Problem problem;
  unsigned weight, column, relu, row, residual;
};

Solution solved(const Problem &problem) {
  llvm::Expected<Solution> solution = solve(problem);
  if (!solution) {
    ADD_FAILURE() << llvm::toString(solution.takeError());
    return {};
  }
  return *solution;
}

Solution solveStack(unsigned layers) {
  Stack stack;
  unsigned x = stack.node(stack.table({{{}, {R}, {}}}), {});
  for (unsigned i = 0; i < layers; ++i)
    x = stack.layer(x);
  stack.end(x);
  return solved(stack.problem);
}

/// Weights 4 + 4, matmuls 20 + 20, relu 2, add 4, f 3 and g 3.
constexpr Cost kLayer{60, 2, 12};

Cost times(int64_t n, Cost cost) {
  return {n * cost.picoseconds, n * cost.collectives, n * cost.bytes};
}

TEST(Layers, TotalsAreExplicitSums) {
  EXPECT_EQ(solveStack(96).total, times(96, kLayer));
  EXPECT_EQ(solveStack(192).total, times(192, kLayer));
}

TEST(Layers, AgreeWithBruteForceWhenFew) {
  Stack stack;
  unsigned x = stack.node(stack.table({{{}, {R}, {}}, {{}, {C}, {1}}}), {});
  stack.end(stack.layer(stack.layer(x)));
  EXPECT_EQ(solved(stack.problem).total, bruteForce(stack.problem).total);
}

TEST(Layers, IdenticalLayersAreAnalysedOnce) {
  Solution few = solveStack(8), many = solveStack(192);
  EXPECT_EQ(many.transitionsComputed, few.transitionsComputed);
  EXPECT_EQ(many.largestTable, few.largestTable);
  EXPECT_LT(few.transitionsComputed, 40u);
}

/// Tables repeated by content instead of shared by index.
TEST(Layers, EqualTablesNeedNotBeShared) {
  Stack stack;
  unsigned x = stack.node(stack.table({{{}, {R}, {}}}), {});
  for (unsigned i = 0; i < 96; ++i) {
    x = stack.layer(x);
    for (Node &node : stack.problem.nodes) {
      if (node.results.size() == 1 && node.results[0] == x) {
        stack.problem.choices.push_back(
            stack.problem.choices[node.choiceTable]);
        node.choiceTable = stack.problem.choices.size() - 1;
      }
    }
  }
  stack.end(x);
  Solution solution = solved(stack.problem);
  EXPECT_EQ(solution.total, times(96, kLayer));
  EXPECT_EQ(solution.transitionsComputed, solveStack(96).transitionsComputed);
}

/// The best costs of two states drift apart by 1 a layer and so never repeat,
/// up to the 1000 that it costs to change once; transitions still do.
Solution solveDrifting(unsigned layers, int64_t costOfStart) {
  Problem problem;
  problem.conversions = {{2, {{}, {1000}, {1000}, {}}}};
  problem.choices = {{{{{}, {0}, {}}, {{}, {1}, {costOfStart}}}},
                     {{{{0}, {0}, {11}}, {{1}, {1}, {10}}}},
                     {{{{0}, {}, {}}, {{1}, {}, {}}}}};
  problem.nodes.push_back({{}, {0}, 0});
  for (unsigned i = 0; i < layers; ++i)
    problem.nodes.push_back({{i}, {i + 1}, 1});
  problem.nodes.push_back({{layers}, {}, 2});
  problem.valueConversion.assign(layers + 1, 0);
  return solved(problem);
}

TEST(Layers, DriftingCostsStayExactAndCheap) {
  Solution few = solveDrifting(96, 150), many = solveDrifting(192, 150);
  EXPECT_EQ(few.total, Cost{96 * 11});
  EXPECT_EQ(many.total, Cost{150 + 192 * 10});
  EXPECT_EQ(few.transitionsComputed, many.transitionsComputed);
  EXPECT_EQ(many.state, std::vector<uint8_t>(193, 1));
}

/// One layer out of 96 whose activation cannot be split: it alone differs.
TEST(Layers, LayersMayDiffer) {
  Stack stack;
  unsigned whole = stack.table({{{R}, {R}, {4}}});
  unsigned x = stack.node(stack.table({{{}, {R}, {}}}), {});
  for (unsigned i = 0; i < 96; ++i)
    x = i == 40 ? stack.layer(x, whole) : stack.layer(x);
  stack.end(x);
  Solution solution = solved(stack.problem);
  // In that layer the split matmuls gather and slice around the activation:
  // unslice 6 and 2 more for the activation itself.
  EXPECT_EQ(solution.total, times(96, kLayer) + (Cost{8, 1, 3}));
  EXPECT_EQ(evaluate(stack.problem, solution.choice).total, solution.total);
}

/// A tied weight lives through all layers and is wanted again at the end.
TEST(Layers, LongLivedValuesAreExact) {
  Stack stack;
  unsigned tied = stack.node(stack.weight, {});
  unsigned x =
      stack.node(stack.table({{{R}, {R}, {9}}, {{S}, {P}, {5}}}), {tied});
  for (unsigned i = 0; i < 96; ++i)
    x = stack.layer(x);
  stack.problem.nodes.push_back(
      {{x, tied}, {}, stack.table({{{R, R}, {}, {50}}, {{C, S}, {}, {20}}})});
  Solution solution = solved(stack.problem);
  // Stored split 4, embedding 5 and g 3, head 20 and f 3.
  EXPECT_EQ(solution.total, times(96, kLayer) + (Cost{35, 2, 12}));
  EXPECT_LT(solution.largestTable, 40u);
  EXPECT_EQ(solution.state[tied], S);
  EXPECT_EQ(solution.wanted[tied], 1 << S);
}

} // namespace
