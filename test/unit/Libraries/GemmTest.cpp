// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of all types against sums in double, by the libraries of this
// machine and with bf16 converted.

#include "LibrariesTest.h"
#include "colrow/runtime/Support/Bf16.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <thread>

namespace colrow::runtime::test {
namespace {

using plan::DType;

/// A matrix as it lies in memory: rows of `ld` elements.
struct Stored {
  int rows, columns, ld;
  DType type;
  std::vector<char> bytes;

  Stored(int rows, int columns, int ld, DType type, int salt)
      : rows(rows), columns(columns), ld(ld), type(type),
        bytes(size_t(rows) * ld * width()) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < ld; ++j)
        set(i, j, float((i * 37 + j * 11 + salt * 5) % 61 - 30) / 16);
  }
  size_t width() const { return type == DType::bf16 ? 2 : 4; }
  char *at(int i, int j) {
    return bytes.data() + (size_t(i) * ld + j) * width();
  }
  void set(int i, int j, float value) {
    uint16_t half = toBf16(value);
    std::memcpy(at(i, j), type == DType::bf16 ? (void *)&half : &value,
                width());
  }
  float get(int i, int j) {
    uint16_t half;
    float value;
    std::memcpy(&half, at(i, j), 2);
    std::memcpy(&value, at(i, j), width() == 4 ? 4 : 0);
    return type == DType::bf16 ? fromBf16(half) : value;
  }
};

struct Operands {
  Stored a, b, c;
  explicit Operands(const GemmShape &s)
      : a(s.transA ? s.k : s.m, s.transA ? s.m : s.k, s.lda, s.aType, 1),
        b(s.transB ? s.n : s.k, s.transB ? s.k : s.n, s.ldb, s.bType, 2),
        c(s.m, s.n, s.ldc, s.cType, 3) {}
};

GemmShape shape(int m, int n, int k, bool transA, bool transB, int gap, DType a,
                DType b, DType c) {
  GemmShape s = {m, n, k, 0, 0, 0, transA, transB, 1, 0, a, b, c};
  s.lda = (transA ? m : k) + gap;
  s.ldb = (transB ? k : n) + 2 * gap;
  s.ldc = n + gap;
  return s;
}

void run(PreparedGemm &gemm, Operands &operands) {
  std::vector<Line> workspace(gemm.workspaceBytes() / sizeof(Line) + 1);
  gemm.run(operands.a.bytes.data(), operands.b.bytes.data(),
           operands.c.bytes.data(), workspace[0].bytes);
}

/// How far a result may be off: float32 sums of k products, rounded to C's
/// type.
double allowed(const GemmShape &s, double magnitude, double result) {
  double epsilon = s.cType == DType::bf16 ? 0x1p-8 : 0x1p-23;
  return (s.k + 4) * 0x1p-24 * magnitude + epsilon * std::fabs(result);
}

/// The first element that is wrong, as text.
std::string firstFault(const GemmShape &s, Operands &before, Operands &after) {
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.ldc; ++j) {
      double sum = 0, magnitude = 0;
      for (int p = 0; p < s.k && j < s.n; ++p) {
        double product =
            double(s.transA ? before.a.get(p, i) : before.a.get(i, p)) *
            (s.transB ? before.b.get(j, p) : before.b.get(p, j));
        sum += product, magnitude += std::fabs(product);
      }
      double old = s.beta == 0 ? 0 : before.c.get(i, j);
      double want = j < s.n ? s.alpha * sum + s.beta * old : before.c.get(i, j);
      double off = j < s.n ? allowed(s, magnitude + std::fabs(old), want) : 0;
      if (double found = after.c.get(i, j); !(std::fabs(found - want) <= off))
        return llvm::formatv("{0} {1}: {2}, wanted {3}", i, j, found, want);
    }
  return "";
}

std::string text(const GemmShape &s) {
  return llvm::formatv("{0}x{1}x{2} trans {3}{4} ld {5} {6} {7} alpha {8} beta "
                       "{9} bf16 {10}{11}{12}",
                       s.m, s.n, s.k, int(s.transA), int(s.transB), s.lda,
                       s.ldb, s.ldc, s.alpha, s.beta, s.aType == DType::bf16,
                       s.bType == DType::bf16, s.cType == DType::bf16);
}

