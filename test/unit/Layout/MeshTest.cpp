// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meshes from the command line: what is read, and each error in full.

#include "colrow/Layout/Layout.h"
#include "gtest/gtest.h"

using namespace colrow::layout;

namespace {

std::string errorOf(llvm::StringRef text) {
  auto mesh = Mesh::parse(text);
  return mesh ? "" : llvm::toString(mesh.takeError());
}

TEST(Mesh, ReadsAxesOutermostFirst) {
  auto mesh = Mesh::parse("dp=2, tp=4");
  ASSERT_TRUE(bool(mesh)) << llvm::toString(mesh.takeError());
  ASSERT_EQ(mesh->axes.size(), 2u);
  EXPECT_EQ(mesh->axes[0], (MeshAxis{"dp", 2, AxisRole::Batch}));
  EXPECT_EQ(mesh->axes[1], (MeshAxis{"tp", 4, AxisRole::Feature}));
  EXPECT_EQ(mesh->ranks(), 8);
  EXPECT_EQ(mesh->find("tp"), 1u);
  EXPECT_EQ(mesh->find("pp"), std::nullopt);
}

TEST(Mesh, RoleInTheTextWinsOverTheName) {
  auto mesh = Mesh::parse("dp:feature=2,ep:batch=3");
  ASSERT_TRUE(bool(mesh)) << llvm::toString(mesh.takeError());
  EXPECT_EQ(mesh->axes[0].role, AxisRole::Feature);
  EXPECT_EQ(mesh->axes[1].role, AxisRole::Batch);
}

TEST(Mesh, RefusesUnknownRole) {
  EXPECT_EQ(errorOf("tp:heads=4"), "mesh axis 'tp': role 'heads' is not one of "
                                   "batch, feature");
}

TEST(Mesh, RefusesSizesThatAreNone) {
  auto wanted = [](llvm::StringRef size) {
    return ("mesh axis 'tp': size '" + size +
            "' is not a number from 1 to 65536")
        .str();
  };
  EXPECT_EQ(errorOf("tp=0"), wanted("0"));
  EXPECT_EQ(errorOf("tp=-2"), wanted("-2"));
  EXPECT_EQ(errorOf("tp=65537"), wanted("65537"));
  EXPECT_EQ(errorOf("tp=65536"), "");
  EXPECT_EQ(errorOf("tp=99999999999999999999"), wanted("99999999999999999999"));
  EXPECT_EQ(errorOf("tp=two"), wanted("two"));
  EXPECT_EQ(errorOf("tp="), wanted(""));
}

TEST(Mesh, RefusesNamesThatAreNone) {
  EXPECT_EQ(errorOf("=4"), "mesh axis '=4': wanted NAME=SIZE, as in tp=4");
  EXPECT_EQ(errorOf(""), "mesh axis '': wanted NAME=SIZE, as in tp=4");
  EXPECT_EQ(errorOf("2"), "mesh axis '2': wanted NAME=SIZE, as in tp=4");
  EXPECT_EQ(errorOf("tp=2,"), "mesh axis '': wanted NAME=SIZE, as in tp=4");
  EXPECT_EQ(errorOf("t p=4"),
            "mesh axis 't p=4': wanted NAME=SIZE, as in tp=4");
}

TEST(Mesh, RefusesOneAxisTwice) {
  EXPECT_EQ(errorOf("tp=2,tp=3"), "mesh 'tp=2,tp=3': axis 'tp' appears twice");
}

TEST(Mesh, RefusesMoreAxesThanAPlanHolds) {
  EXPECT_EQ(
      errorOf("a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1"),
      "mesh 'a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1': at most 8 axes, not 9");
}

} // namespace
