// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factor rules: binding to shapes, and what each way asks and gives.

#include "colrow/Layout/FactorRule.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace colrow::layout;

namespace {

using Shapes = std::vector<std::vector<int64_t>>;

/// A rule's text, from its lists by name.
RuleText text(llvm::StringRef factors, llvm::StringRef whole = "",
              llvm::StringRef stats = "", llvm::StringRef linear = "",
              llvm::StringRef decompose = "") {
  RuleText rule;
  rule.factors = factors;
  rule.whole = whole;
  rule.stats = stats;
  rule.linear = linear;
  rule.decompose = decompose;
  return rule;
}

/// Binds to operands called x, w, b and results y, z of these shapes; no shape
/// means that the operand is absent.
llvm::Expected<FactorRule>
bind(const RuleText &rule,
     const std::vector<std::optional<std::vector<int64_t>>> &operands,
     const Shapes &results) {
  std::vector<NamedShape> in, out;
  for (auto [i, shape] : llvm::enumerate(operands)) {
    in.push_back({llvm::StringRef("xwb").substr(i, 1), std::nullopt});
    if (shape)
      in.back().shape = *shape;
  }
  for (auto [i, shape] : llvm::enumerate(results))
    out.push_back({llvm::StringRef("yz").substr(i, 1), shape});
  return FactorRule::bind(rule, in, out);
}

std::string
errorOf(const RuleText &rule,
        const std::vector<std::optional<std::vector<int64_t>>> &operands,
        const Shapes &results) {
  auto bound = bind(rule, operands, results);
  return bound ? "" : llvm::toString(bound.takeError());
}

/// The rule of tp.matmul on [3, 7, 5] by [11, 5]; linear in either operand.
FactorRule makeMatmul() {
  return llvm::cantFail(bind(text("x: * h, w: k h -> y: * k", "", "", "x | w"),
                             {{{3, 7, 5}}, {{11, 5}}}, {{3, 7, 11}}));
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
  auto rule =
      bind(text("x: * h, w: k h -> y: * k"), {{{5}}, {{11, 5}}}, {{11}});
  ASSERT_TRUE(bool(rule)) << llvm::toString(rule.takeError());
  EXPECT_EQ(rule->factors.size(), 2u);
}

TEST(FactorRule, StarInTheMiddle) {
  auto rule = bind(text("x: b s * d -> y: b s * d"), {{{2, 3, 4, 5, 6}}},
                   {{2, 3, 4, 5, 6}});
  ASSERT_TRUE(bool(rule)) << llvm::toString(rule.takeError());
  EXPECT_EQ(rule->factors[rule->operands[0][2][0]].name, "b0");
  EXPECT_EQ(rule->factors[rule->operands[0][4][0]].name, "d");
}

TEST(FactorRule, RefusesAnotherSize) {
  RuleText matmul = text("x: * h, w: k h -> y: * k");
  EXPECT_EQ(errorOf(matmul, {{{3, 5}}, {{11, 6}}}, {{3, 11}}),
            "operand 'w' has size 6 along 'h' where 5 is wanted");
  EXPECT_EQ(errorOf(matmul, {{{3, 5}}, {{11, 5}}}, {{3, 12}}),
            "result 'y' has size 12 along 'k' where 11 is wanted");
  // A size of 1 is a size as others are.
  EXPECT_EQ(errorOf(matmul, {{{3, 1}}, {{11, 5}}}, {{3, 11}}),
            "operand 'w' has size 5 along 'h' where 1 is wanted");
  EXPECT_EQ(errorOf(matmul, {{{3, 5}}, {{1, 5}}}, {{3, 11}}),
            "result 'y' has size 11 along 'k' where 1 is wanted");
}

TEST(FactorRule, RefusesAnotherRank) {
  RuleText matmul = text("x: * h, w: k h -> y: * k");
  EXPECT_EQ(errorOf(matmul, {{{3, 5}}, {{2, 11, 5}}}, {{3, 11}}),
            "operand 'w' has 3 dimensions where 'k h' is wanted");
  EXPECT_EQ(errorOf(matmul, {{std::vector<int64_t>()}, {{11, 5}}}, {{11}}),
            "operand 'x' has 0 dimensions where '* h' is wanted");
}

TEST(FactorRule, RefusesAnotherNumberOfTensors) {
  EXPECT_EQ(errorOf(text("x: * h, w: k h -> y: * k"), {{{3, 5}}}, {{3, 11}}),
            "rule has 2 operands, the op 1");
  EXPECT_EQ(errorOf(text("x: * -> y: *"), {{{3}}}, {{3}, {3}}),
            "rule has 1 results, the op 2");
}

TEST(FactorRule, RefusesNamesThatAreNotTheOps) {
  EXPECT_EQ(errorOf(text("x: * h, v: k h -> y: * k"), {{{3, 5}}, {{11, 5}}},
                    {{3, 11}}),
            "rule calls operand 1 'v', the op calls it 'w'");
  EXPECT_EQ(errorOf(text("x: * -> sum: *"), {{{3}}}, {{3}}),
            "rule calls result 0 'sum', the op calls it 'y'");
  EXPECT_EQ(errorOf(text("* -> y: *"), {{{3}}}, {{3}}),
            "rule has '*' for operand 'x'; wanted its name, a colon, and its "
            "factors");
}

TEST(FactorRule, RefusesFactorsThatCannotBe) {
  EXPECT_EQ(errorOf(text("x: h h -> y: h"), {{{3, 3}}}, {{3}}),
            "rule has factor 'h' twice in 'x'");
  EXPECT_EQ(errorOf(text("x: copied -> y: copied"), {{{3}}}, {{3}}),
            "rule has a factor 'copied', the name of a way");
}

TEST(FactorRule, RefusesListsOfUnknownFactors) {
  auto error = [](const RuleText &rule) {
    return errorOf(rule, {{{3, 5}}}, {{3, 5}});
  };
  llvm::StringRef factors = "x: * h -> y: * h";
  EXPECT_EQ(error(text(factors, "h q")),
            "`whole` lists 'q', which is no factor of rule 'x: * h -> y: * h'");
  EXPECT_EQ(error(text(factors, "", "H")),
            "`stats` lists 'H', which is no factor of rule 'x: * h -> y: * h'");
  EXPECT_EQ(error(text(factors, "", "", "", "v")),
            "`decompose` lists 'v', which is no factor of rule 'x: * h -> y: * "
            "h'");
  EXPECT_EQ(error(text(factors, "h b0")), "");
}

TEST(FactorRule, RefusesLinearSetsOfUnknownOperands) {
  auto error = [](llvm::StringRef linear) {
    return errorOf(text("x: *, w: * -> y: *", "", "", linear), {{{3}}, {{3}}},
                   {{3}});
  };
  EXPECT_EQ(error("0"), "`linear` names '0', which is no operand of rule 'x: "
                        "*, w: * -> y: *'");
  EXPECT_EQ(error("x | y"), "`linear` names 'y', which is no operand of rule "
                            "'x: *, w: * -> y: *'");
  EXPECT_EQ(error("x w x"), "`linear` names 'x' twice in a set");
  EXPECT_EQ(error("x | | w"), "`linear` has an empty set in 'x | | w'");
  EXPECT_EQ(error("x | w | x"), "`linear` has the same set twice in 'x | w | "
                                "x'");
  EXPECT_EQ(error("x w | w"), "");
}

TEST(FactorRule, AbsentOperandsAreLeftOut) {
  RuleText rule =
      text("x: * h, w: k h, b?: k g -> y: * k", "g", "", "x b | b | x | w");
  auto with = bind(rule, {{{3, 5}}, {{11, 5}}, {{11, 2}}}, {{3, 11}});
  ASSERT_TRUE(bool(with)) << llvm::toString(with.takeError());
  EXPECT_EQ(with->operands.size(), 3u);
  EXPECT_EQ(with->linear.size(), 4u);
  EXPECT_EQ(with->wayName({WayKind::Linear, 0, 0}), "linear in x b");
  // Sets that are empty or equal without it go.
  auto without = bind(rule, {{{3, 5}}, {{11, 5}}, std::nullopt}, {{3, 11}});
  ASSERT_TRUE(bool(without)) << llvm::toString(without.takeError());
  EXPECT_EQ(without->operands.size(), 2u);
  ASSERT_EQ(without->linear.size(), 2u);
  EXPECT_EQ(without->wayName({WayKind::Linear, 0, 0}), "linear in x");
  EXPECT_EQ(without->wayName({WayKind::Linear, 0, 1}), "linear in w");
  EXPECT_EQ(errorOf(text("x: *, w: * -> y: *"), {{{3}}, std::nullopt}, {{3}}),
            "operand 'w' is absent; its rule wants 'w?:' if it may be");
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

TEST(FactorRule, WaysHaveNamesThatDiffer) {
  FactorRule rule = makeMatmul();
  std::vector<std::string> names;
  for (Way way : rule.ways()) {
    names.push_back(rule.wayName(way));
    EXPECT_TRUE(rule.findWay(names.back()) == way);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"replicated", "b0", "b1", "h", "k",
                                      "copied", "linear in x", "linear in w"}));
  EXPECT_EQ(rule.findWay("linear"), std::nullopt);
}

