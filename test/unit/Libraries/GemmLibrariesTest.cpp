// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which libraries are opened, what they are called, and what is said when they
// are of no use.

#include "LibrariesTest.h"
#include "Library.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace colrow::runtime::test {
namespace {

constexpr GemmTypes nothing, bf16 = {true, false}, float32 = {false, true},
                             both = {true, true};

bool hasBf16() { return llvm::sys::getHostCPUFeatures().lookup("avx512bf16"); }

std::string faultOf(GemmTypes types) {
  auto opened = GemmLibraries::open(types, /*ranks=*/2);
  return opened ? "" : llvm::toString(opened.takeError());
}

TEST(GemmLibraries, NamesWhatComputes) {
  EXPECT_EQ(open(nothing)->description(), "");
  std::string float32Only = open(float32)->description();
  EXPECT_STARTS(float32Only, "float32 by ");
  EXPECT_LACKS(float32Only, "bf16");
  std::string converted = open(bf16, /*convert=*/true)->description();
  EXPECT_EQ(converted, float32Only + "; bf16 converted to float32");
  EXPECT_EQ(converted, open(both, /*convert=*/true)->description());
  std::string bf16Only = open(bf16)->description();
  std::string all = open(both)->description();
  EXPECT_LACKS(all, "\n");
  if (hasBf16()) {
    EXPECT_STARTS(bf16Only, "bf16 by oneDNN 2.");
    EXPECT_HAS(bf16Only, "(avx512_core_");
    EXPECT_EQ(all, float32Only + "; " + bf16Only);
  } else {
    EXPECT_EQ(bf16Only, converted);
    EXPECT_EQ(all, converted);
  }
}

TEST(GemmLibraries, OpensOnlyWhatIsNeeded) {
  Variable blas("COLROW_BLAS", "/nowhere/libblas.so");
  Variable oneDnn("COLROW_ONEDNN", "/nowhere/libdnnl.so");
  EXPECT_EQ(faultOf(nothing), "");
  EXPECT_STARTS(faultOf(float32),
                "COLROW_BLAS=/nowhere/libblas.so: cannot be loaded: ");
  EXPECT_STARTS(faultOf(bf16),
                hasBf16() ? "COLROW_ONEDNN=/nowhere/libdnnl.so: cannot be "
                          : "COLROW_BLAS=/nowhere/libblas.so: cannot be ");
}

TEST(GemmLibraries, RefusesWhatIsOfNoUse) {
  {
    Variable blas("COLROW_BLAS", "libm.so.6");
    EXPECT_EQ(faultOf(float32), "COLROW_BLAS=libm.so.6: has no cblas_sgemm: "
                                "name a library that has it");
  }
  {
    Variable blas("COLROW_BLAS", REFUSED_LIBRARIES);
    EXPECT_HAS(faultOf(float32), "is built for 64-bit sizes");
  }
  Variable oneDnn("COLROW_ONEDNN", REFUSED_LIBRARIES);
  if (hasBf16())
    EXPECT_HAS(faultOf(bf16), "is oneDNN 3.1, but 2.x is needed");
  else
    EXPECT_EQ(faultOf(bf16), "");
}

/// As on a machine that has none of the names.
TEST(Library, SaysHowToInstallWhatIsMissing) {
  static constexpr const char *names[] = {"libnone.so.1", "libm.so.6"};
  auto found = Library::open({"COLROW_NO_LIBRARY", names, "none_at_all",
                              "there is none of {0}: apt install none"});
  EXPECT_EQ(llvm::toString(found.takeError()),
            "there is none of libnone.so.1, libm.so.6: apt install none");
}

/// The first name that loads and has the symbol; one that is named is the only
/// one.
TEST(Library, TakesTheFirstOfUse) {
  static constexpr const char *names[] = {"libnone.so.1", REFUSED_LIBRARIES,
                                          "libm.so.6", "libc.so.6"};
  Library::Wanted wanted{"COLROW_NO_LIBRARY", names, "cos", "{0}"};
  EXPECT_EQ(take(Library::open(wanted)).name(), "libm.so.6");
  {
    Variable empty("COLROW_NO_LIBRARY", "");
    EXPECT_EQ(take(Library::open(wanted)).name(), "libm.so.6");
  }
  Variable other("COLROW_NO_LIBRARY", "libc.so.6");
  EXPECT_STARTS(llvm::toString(Library::open(wanted).takeError()),
                "COLROW_NO_LIBRARY=libc.so.6: has no cos");
}

} // namespace
} // namespace colrow::runtime::test
