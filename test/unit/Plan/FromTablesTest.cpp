// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables that tp-run takes and no compiler of ours writes.

#include "colrow/Plan/Tables.h"
#include "colrow/dialects/Plan/Plan.h"
#include "colrow/dialects/TP/TP.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace colrow;

namespace {

constexpr llvm::StringLiteral text = R"mlir(
  module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
    tp.parameter @w : tensor<4x6xf32> {id = 0 : i64, init = #tp.init<zeros>, plan.offset = 0 : i64,
        source = [#tp.source<"file" : [6, 8] from [0, 2] size [6, 4] perm [1, 0]>]}
    tp.parameter @v : tensor<3x4xf32> {id = 1 : i64, init = #tp.init<zeros>, plan.offset = 128 : i64,
        source = [#tp.source<"file" : [6, 8] as [12, 4] from [1, 0] step [2, 1] size [3, 4]>]}
    plan.constant @r at 64 = dense_resource<truths> : tensor<3xi1>
    plan.constant @c at 0 = dense<[false, true, true]> : tensor<3xi1>
  }
  {-# dialect_resources: { builtin: { truths: "0x010000000100FF" } } #-})mlir";

class FromTables : public testing::Test {
protected:
  FromTables() {
    context.loadDialect<tp::TPDialect, planir::PlanDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  plan::SourceT &source() { return *tables->plan.parameters[0]->sources[0]; }

  /// The source as IR, or the error.
  std::string read() {
    std::string result;
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          result = "error: " + diagnostic.str();
        });
    auto back = planir::fromTables(tables->plan, &context);
    if (!back)
      return result;
    auto parameter = *back->getOps<tp::ParameterOp>().begin();
    llvm::raw_string_ostream(result) << (*parameter.getSource())[0];
    return result;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::FailureOr<planir::PlanTables> tables = mlir::failure();
};

TEST_F(FromTables, ListsThatAreLeftOutAreTheIdentity) {
  ASSERT_TRUE(module);
  tables = planir::toTables(*module);
  ASSERT_TRUE(mlir::succeeded(tables));
  EXPECT_EQ(read(), "#tp.source<\"file\" : [6, 8] from [0, 2] size [6, 4] "
                    "perm [1, 0]>");
  source().file_shape = {4, 6};
  source().reshape = {};
  source().start = source().step = source().size = {};
  source().perm = {};
  EXPECT_EQ(read(), "#tp.source<\"file\" : [4, 6]>");
}

TEST_F(FromTables, WhatTheIRDoesNotTakeIsAnError) {
  ASSERT_TRUE(module);
  tables = planir::toTables(*module);
  ASSERT_TRUE(mlir::succeeded(tables));
  source().reshape = {5};
  EXPECT_EQ(read(), "error: source \"file\": a tensor of 48 elements cannot "
                    "be reshaped to 5");
  source().reshape = {};
  tables->plan.parameters[0]->init->std = -1;
  EXPECT_EQ(read(), "error: initial values of mean 0.000000e+00 and deviation "
                    "-1.000000e+00; both must be finite in float32, and the "
                    "deviation at least 0");
}

/// A tensor of the file that is read in another shape keeps both.
TEST_F(FromTables, SourcesAreReshaped) {
  using List = std::vector<int64_t>;
  ASSERT_TRUE(module);
  tables = planir::toTables(*module);
  ASSERT_TRUE(mlir::succeeded(tables));
  const plan::SourceT &made = *tables->plan.parameters[1]->sources[0];
  EXPECT_EQ(made.file_shape, (List{6, 8}));
  EXPECT_EQ(made.reshape, (List{12, 4}));
  EXPECT_EQ(made.start, (List{1, 0}));
  EXPECT_EQ(made.step, (List{2, 1}));
  EXPECT_EQ(made.size, (List{3, 4}));
  auto back = planir::fromTables(tables->plan, &context);
  ASSERT_TRUE(back);
  std::string text;
  auto parameter = *std::next(back->getOps<tp::ParameterOp>().begin());
  llvm::raw_string_ostream(text) << (*parameter.getSource())[0];
  EXPECT_EQ(text, "#tp.source<\"file\" : [6, 8] as [12, 4] from [1, 0] step "
                  "[2, 1] size [3, 4]>");
}

/// Of 48 bytes behind 128 and of 3 behind 64: regions end where the next buffer
/// could begin.
TEST_F(FromTables, RegionsEndAligned) {
  ASSERT_TRUE(module);
  tables = planir::toTables(*module);
  ASSERT_TRUE(mlir::succeeded(tables));
  EXPECT_EQ(tables->plan.persistent_bytes, 192u);
  EXPECT_EQ(tables->plan.constants.size(), 128u);
}

/// A file may have any byte where 0 or 1 is wanted.
TEST_F(FromTables, BytesThatAreNotZeroAreTrue) {
  ASSERT_TRUE(module);
  tables = planir::toTables(*module);
  ASSERT_TRUE(mlir::succeeded(tables));
  EXPECT_EQ(tables->plan.constants[1], 1);
  EXPECT_EQ(tables->plan.constants[66], 1); // of a resource too
  tables->plan.constants[1] = 2, tables->plan.constants[2] = 255;
  auto back = planir::fromTables(tables->plan, &context);
  ASSERT_TRUE(back);
  auto constant = back->lookupSymbol<planir::ConstantOp>("c");
  auto value = llvm::cast<mlir::DenseElementsAttr>(constant.getValue());
  EXPECT_EQ(llvm::to_vector(value.getValues<bool>()),
            (llvm::SmallVector<bool>{false, true, true}));
}

} // namespace
