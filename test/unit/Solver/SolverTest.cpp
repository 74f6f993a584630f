// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The solver against brute force, and what it does where there is no solution.

#include "RandomProblem.h"

#include "gtest/gtest.h"

using namespace colrow::solver;

namespace {

std::string messageOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}

/// A table in which every conversion between `states` states costs `cost`.
ConversionTable uniform(unsigned states, Cost cost) {
  ConversionTable table{states, std::vector<Cost>(states * states, cost)};
  for (unsigned state = 0; state < states; ++state)
    table.cost[state * states + state] = Cost{};
  return table;
}

/// What solve() and bruteForce() have to agree on. \returns whether the problem
/// was feasible.
bool compare(const Problem &problem) {
  Solution expected = bruteForce(problem);
  llvm::Expected<Solution> found = solve(problem);
  if (!found) {
    EXPECT_TRUE(expected.total.isInfinite())
        << llvm::toString(found.takeError());
    llvm::consumeError(found.takeError());
    return false;
  }
  EXPECT_TRUE(found->total == expected.total);
  Solution check = evaluate(problem, found->choice);
  EXPECT_TRUE(check.total == found->total);
  EXPECT_EQ(check.state, found->state);
  EXPECT_EQ(check.wanted, found->wanted);
  return true;
}

/// Whether elimination order is node order: no node without operands waits.
bool isInEliminationOrder(const Problem &problem) {
  std::vector<bool> used(problem.valueConversion.size(), false);
  for (const Node &node : problem.nodes)
    for (unsigned value : node.operands)
      used[value] = true;
  for (size_t n = 1; n < problem.nodes.size(); ++n)
    if (problem.nodes[n].operands.empty())
      for (unsigned value : problem.nodes[n].results)
        if (used[value])
          return false;
  return true;
}

TEST(Solver, AgreesWithBruteForceOnRandomProblems) {
  unsigned feasible = 0;
  for (unsigned seed = 0; seed < 6000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    feasible += compare(RandomProblem(seed).make(/*maxNodes=*/7));
  }
  // Both outcomes must be common, or the test shows little.
  EXPECT_GT(feasible, 2000u);
  EXPECT_LT(feasible, 5500u);
}

TEST(Solver, TakesTheLexicographicallyFirstOfEqualSolutions) {
  unsigned compared = 0;
  for (unsigned seed = 0; seed < 6000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = RandomProblem(seed).make(/*maxNodes=*/7);
    Solution expected = bruteForce(problem);
    if (expected.total.isInfinite() || !isInEliminationOrder(problem))
      continue;
    llvm::Expected<Solution> found = solve(problem);
    ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
    EXPECT_EQ(found->choice, expected.choice);
    ++compared;
  }
  EXPECT_GT(compared, 300u);
}

TEST(Solver, OrderOfValueNumbersDoesNotMatter) {
  for (unsigned seed = 0; seed < 500 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = RandomProblem(seed).make(/*maxNodes=*/7);
    Problem renamed = problem;
    unsigned last = problem.valueConversion.size() - 1;
    std::reverse(renamed.valueConversion.begin(),
                 renamed.valueConversion.end());
    for (Node &node : renamed.nodes) {
      for (unsigned &value : node.operands)
        value = last - value;
      for (unsigned &value : node.results)
        value = last - value;
    }
    llvm::Expected<Solution> a = solve(problem), b = solve(renamed);
    ASSERT_EQ(bool(a), bool(b));
    if (a)
      EXPECT_EQ(a->choice, b->choice);
    llvm::consumeError(a.takeError());
    llvm::consumeError(b.takeError());
  }
}

/// A value that one node reads in two states: both are paid for.
TEST(Solver, OneNodeMayWantAValueInTwoStates) {
  Problem problem;
  problem.conversions = {uniform(3, {10, 1, 4})};
  problem.valueConversion = {0};
  problem.choices = {{{{{}, {0}, {}}}}, {{{{1, 2}, {}, {}}}}};
  problem.nodes = {{{}, {0}, 0}, {{0, 0}, {}, 1}};
  llvm::Expected<Solution> solution = solve(problem);
  ASSERT_TRUE(bool(solution));
  EXPECT_EQ(solution->total, (Cost{20, 2, 8}));
  EXPECT_EQ(solution->wanted[0], 0b110);
}

