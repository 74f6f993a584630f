// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases, what rows keep, and which loops collapse.

#include "Schedule.h"
#include "gtest/gtest.h"

namespace colrow::kernel {

TEST(Schedule, ReductionsEndPhases) {
  RowKernelBuilder b({4}, 100);
  int x = b.denseArg(Elem::F32, Access::Read);
  int y = b.denseArg(Elem::F32, Access::Write);
  int s = b.rowArg(Elem::F32, Access::Write);
  Expr e = b.exp(b.load(x) - b.rowMax(b.load(x)));
  Expr sum = b.rowSum(e);
  b.store(y, e / sum);
  b.store(s, sum);
  RowKernel kernel = llvm::cantFail(b.finish());
  Schedule plan = schedule(kernel, /*keepRows=*/true);
  ASSERT_EQ(plan.phases.size(), 3u);
  EXPECT_EQ(plan.phases[0].reductions.size(), 1u);
  EXPECT_EQ(plan.phases[1].reductions.size(), 1u);
  EXPECT_EQ(plan.phases[2].effects.size(), 1u);
  EXPECT_EQ(plan.rowEffects.size(), 1u);
  // The exponential, computed in phase 1, is what phase 2 needs again.
  ASSERT_EQ(plan.kept.size(), 1u);
  EXPECT_EQ(plan.kept.begin()->first, e.node);
  EXPECT_EQ(plan.kept.begin()->second.phase, 1u);
  EXPECT_TRUE(schedule(kernel, /*keepRows=*/false).kept.empty());
}

/// Only numbers in float are kept: of a condition, what it compares.
TEST(Schedule, ConditionsAreComputedAgain) {
  RowKernelBuilder b({4}, 100);
  Expr x = b.load(b.denseArg(Elem::F32, Access::Read));
  Expr e = b.exp(x);
  Expr small = b.lt(e, b.constF32(1));
  Expr count = b.rowSum(b.cast(small, Type::F32));
  b.store(b.denseArg(Elem::F32, Access::Write), b.select(small, count, x));
  Schedule plan = schedule(llvm::cantFail(b.finish()), true);
  ASSERT_EQ(plan.phases.size(), 2u);
  ASSERT_EQ(plan.kept.size(), 1u);
  EXPECT_EQ(plan.kept.begin()->first, e.node);
}

/// An output that is ready early still waits for the last phase, since it may
/// be the buffer that a later phase reads.
TEST(Schedule, StoresWaitForTheLastPhase) {
  RowKernelBuilder b({4}, 100);
  int x = b.denseArg(Elem::F32, Access::Read);
  int y = b.denseArg(Elem::F32, Access::Write);
  int s = b.rowArg(Elem::F32, Access::Write);
  Expr v = b.load(x);
  b.store(y, v * 2.0f);
  b.store(s, b.rowSum(b.abs(v - b.rowMax(v))));
  Schedule plan = schedule(llvm::cantFail(b.finish()), true);
  ASSERT_EQ(plan.phases.size(), 2u);
  EXPECT_TRUE(plan.phases[0].effects.empty());
  EXPECT_EQ(plan.phases[1].effects.size(), 1u);
}

TEST(Collapse, DenseRowsBecomeColumns) {
  RowKernelBuilder b({4, 6}, 10);
  int x = b.denseArg(Elem::F32, Access::Read);
  int y = b.denseArg(Elem::F32, Access::Write);
  b.store(y, b.load(x) * b.load(b.scalarArg(Elem::F32)));
  RowKernel kernel = collapseRows(llvm::cantFail(b.finish()));
  EXPECT_TRUE(kernel.rows.empty());
  EXPECT_EQ(kernel.cols, 240);
}

TEST(Collapse, BroadcastColumnsKeepRows) {
  RowKernelBuilder b({4, 6}, 10);
  int x = b.denseArg(Elem::F32, Access::Read);
  int bias = b.colArg(Elem::F32, Access::Read);
  int y = b.denseArg(Elem::F32, Access::Write);
  b.store(y, b.load(x) + b.load(bias));
  RowKernel kernel = collapseRows(llvm::cantFail(b.finish()));
  EXPECT_EQ(kernel.rows, (llvm::SmallVector<int64_t, 4>{24}));
  EXPECT_EQ(kernel.cols, 10);
}

TEST(Collapse, RowIndicesKeepTheirDimensions) {
  RowKernelBuilder b({4, 1, 6}, 10);
  int y = b.denseArg(Elem::I64, Access::Write);
  b.store(y, b.rowIndex(2));
  RowKernel kernel = collapseRows(llvm::cantFail(b.finish()));
  EXPECT_EQ(kernel.rows, (llvm::SmallVector<int64_t, 4>{4, 6}));
  EXPECT_EQ(kernel.nodes[0].imm, 1);
}

} // namespace colrow::kernel
