// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every way in which a problem can be malformed is an error that says where.

#include "colrow/Solver/Solver.h"

#include "gtest/gtest.h"

using namespace colrow::solver;

namespace {

/// A well-formed problem: one node produces a value, another consumes it.
Problem wellFormed() {
  Problem problem;
  problem.conversions = {{2, {{}, {1}, {1}, {}}}};
  problem.valueConversion = {0};
  problem.choices = {{{{{}, {0}, {}}}}, {{{{1}, {}, {}}}}};
  problem.nodes = {{{}, {0}, 0}, {{0}, {}, 1}};
  return problem;
}

template <typename Change> std::string messageAfter(Change change) {
  Problem problem = wellFormed();
  change(problem);
  return llvm::toString(solve(problem).takeError());
}

TEST(Verify, WellFormedProblemPasses) {
  EXPECT_FALSE(llvm::errorToBool(verify(wellFormed())));
}

TEST(Verify, ConversionTables) {
  EXPECT_EQ(messageAfter([](Problem &p) { p.conversions[0].numStates = 17; }),
            "conversion table 0: has 17 states, wanted 1 to 16");
  EXPECT_EQ(messageAfter([](Problem &p) { p.conversions[0].cost.pop_back(); }),
            "conversion table 0: has 3 costs for 2 states, wanted 4");
  EXPECT_EQ(messageAfter([](Problem &p) { p.conversions[0].cost[1] = {-1}; }),
            "conversion table 0: conversion 0 to 1 has a negative cost");
  EXPECT_EQ(messageAfter([](Problem &p) { p.conversions[0].numStates = 0; }),
            "conversion table 0: has 0 states, wanted 1 to 16");
  for (Cost negative : {Cost{0, -1, 0}, Cost{0, 0, -1}})
    EXPECT_EQ(
        messageAfter([&](Problem &p) { p.conversions[0].cost[2] = negative; }),
        "conversion table 0: conversion 1 to 0 has a negative cost");
  for (Cost some : {Cost{0, 1, 0}, Cost{0, 0, 1}})
    EXPECT_EQ(
        messageAfter([&](Problem &p) { p.conversions[0].cost[0] = some; }),
        "conversion table 0: keeping state 0 must cost nothing");
  EXPECT_EQ(messageAfter([](Problem &p) { p.conversions[0].cost[3] = {1}; }),
            "conversion table 0: keeping state 1 must cost nothing");
}

TEST(Verify, Values) {
  EXPECT_EQ(messageAfter([](Problem &p) { p.valueConversion[0] = 4; }),
            "value 0: conversion table 4 does not exist; there are 1");
  EXPECT_EQ(messageAfter([](Problem &p) { p.valueConversion.push_back(0); }),
            "value 1: no node produces it");
  EXPECT_EQ(messageAfter([](Problem &p) { p.nodes[1].operands[0] = 7; }),
            "node 1: operand value 7 is not the result of an earlier node");
  EXPECT_EQ(messageAfter([](Problem &p) { std::swap(p.nodes[0], p.nodes[1]); }),
            "node 0: operand value 0 is not the result of an earlier node");
  EXPECT_EQ(messageAfter([](Problem &p) { p.nodes[1].results = {0}; }),
            "node 1: result value 0 is out of range or has another producer");
  EXPECT_EQ(messageAfter([](Problem &p) { p.nodes[1].results = {1}; }),
            "node 1: result value 1 is out of range or has another producer");
}

TEST(Verify, Choices) {
  EXPECT_EQ(messageAfter([](Problem &p) { p.nodes[1].choiceTable = 2; }),
            "node 1: choice table 2 does not exist; there are 2");
  EXPECT_EQ(messageAfter([](Problem &p) {
              p.choices[1].choices[0].operandStates = {0, 1};
            }),
            "node 1: choice 0 has 2 operand states, wanted 1");
  EXPECT_EQ(messageAfter(
                [](Problem &p) { p.choices[0].choices[0].resultStates = {2}; }),
            "node 0: choice 0 has state 2 for result 0, whose value has 2 "
            "states");
}

TEST(Verify, NodeWithoutChoicesIsInfeasible) {
  EXPECT_NE(messageAfter([](Problem &p) {
              p.choices[1].choices.clear();
            }).find("node 1: none of its 0 choices is feasible"),
            std::string::npos);
}

} // namespace
