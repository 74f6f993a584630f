// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A topology survives as an attribute; what is none is refused.

#include "colrow/Sharding/TopologyAttr.h"
#include "colrow/dialects/TP/TP.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::sharding;

namespace {

struct TopologyAttr : testing::Test {
  TopologyAttr() : module(ModuleOp::create(UnknownLoc::get(&context))) {
    topology.name = "odd";
    topology.flopsPerSecondF32 = 1e12 / 3;
    topology.memoryBytesPerSecond = 0.1e12;
    topology.memoryBytes = 7e9;
    topology.levels = {{"a", 4, 0, 1.1e9}, {"b", 12, 3e-6, 1e8}};
  }
  ~TopologyAttr() override { module->erase(); }

  /// The attribute as it comes back from text.
  DictionaryAttr printed() {
    std::string text;
    llvm::raw_string_ostream os(text);
    toAttr(topology, &context).print(os);
    return cast<DictionaryAttr>(parseAttribute(text, &context));
  }
  bool isRefused(StringRef key, Attribute value) {
    NamedAttrList list(printed());
    list.set(key, value);
    module->setAttr(tp::getTopologyAttrName(), list.getDictionary(&context));
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    return failed(getCostModel(module)) && !message.empty();
  }

  MLIRContext context;
  ModuleOp module;
  cost::Topology topology;
};

TEST_F(TopologyAttr, ComesBackToTheBit) {
  module->setAttr(tp::getTopologyAttrName(), printed());
  auto model = getCostModel(module);
  ASSERT_TRUE(succeeded(model));
  const cost::Topology &found = model->topology();
  EXPECT_EQ(found.name, "odd");
  EXPECT_EQ(found.flopsPerSecondF32, topology.flopsPerSecondF32);
  EXPECT_EQ(found.memoryBytesPerSecond, topology.memoryBytesPerSecond);
  EXPECT_EQ(found.memoryBytes, topology.memoryBytes);
  ASSERT_EQ(found.levels.size(), 2u);
  EXPECT_EQ(found.levels[1].name, "b");
  EXPECT_EQ(found.levels[1].ranks, 12u);
  EXPECT_EQ(found.levels[1].latencySeconds, 3e-6);
  EXPECT_EQ(found.levels[1].bytesPerSecond, 1e8);
}

TEST_F(TopologyAttr, TheRateOfBf16MayBeLeftOut) {
  EXPECT_FALSE(printed().contains("flops_per_second_bf16"));
  topology.flopsPerSecondBf16 = 3e11;
  module->setAttr(tp::getTopologyAttrName(), printed());
  auto model = getCostModel(module);
  ASSERT_TRUE(succeeded(model));
  EXPECT_EQ(model->topology().flopsPerSecondBf16, 3e11);
}

TEST_F(TopologyAttr, WithoutOneTheDefaultHolds) {
  auto model = getCostModel(module);
  ASSERT_TRUE(succeeded(model));
  EXPECT_EQ(model->topology().name, "default");
}

TEST_F(TopologyAttr, RefusesWhatIsNone) {
  Builder b(&context);
  EXPECT_TRUE(isRefused("flops_per_second_f32", b.getF64FloatAttr(0)));
  EXPECT_TRUE(isRefused("flops_per_second_f32", b.getF32FloatAttr(1)));
  EXPECT_TRUE(isRefused("memory_bytes", b.getF64FloatAttr(INFINITY)));
  EXPECT_TRUE(isRefused("memory_bytes_per_second", b.getI64IntegerAttr(1)));
  EXPECT_TRUE(isRefused("name", b.getI64IntegerAttr(1)));
  EXPECT_TRUE(isRefused("levels", b.getArrayAttr({})));
  EXPECT_TRUE(isRefused("levels", b.getArrayAttr({b.getUnitAttr()})));
  // The levels do not grow.
  auto level = cast<ArrayAttr>(printed().get("levels"))[1];
  EXPECT_TRUE(isRefused("levels", b.getArrayAttr({level, level})));
}

} // namespace