TEST(FactorRule, ResultWithoutAFactorThatNothingSumsIsCopied) {
  // v stands in the result only, as in the gradient of a table.
  FactorRule rule = llvm::cantFail(bind(text("x: *, w: * h -> y: v h, z: h"),
                                        {{{3}}, {{3, 5}}}, {{9, 5}, {5}}));
  EXPECT_EQ(states(rule, {WayKind::Split, factor(rule, "v"), 0}),
            "(C, C) -> (S(0), C)");
}

TEST(FactorRule, IntegersAreReplicatedWhereFloatsAreCopied) {
  FactorRule rule = llvm::cantFail(
      bind(text("x: *, w: v h -> y: * h"), {{{2, 3}}, {{9, 5}}}, {{2, 3, 5}}));
  rule.integerOperand = {true, false};
  EXPECT_EQ(states(rule, {WayKind::Split, factor(rule, "v"), 0}),
            "(R, S(0)) -> (P)");
  EXPECT_EQ(states(rule, {WayKind::Copied, 0, 0}), "(R, C) -> (C)");
}

TEST(FactorRule, MaximumOverASplitFactorIsAPartialMaximum) {
  RuleText max = text("x: * v -> y: *");
  max.maxReduction = true;
  FactorRule rule = llvm::cantFail(bind(max, {{{3, 9}}}, {{3}}));
  EXPECT_EQ(states(rule, {WayKind::Split, factor(rule, "v"), 0}),
            "(S(1)) -> (P<max>)");
}

TEST(FactorRule, DecomposedFactorGivesReplicatedResults) {
  FactorRule rule =
      llvm::cantFail(bind(text("x: * v, w: * -> y:, z:", "", "", "", "v"),
                          {{{3, 9}}, {{3}}}, {{}, {}}));
  EXPECT_EQ(states(rule, {WayKind::Split, factor(rule, "v"), 0}),
            "(S(1), C) -> (R, R)");
}

TEST(FactorRule, WholeAndStatisticFactorsAreNotSplit) {
  FactorRule rule =
      llvm::cantFail(bind(text("x: b s h, w: h -> y: b s h", "s", "h"),
                          {{{2, 3, 5}}, {{5}}}, {{2, 3, 5}}));
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
