// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules bound to ops: a rule or list that does not fit its op is an error, and
// every rule of the dialect names what ODS names.

#include "colrow/Sharding/Scratch.h"
#include "colrow/dialects/TP/TP.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace colrow;

namespace {

struct Rules : testing::Test {
  Rules() : scratch(load()) {}

  MLIRContext *load() {
    context.loadDialect<tp::TPDialect>();
    return &context;
  }
  Value argument(ArrayRef<int64_t> shape, bool integer = false) {
    Builder b(&context);
    return scratch.block.addArgument(
        RankedTensorType::get(shape, integer ? Type(b.getI32Type())
                                             : Type(b.getF32Type())),
        UnknownLoc::get(&context));
  }
  std::string bind(Operation *op, layout::RuleText text) {
    auto rule = tp::detail::bindRule(op, text, "ids table", "y",
                                     [](unsigned) { return 1; });
    return rule ? "" : llvm::toString(rule.takeError());
  }

  MLIRContext context;
  sharding::Scratch scratch;
};

TEST_F(Rules, ListsMustFitTheOp) {
  Value ids = argument({2, 3}, /*integer=*/true), table = argument({7, 5});
  auto op = tp::EmbeddingOp::create(scratch.builder, UnknownLoc::get(&context),
                                    argument({2, 3, 5}).getType(), ids, table,
                                    tp::LayoutAttr());
  ASSERT_TRUE(bool(op.getFactorRule()));
  layout::RuleText text;
  text.factors = "ids: *, table: v h -> y: * h";
  EXPECT_EQ(bind(op, text), "");
  text.linear = "weights";
  EXPECT_EQ(bind(op, text), "`linear` names 'weights', which is no operand of "
                            "rule 'ids: *, table: v h -> y: * h'");
  text.linear = "ids";
  EXPECT_EQ(bind(op, text), "`linear` names 'ids', which holds integers");
  text.linear = "";
  text.whole = "w";
  EXPECT_EQ(bind(op, text), "`whole` lists 'w', which is no factor of rule "
                            "'ids: *, table: v h -> y: * h'");
  text.whole = "";
  text.factors = "ids: *, weight: v h -> y: * h";
  EXPECT_EQ(bind(op, text),
            "rule calls operand 1 'weight', the op calls it 'table'");
}

TEST_F(Rules, OperandsAreCalledAsInTheOp) {
  Value x = argument({2, 3}), bias = argument({3});
  auto add = tp::AddOp::create(scratch.builder, UnknownLoc::get(&context),
                               x.getType(), x, bias);
  auto rule = add.getFactorRule();
  ASSERT_TRUE(bool(rule));
  ASSERT_EQ(rule->linear.size(), 1u);
  EXPECT_EQ(rule->wayName({layout::WayKind::Linear, 0, 0}),
            "linear in lhs rhs");
}

} // namespace
