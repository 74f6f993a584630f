// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts: canonical form, duals, local shapes, and each refusal in full.

#include "colrow/Layout/Layout.h"
#include "gtest/gtest.h"
#include <functional>

using namespace colrow::layout;

namespace {

/// Axes of the meshes below: 0 is "dp" of 2, 1 is "tp" of 4.
Mesh makeMesh() {
  Mesh mesh;
  mesh.axes.push_back({"dp", 2, AxisRole::Batch});
  mesh.axes.push_back({"tp", 4, AxisRole::Feature});
  return mesh;
}
constexpr unsigned dp = 0, tp = 1;

Layout withDim(unsigned rank, unsigned dim, DimLayout factors) {
  Layout layout(rank);
  layout.dims[dim] = std::move(factors);
  return layout;
}

Layout canonical(Layout layout) {
  layout.canonicalize();
  return layout;
}

std::string errorOf(const Layout &layout, llvm::ArrayRef<int64_t> shape) {
  return llvm::toString(layout.verify(shape, makeMesh()));
}

TEST(Layout, TrailingFactorsFold) {
  DimLayout heads = {{6, 8, {tp}}, {10, 10, {}}};
  DimLayout whole = {{60, 80, {tp}}};
  EXPECT_EQ(canonical(withDim(2, 1, heads)), withDim(2, 1, whole));
}

TEST(Layout, LeadingFactorsStay) {
  DimLayout tokens = {{2, 2, {}}, {8, 8, {tp}}};
  EXPECT_EQ(canonical(withDim(1, 0, tokens)), withDim(1, 0, tokens));
}

TEST(Layout, FactorsThatSplitNothingGo) {
  EXPECT_EQ(canonical(withDim(2, 1, {{3, 3, {}}, {5, 5, {}}})), Layout(2));
}

TEST(Layout, CopiedAxesAreASet) {
  Layout a(1), b(1);
  a.copied = {tp, dp};
  b.copied = {dp, tp};
  EXPECT_EQ(canonical(a), canonical(b));
}

/// Layouts and meshes that differ in one field each: none equals another.
TEST(Layout, EveryFieldCounts) {
  std::vector<Layout> layouts(4, Layout(2));
  layouts[1].copied = {tp};
  layouts[2].partial = {tp};
  layouts[3].partialMax = {tp};
  for (const DimLayout &dim :
       {DimLayout{{6, 8, {tp}}}, DimLayout{{8, 8, {tp}}},
        DimLayout{{6, 12, {tp}}}, DimLayout{{6, 8, {dp}}},
        DimLayout{{6, 8, {dp, tp}}}, DimLayout{{6, 8, {tp}}, {2, 2, {}}}})
    for (unsigned d : {0, 1})
      layouts.push_back(withDim(2, d, dim));
  layouts.push_back(Layout(1));
  for (size_t i = 0; i < layouts.size(); ++i)
    for (size_t j = 0; j < layouts.size(); ++j)
      EXPECT_EQ(layouts[i] == layouts[j], i == j) << i << " and " << j;
  const MeshAxis axes[] = {{"tp", 2, AxisRole::Feature},
                           {"ep", 2, AxisRole::Feature},
                           {"tp", 4, AxisRole::Feature},
                           {"tp", 2, AxisRole::Batch}};
  for (const MeshAxis &a : axes)
    for (const MeshAxis &b : axes)
      EXPECT_EQ(a == b, &a == &b);
}

TEST(Layout, CanonicalFormIsStable) {
  Layout once =
      canonical(withDim(1, 0, {{6, 8, {tp}}, {5, 5, {}}, {2, 2, {}}}));
  EXPECT_EQ(canonical(once), once);
}

TEST(Layout, StateOnEachAxis) {
  Layout layout = withDim(3, 2, {{12, 12, {tp}}});
  layout.partial = {dp};
  EXPECT_EQ(layout.state(tp), State::S(2));
  EXPECT_EQ(layout.state(dp), State::P());
  EXPECT_EQ(Layout(3).state(tp), State::R());
}

TEST(Layout, DualOfEachState) {
  EXPECT_EQ(State::R().dual(), State::R());
  EXPECT_EQ(State::C().dual(), State::P());
  EXPECT_EQ(State::P().dual(), State::C());
  EXPECT_EQ(State::S(3).dual(), State::S(3));
}

TEST(Layout, DualSwapsCopiedAndPartialAndKeepsSplits) {
  Layout layout = withDim(2, 0, {{12, 12, {tp}}});
  layout.copied = {dp};
  Layout dual = layout.dual();
  EXPECT_EQ(dual.state(dp), State::P());
  EXPECT_EQ(dual.state(tp), State::S(0));
  EXPECT_EQ(dual.dual(), layout);
}

TEST(Layout, AnotherStateLeavesNoPadding) {
  Layout layout = withDim(2, 1, {{6, 8, {tp}}, {10, 10, {dp}}});
  EXPECT_EQ(layout.withState(tp, State::C()).dims[1],
            (DimLayout{{6, 6, {}}, {10, 10, {dp}}}));
  // Of two axes of a factor one goes on splitting it.
  layout = withDim(2, 1, {{6, 8, {dp, tp}}});
  Layout left = layout.withState(dp, State::P());
  EXPECT_EQ(left.dims[1], (DimLayout{{6, 8, {tp}}}));
  EXPECT_EQ(left.state(dp), State::P());
  EXPECT_EQ(left.state(tp), State::S(1));
}

TEST(Layout, StatesAreWrittenShortly) {
  EXPECT_EQ(State::R().str(), "R");
  EXPECT_EQ(State::C().str(), "C");
  EXPECT_EQ(State::P().str(), "P");
  EXPECT_EQ(State::S(1).str(), "S(1)");
  EXPECT_EQ((State{StateKind::PartialMax, 0}.str()), "P<max>");
}

TEST(Layout, LocalShapeHoldsWholeUnits) {
  // 6 heads of 10 on 4 ranks: 2 heads a rank, never 15 elements.
  Layout layout(3);
  layout.dims[2] = splitDim(/*size=*/60, /*units=*/6, tp, makeMesh());
  EXPECT_EQ(layout.localShape({3, 7, 60}, makeMesh()),
            (llvm::SmallVector<int64_t>{3, 7, 20}));
  EXPECT_TRUE(layout.isPadded(2));
  EXPECT_FALSE(layout.isPadded(1));
}

TEST(Layout, LocalShapeOverTwoAxes) {
  Layout layout = withDim(2, 0, {{24, 24, {dp, tp}}});
  EXPECT_EQ(errorOf(layout, {24, 5}), "");
  EXPECT_EQ(layout.localShape({24, 5}, makeMesh()),
            (llvm::SmallVector<int64_t>{3, 5}));
}

TEST(Layout, LocalShapeOfAnInnerFactor) {
  Layout layout = withDim(1, 0, {{3, 3, {}}, {8, 8, {tp}}});
  EXPECT_EQ(errorOf(layout, {24}), "");
  EXPECT_EQ(layout.localShape({24}, makeMesh()),
            (llvm::SmallVector<int64_t>{6}));
}

TEST(Layout, SplitDimPadsUnitsNotElements) {
  // Vocabulary 33, units of one: 36. Heads 6 of 10: 8 heads, so 80.
  EXPECT_EQ(splitDim(33, 33, tp, makeMesh()), (DimLayout{{33, 36, {tp}}}));
  EXPECT_EQ(splitDim(60, 6, tp, makeMesh()), (DimLayout{{60, 80, {tp}}}));
  EXPECT_EQ(splitDim(64, 8, tp, makeMesh()), (DimLayout{{64, 64, {tp}}}));
}

TEST(Layout, RefusesAnotherRank) { // C1
  EXPECT_EQ(errorOf(Layout(2), {3, 5, 7}),
            "layout has 2 dimensions, the tensor 3");
}

TEST(Layout, RefusesAnotherProduct) { // C2
  EXPECT_EQ(errorOf(withDim(1, 0, {{12, 12, {tp}}}), {13}),
            "dimension 0: the factors' product is 12, but the dimension is 13");
}

TEST(Layout, RefusesBlocksThatDoNotDivide) { // C3
  EXPECT_EQ(errorOf(withDim(2, 1, {{10, 10, {tp}}}), {3, 10}),
            "dimension 1: 10 does not divide over 4 ranks; pad it to 12");
}

TEST(Layout, RefusesUnitsThatDoNotDivide) { // C3, before folding
  EXPECT_EQ(errorOf(withDim(1, 0, {{6, 6, {tp}}, {10, 10, {}}}), {60}),
            "dimension 0: 6 does not divide over 4 ranks; pad it to 8");
}

TEST(Layout, RefusesPaddingThatIsNotSplit) { // C4
  EXPECT_EQ(errorOf(withDim(1, 0, {{3, 4, {}}, {8, 8, {tp}}}), {24}),
            "dimension 0: factor 3 is padded to 4 but not split; only a split "
            "factor is padded");
}

TEST(Layout, RefusesPaddingBelowTheSize) { // C4
  EXPECT_EQ(errorOf(withDim(1, 0, {{12, 8, {tp}}}), {12}),
            "dimension 0: factor 12 pad 8 is not a size and a padded size that "
            "is not smaller");
}

/// In any two of the places where an axis can stand.
TEST(Layout, RefusesOneAxisTwice) { // C5
  using Place = std::function<void(Layout &)>;
  const Place places[] = {
      [](Layout &layout) { layout.copied.push_back(tp); },
      [](Layout &layout) { layout.partial.push_back(tp); },
      [](Layout &layout) { layout.partialMax.push_back(tp); },
      [](Layout &layout) { layout.dims[0] = {{12, 12, {tp}}}; },
      [](Layout &layout) { layout.dims[1] = {{8, 8, {tp}}}; }};
  for (const Place &first : places)
    for (const Place &second : places) {
      Layout layout(2);
      first(layout);
      EXPECT_EQ(errorOf(layout, {12, 8}), "");
      bool isSplit = &first - places >= 3;
      if (&first == &second && isSplit)
        continue; // sets the same again
      second(layout);
      EXPECT_EQ(errorOf(layout, {12, 8}),
                "axis 'tp' is used twice in one layout");
    }
}

TEST(Layout, RefusesAnAxisThatTheMeshDoesNotHave) { // C5
  EXPECT_EQ(errorOf(withDim(1, 0, {{12, 12, {2}}}), {12}),
            "layout uses an axis that its mesh does not have");
}

TEST(Layout, BlocksBegin) {
  using List = llvm::SmallVector<int64_t>;
  EXPECT_EQ(blockStart({}, makeMesh()), (List{0, 0}));
  EXPECT_EQ(blockStart({{6, 8, {tp}}, {5, 5, {}}}, makeMesh()), (List{0, 10}));
  EXPECT_EQ(blockStart({{24, 24, {dp, tp}}}, makeMesh()), (List{12, 3}));
  EXPECT_EQ(blockStart({{24, 24, {tp, dp}}}, makeMesh()), (List{3, 6}));
  EXPECT_EQ(blockStart({{3, 4, {dp}}, {5, 5, {}}, {2, 2, {}}}, makeMesh()),
            (List{20, 0}));
}

} // namespace