/// Consumers of one value share a conversion: the second one is free.
TEST(Solver, ConsumersShareConversions) {
  Problem problem;
  problem.conversions = {uniform(2, {10, 1, 4})};
  problem.valueConversion = {0};
  problem.choices = {{{{{}, {0}, {}}}}, {{{{0}, {}, {7}}, {{1}, {}, {}}}}};
  problem.nodes = {{{}, {0}, 0}, {{0}, {}, 1}, {{0}, {}, 1}};
  llvm::Expected<Solution> solution = solve(problem);
  ASSERT_TRUE(bool(solution));
  EXPECT_EQ(solution->total, (Cost{10, 1, 4}));
  EXPECT_EQ(solution->choice, (std::vector<unsigned>{0, 1, 1}));
}

/// Many values that all live to the end, each wanted in either of two states of
/// which one comes for nothing with the other: one entry, not 2^20.
TEST(Solver, WhatComesForNothingIsNotKeptApart) {
  const unsigned count = 20;
  Problem problem;
  problem.conversions = {{2, {{}, {}, Cost::infinite(), {}}}};
  problem.choices = {{{{{}, {0}, {}}}},
                     {{{{0}, {}, {}}, {{1}, {}, {}}}},
                     {{{llvm::SmallVector<uint8_t, 4>(count, 1), {}, {}}}}};
  Node last{{}, {}, 2};
  for (unsigned value = 0; value < count; ++value) {
    problem.valueConversion.push_back(0);
    problem.nodes.push_back({{}, {value}, 0});
    problem.nodes.push_back({{value}, {}, 1});
    last.operands.push_back(value);
  }
  problem.nodes.push_back(last);
  llvm::Expected<Solution> solution = solve(problem);
  ASSERT_TRUE(bool(solution));
  EXPECT_EQ(solution->total, Cost{});
  EXPECT_EQ(solution->largestTable, 1u);
}

TEST(Solver, FewerCollectivesThenFewerBytesBreakTiesInTime) {
  Problem problem;
  problem.choices = {
      {{{{}, {}, {5, 2, 0}}, {{}, {}, {5, 1, 9}}, {{}, {}, {5, 1, 8}}}}};
  problem.nodes = {{{}, {}, 0}};
  llvm::Expected<Solution> solution = solve(problem);
  ASSERT_TRUE(bool(solution));
  EXPECT_EQ(solution->choice[0], 2u);
}

TEST(Solver, NoNodesCostNothing) {
  llvm::Expected<Solution> solution = solve(Problem());
  ASSERT_TRUE(bool(solution));
  EXPECT_EQ(solution->total, Cost{});
}

TEST(Solver, InfeasibleProblemNamesTheNode) {
  Problem problem;
  problem.conversions = {uniform(2, Cost::infinite())};
  problem.valueConversion = {0};
  problem.choices = {{{{{}, {0}, {}}}}, {{{{1}, {}, {}}}}};
  problem.nodes = {{{}, {0}, 0}, {{0}, {}, 1}};
  Options options;
  options.nodeName = [](unsigned node) { return "op" + std::to_string(node); };
  llvm::Error error = solve(problem, options).takeError();
  EXPECT_TRUE(error.isA<Infeasible>());
  EXPECT_EQ(messageOf(std::move(error)),
            "op1: none of its 1 choices is feasible: its operands cannot be "
            "had in the states that they want; lift a pin or allow another "
            "layout");
  EXPECT_TRUE(bruteForce(problem).total.isInfinite());
}

TEST(Solver, TooLargeTableNamesTheNode) {
  // Independent values that all live to the end: 2, 4, 8, 16 entries.
  Problem problem;
  problem.conversions = {uniform(2, {1, 1, 1})};
  problem.choices = {{{{{}, {0}, {}}, {{}, {1}, {}}}},
                     {{{{0, 0, 0, 0}, {}, {}}}}};
  problem.nodes = {};
  for (unsigned value = 0; value < 4; ++value) {
    problem.valueConversion.push_back(0);
    problem.nodes.push_back({{}, {value}, 0});
  }
  problem.nodes.push_back({{0, 1, 2, 3}, {}, 1});
  Options options;
  options.maxTable = 8;
  EXPECT_EQ(
      messageOf(solve(problem, options).takeError()),
      "node 3: the table of best costs has more than 8 entries over 3 "
      "live values; pin layouts, or use values nearer to where they are made");
  options.maxTable = 16;
  llvm::Expected<Solution> solution = solve(problem, options);
  ASSERT_TRUE(bool(solution));
  EXPECT_EQ(solution->largestTable, 16u);
}

TEST(Solver, SumsThatOverflowAreInfeasible) {
  Problem problem;
  problem.choices = {{{{{}, {}, {INT64_MAX - 1, 0, 0}}}}};
  problem.nodes = {{{}, {}, 0}, {{}, {}, 0}};
  EXPECT_FALSE(llvm::errorToBool(verify(problem)));
  EXPECT_TRUE(llvm::errorToBool(solve(problem).takeError()));
}

} // namespace
