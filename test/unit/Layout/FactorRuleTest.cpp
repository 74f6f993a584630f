// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factor rules: binding to shapes, and what each way asks and gives.

#include "colrow/Layout/FactorRule.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace colrow::layout;

namespace {

using Shapes = std::vector<std::vector<int64_t>>;

llvm::Expected<FactorRule> bind(llvm::StringRef text, const Shapes &operands,
                                const Shapes &results,
                                llvm::StringRef whole = "",
                                llvm::StringRef stats = "") {
  llvm::SmallVector<llvm::ArrayRef<int64_t>> in(operands.begin(),
                                                operands.end());
  llvm::SmallVector<llvm::ArrayRef<int64_t>> out(results.begin(),
                                                 results.end());
  return FactorRule::bind(text, whole, stats, in, out);
}

std::string errorOf(llvm::StringRef text, const Shapes &operands,
                    const Shapes &results) {
  auto rule = bind(text, operands, results);
  return rule ? "" : llvm::toString(rule.takeError());
}

/// The rule of tp.matmul on [3, 7, 5] by [11, 5]; linear in either operand.
FactorRule makeMatmul() {
  FactorRule rule = llvm::cantFail(
      bind("* h, k h -> * k", {{3, 7, 5}, {11, 5}}, {{3, 7, 11}}));
  rule.linear = {{0}, {1}};
  return rule;
}

unsigned factor(const FactorRule &rule, llvm::StringRef name) {
  auto *it = llvm::find_if(rule.factors,
                           [&](auto &info) { return info.name == name; });
  return it - rule.factors.begin();
}

/// "(R, S(0)) -> (P)": the states of a way.
std::string states(const FactorRule &rule, Way way) {
  std::string text = "(";
  for (unsigned i = 0; i < rule.operands.size(); ++i)
    text += (i ? ", " : "") + rule.operandState(way, i).str();
  text += ") -> (";
  for (unsigned i = 0; i < rule.results.size(); ++i)
    text += (i ? ", " : "") + rule.resultState(way, i).str();
  return text + ")";
}

TEST(FactorRule, StarTakesTheDimensionsThatNamesLeave) {
  FactorRule rule = makeMatmul();
  ASSERT_EQ(rule.factors.size(), 4u);
  EXPECT_EQ(rule.factors[factor(rule, "b0")].size, 3);
  EXPECT_EQ(rule.factors[factor(rule, "b1")].size, 7);
  EXPECT_EQ(rule.factors[factor(rule, "h")].size, 5);
  EXPECT_EQ(rule.factors[factor(rule, "k")].size, 11);
}

TEST(FactorRule, StarMayBeEmpty) {
  auto rule = bind("* h, k h -> * k", {{5}, {11, 5}}, {{11}});
  ASSERT_TRUE(bool(rule)) << llvm::toString(rule.takeError());
  EXPECT_EQ(rule->factors.size(), 2u);
}

TEST(FactorRule, StarInTheMiddle) {
  auto rule = bind("b s * d -> b s * d", {{2, 3, 4, 5, 6}}, {{2, 3, 4, 5, 6}});
  ASSERT_TRUE(bool(rule)) << llvm::toString(rule.takeError());
  EXPECT_EQ(rule->factors[rule->operands[0][2][0]].name, "b0");
  EXPECT_EQ(rule->factors[rule->operands[0][4][0]].name, "d");
}

TEST(FactorRule, RefusesAnotherSize) {
  EXPECT_EQ(errorOf("* h, k h -> * k", {{3, 5}, {11, 6}}, {{3, 11}}),
            "operand 1 has size 6 along 'h' where 5 is wanted");
  EXPECT_EQ(errorOf("* h, k h -> * k", {{3, 5}, {11, 5}}, {{3, 12}}),
            "result 0 has size 12 along 'k' where 11 is wanted");
}

TEST(FactorRule, RefusesAnotherRank) {
  EXPECT_EQ(errorOf("* h, k h -> * k", {{3, 5}, {2, 11, 5}}, {{3, 11}}),
            "operand 1 has 3 dimensions where 'k h' is wanted");
  EXPECT_EQ(errorOf("* h, k h -> * k", {{}, {11, 5}}, {{11}}),
            "operand 0 has 0 dimensions where '* h' is wanted");
}

TEST(FactorRule, RefusesAnotherNumberOfTensors) {
  EXPECT_EQ(errorOf("* h, k h -> * k", {{3, 5}}, {{3, 11}}),
            "rule has 2 operands, the op 1");
  EXPECT_EQ(errorOf("* -> *", {{3}}, {{3}, {3}}),
            "rule has 1 results, the op 2");
}

TEST(FactorRule, WaysOfMatmul) {
  FactorRule rule = makeMatmul();
  EXPECT_EQ(states(rule, {WayKind::Replicated, 0, 0}), "(R, R) -> (R)");
  EXPECT_EQ(states(rule, {WayKind::Copied, 0, 0}), "(C, C) -> (C)");
  // Columns, rows, tokens.
  EXPECT_EQ(states(rule, {WayKind::Split, factor(rule, "k"), 0}),
            "(C, S(0)) -> (S(2))");
  EXPECT_EQ(states(rule, {WayKind::Split, factor(rule, "h"), 0}),
            "(S(2), S(1)) -> (P)");
  EXPECT_EQ(states(rule, {WayKind::Split, factor(rule, "b1"), 0}),
            "(S(1), C) -> (S(1))");
  EXPECT_EQ(states(rule, {WayKind::Linear, 0, 0}), "(P, C) -> (P)");
  EXPECT_EQ(states(rule, {WayKind::Linear, 0, 1}), "(C, P) -> (P)");
}

TEST(FactorRule, WaysHaveNames) {
  FactorRule rule = makeMatmul();
  EXPECT_EQ(rule.wayName({WayKind::Replicated, 0, 0}), "replicated");
  EXPECT_EQ(rule.wayName({WayKind::Copied, 0, 0}), "copied");
  EXPECT_EQ(rule.wayName({WayKind::Linear, 0, 1}), "linear");
  EXPECT_EQ(rule.wayName({WayKind::Split, factor(rule, "h"), 0}), "h");
}

TEST(FactorRule, ResultWithoutAFactorThatNothingSumsIsCopied) {
  // v stands in the result only, as in the gradient of a table.
  FactorRule rule =
      llvm::cantFail(bind("*, * h -> v h, h", {{3}, {3, 5}}, {{9, 5}, {5}}));
  EXPECT_EQ(states(rule, {WayKind::Split, factor(rule, "v"), 0}),
            "(C, C) -> (S(0), C)");
}

TEST(FactorRule, IntegersAreReplicatedWhereFloatsAreCopied) {
  FactorRule rule =
      llvm::cantFail(bind("*, v h -> * h", {{2, 3}, {9, 5}}, {{2, 3, 5}}));
  rule.integerOperand = {true, false};
  EXPECT_EQ(states(rule, {WayKind::Split, factor(rule, "v"), 0}),
            "(R, S(0)) -> (P)");
  EXPECT_EQ(states(rule, {WayKind::Copied, 0, 0}), "(R, C) -> (C)");
}

TEST(FactorRule, MaximumOverASplitFactorIsAPartialMaximum) {
  FactorRule rule = llvm::cantFail(bind("* v -> *", {{3, 9}}, {{3}}));
  rule.maxReduction = true;
  EXPECT_EQ(states(rule, {WayKind::Split, factor(rule, "v"), 0}),
            "(S(1)) -> (P<max>)");
}

TEST(FactorRule, DecomposedFactorGivesReplicatedResults) {
  FactorRule rule =
      llvm::cantFail(bind("* v, * -> ,", {{3, 9}, {3}}, {{}, {}}));
  rule.factors[factor(rule, "v")].decomposed = true;
  EXPECT_EQ(states(rule, {WayKind::Split, factor(rule, "v"), 0}),
            "(S(1), C) -> (R, R)");
}

TEST(FactorRule, WholeAndStatisticFactorsAreNotSplit) {
  FactorRule rule = llvm::cantFail(
      bind("b s h, h -> b s h", {{2, 3, 5}, {5}}, {{2, 3, 5}}, "s", "h"));
  EXPECT_TRUE(rule.canSplit(factor(rule, "b")));
  EXPECT_FALSE(rule.canSplit(factor(rule, "s")));
  EXPECT_FALSE(rule.canSplit(factor(rule, "h")));
}

TEST(FactorRule, MinorFactorsAreNotSplit) {
  // A dimension n*d, as tp.reshape joins it: only n may be split.
  FactorRule rule;
  rule.factors = {{"n", 6}, {"d", 10}};
  rule.operands = {{{0, 1}}};
  rule.results = {{{0}, {1}}};
  rule.integerOperand = {false};
  EXPECT_TRUE(rule.canSplit(0));
  EXPECT_FALSE(rule.canSplit(1));
  EXPECT_EQ(FactorRule::majorDim(rule.results[0], 1), 1u);
  EXPECT_EQ(FactorRule::majorDim(rule.operands[0], 1), std::nullopt);
}

} // namespace