void check(const GemmLibraries &libraries, const GemmShape &s) {
  Operands before(s), after(s);
  if (s.beta == 0) // is not read
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.n; ++j)
        after.c.set(i, j, NAN);
  run(*take(libraries.prepare(s)), after);
  EXPECT_EQ(firstFault(s, before, after), "") << text(s);
}

constexpr int sizes[][3] = {{1, 1, 1},    {1, 7, 5},    {5, 1, 9},
                            {3, 4, 1},    {17, 33, 65}, {64, 64, 64},
                            {2, 130, 31}, {100, 3, 72}, {1, 64, 128}};

/// All transposes, gaps and factors.
void checkAll(const GemmLibraries &libraries, DType a, DType b, DType c) {
  constexpr float factors[][2] = {{1, 0}, {1, 1}, {0.125f, 0}, {0.5f, -2}};
  for (auto &size : sizes)
    for (int form = 0; form < 8; ++form)
      for (auto &factor : factors) {
        GemmShape s = shape(size[0], size[1], size[2], form & 1, form & 2,
                            form & 4 ? 3 : 0, a, b, c);
        s.alpha = factor[0], s.beta = factor[1];
        check(libraries, s);
      }
}

TEST(Gemm, TwoBf16OperandsEqualSumsInDouble) {
  for (bool convert : {false, true}) {
    auto libraries = open({/*bf16=*/true, /*float32=*/false}, convert);
    for (DType c : {DType::f32, DType::bf16})
      checkAll(*libraries, DType::bf16, DType::bf16, c);
  }
}

TEST(Gemm, OtherTypesEqualSumsInDouble) {
  auto libraries = open({/*bf16=*/false, /*float32=*/true});
  for (DType c : {DType::f32, DType::bf16}) {
    checkAll(*libraries, DType::f32, DType::f32, c);
    checkAll(*libraries, DType::f32, DType::bf16, c);
    checkAll(*libraries, DType::bf16, DType::f32, c);
  }
}

/// Big enough for blocks of all kinds and, were there any, for more threads.
GemmShape large(DType type, int form) {
  GemmShape s = shape(200, 300, 700, form & 1, form & 2, 0, type, type, type);
  s.beta = form & 4 ? 1 : 0;
  return s;
}

/// Two ranks' own preparations, run at once, and a second run of each.
TEST(Gemm, EveryRankAndRunHasEqualBits) {
  for (bool convert : {false, true}) {
    auto libraries = open({/*bf16=*/true, /*float32=*/true}, convert);
    for (DType type : {DType::bf16, DType::f32})
      for (int form = 0; form < 8; ++form) {
        GemmShape s = large(type, form);
        std::vector<Operands> operands(4, Operands(s));
        std::unique_ptr<PreparedGemm> gemms[] = {take(libraries->prepare(s)),
                                                 take(libraries->prepare(s))};
        auto rank = [&](int r) {
          run(*gemms[r], operands[r]);
          run(*gemms[r], operands[2 + r]);
        };
        std::thread other(rank, 1);
        rank(0);
        other.join();
        for (int i : {1, 2, 3})
          EXPECT_TRUE(operands[0].c.bytes == operands[i].c.bytes) << text(s);
      }
  }
}

size_t threadsNow() {
  std::error_code error;
  size_t count = 0;
  for (llvm::sys::fs::directory_iterator at("/proc/self/task", error), end;
       at != end && !error; at.increment(error))
    ++count;
  return count;
}

// OpenMP reads this when it is loaded: a library that is not told otherwise
// takes four threads, however many cores there are.
const int asked = ::setenv("OMP_NUM_THREADS", "4", 1);

TEST(Gemm, TakesNoThreadOfItsOwn) {
  auto libraries = open({/*bf16=*/true, /*float32=*/true});
  size_t before = threadsNow();
  for (DType type : {DType::bf16, DType::f32}) {
    GemmShape s = large(type, 0);
    std::thread([&] {
      Operands operands(s);
      run(*take(libraries->prepare(s)), operands);
      EXPECT_EQ(threadsNow(), before + 1) << text(s);
    }).join();
    auto gemm = take(libraries->prepare(s));
    std::thread([&] {
      Operands operands(s);
      run(*gemm, operands);
      EXPECT_EQ(threadsNow(), before + 1) << text(s);
    }).join();
  }
}

} // namespace
} // namespace colrow::runtime::test
