// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way from a kernel to a shared object.

#include "Harness.h"
#include "LowerModule.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

namespace colrow::kernel {

namespace {

/// Every kind of value that might tempt the code generator to call a library.
RowKernel busyKernel() {
  RowKernelBuilder b({300}, 5000);
  int x = b.denseArg(Elem::F32, Access::Read);
  int y = b.denseArg(Elem::F32, Access::Write);
  int z = b.colArg(Elem::F32, Access::Write);
  Expr v = b.load(x);
  Expr sum = b.exp(v) + b.log(v) + b.tanh(v) + b.erf(v) + b.sqrt(v) +
             b.rsqrt(v) / b.max(v, b.rowMax(v)) +
             b.cast(b.colIndex(), Type::F32);
  Expr random = b.philoxUniform(b.intArg(0), 1, b.intArg(1), b.colIndex());
  b.store(y, sum + random);
  b.colSum(z, sum);
  return llvm::cantFail(b.finish());
}

/// A copy and a fill, which compilers like to turn into calls.
RowKernel copyKernel() {
  RowKernelBuilder b({}, 100000);
  b.store(b.denseArg(Elem::F32, Access::Write),
          b.load(b.denseArg(Elem::F32, Access::Read)));
  b.store(b.denseArg(Elem::F32, Access::Write), b.constF32(0));
  return llvm::cantFail(b.finish());
}

std::string errorOf(std::vector<std::pair<std::string, RowKernel>> kernels) {
  auto object = compileSharedObject(kernels, hostTarget());
  return object ? "" : llvm::toString(object.takeError());
}

} // namespace

TEST(Compile, HasNoImports) {
  auto object = compileSharedObject(
      {{"busy", busyKernel()}, {"copy", copyKernel()}}, hostTarget());
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  llvm::MemoryBufferRef bytes(llvm::StringRef(object->data(), object->size()),
                              "kernels.so");
  auto file = llvm::object::ObjectFile::createELFObjectFile(bytes);
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  auto &elf = llvm::cast<llvm::object::ELFObjectFileBase>(**file);
  std::set<std::string> defined;
  for (auto symbol : elf.getDynamicSymbolIterators()) {
    uint32_t flags = llvm::cantFail(symbol.getFlags());
    EXPECT_FALSE(flags & llvm::object::SymbolRef::SF_Undefined)
        << llvm::cantFail(symbol.getName()).str();
    defined.insert(llvm::cantFail(symbol.getName()).str());
  }
  EXPECT_TRUE(defined.count("busy") && defined.count("copy"));
}

TEST(Compile, IsDeterministic) {
  std::vector<std::pair<std::string, RowKernel>> kernels = {
      {"busy", busyKernel()}, {"copy", copyKernel()}};
  auto first = compileSharedObject(kernels, hostTarget());
  auto second = compileSharedObject(kernels, hostTarget());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
}

TEST(Compile, DumpsLoopsOverVectors) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto object =
      compileSharedObject({{"copy", copyKernel()}}, hostTarget(), &os);
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  EXPECT_NE(text.find("func.func @copy"), std::string::npos) << text;
  EXPECT_NE(text.find("scf.for"), std::string::npos) << text;
}

TEST(Compile, NoKernelsMakeAnEmptyObject) { EXPECT_EQ(errorOf({}), ""); }

TEST(Compile, RefusesBadSymbols) {
  EXPECT_EQ(errorOf({{"a b", copyKernel()}}),
            "row kernel: symbol 'a b' is no C identifier");
  EXPECT_EQ(errorOf({{"", copyKernel()}}),
            "row kernel: symbol '' is no C identifier");
  EXPECT_EQ(errorOf({{"1a", copyKernel()}}),
            "row kernel: symbol '1a' is no C identifier");
  EXPECT_EQ(errorOf({{"_a_1", copyKernel()}}), "");
  EXPECT_EQ(errorOf({{"a", copyKernel()}, {"a", copyKernel()}}),
            "row kernel: symbol 'a' stands for two kernels");
  Target unknown = hostTarget();
  unknown.triple = "z80-none-elf";
  auto object = compileSharedObject({{"a", copyKernel()}}, unknown);
  ASSERT_FALSE(bool(object));
  EXPECT_NE(llvm::toString(object.takeError()).find("no code generator for"),
            std::string::npos);
}

/// The kernel at fault is named.
TEST(Compile, RefusesForgedKernels) {
  RowKernel forged = copyKernel();
  forged.cols = 0;
  EXPECT_EQ(errorOf({{"good", copyKernel()}, {"bad", forged}}),
            "row kernel: in 'bad'\nrow kernel: cols is 0, wanted at least 1");
}

/// What the linker says of an object that is none, on one line.
TEST(Compile, TellsWhyLinkingFailed) {
  llvm::SmallVector<char, 0> none(100, 'x');
  auto linked = linkSharedObject({none});
  ASSERT_FALSE(bool(linked));
  std::string error = llvm::toString(linked.takeError());
  EXPECT_EQ(error.rfind("row kernel: linking failed: ", 0), 0u) << error;
  EXPECT_NE(error.find("colrow-kernel"), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

TEST(Compile, NarrowerVectors) {
  Target target = hostTarget();
  EXPECT_EQ(vectorLanes({target.triple, "x86-64", "+sse2"}), 4u);
  EXPECT_EQ(vectorLanes({target.triple, "haswell", "+avx,+avx2"}), 8u);
  auto object = compileSharedObject({{"busy", busyKernel()}},
                                    {target.triple, "x86-64", "+sse2"});
  EXPECT_TRUE(bool(object)) << llvm::toString(object.takeError());
}

} // namespace colrow::kernel
