// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the matrix products of a plan take alone: the libraries' own peak on the
// shapes of a step.
//
// usage: bench-gemms PLAN [THREADS] [bf16]
//
// THREADS ranks at once, each on its own matrices (default 1). "bf16": operands
// and results of all products as bf16, but those of weights' gradients (op(A)
// transposed) as float32. A line a shape, then the step's.

#include "colrow/runtime/Libraries/GemmLibraries.h"
#include "colrow/runtime/Plan/DType.h"
#include "colrow/runtime/Plan/PlanFile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <chrono>
#include <map>
#include <thread>

using namespace llvm;
using namespace colrow;
using namespace colrow::runtime;

namespace {
struct Measured {
  GemmShape shape;
  int64_t calls; // a step
  double seconds = 0;
  double flop() const { return 2.0 * shape.m * shape.n * shape.k; }
};

/// Where threads wait for each other before every round.
struct Gate {
  unsigned threads;
  std::atomic<unsigned> arrived{0};

  void wait() {
    unsigned end = (arrived++ / threads + 1) * threads;
    while (arrived < end)
      std::this_thread::yield();
  }
};

struct alignas(64) Line {
  char bytes[64];
};
using Memory = std::vector<Line>;
} // namespace

static std::string textOf(const GemmShape &s) {
  auto type = [](plan::DType t) { return t == plan::DType::bf16 ? 'b' : 'f'; };
  return formatv(
      "{0,5} {1,5} {2,5} {3}{4} {5}{6}{7} ld {8} {9} {10}, {11} {12}", s.m, s.n,
      s.k, s.transA ? 'T' : 'N', s.transB ? 'T' : 'N', type(s.aType),
      type(s.bType), type(s.cType), s.lda, s.ldb, s.ldc, s.alpha, s.beta);
}

/// Of the first program, in order of their first call.
static std::vector<Measured> shapesOf(const plan::Plan &plan, bool asBf16) {
  std::vector<Measured> result;
  std::map<std::string, size_t> known;
  struct Loop {
    int64_t trips;
    int64_t left;
  };
  std::vector<Loop> loops;
  for (const plan::Instruction *i : *plan.programs()->Get(0)->instructions()) {
    int64_t calls = 1;
    for (Loop &loop : loops)
      calls *= loop.trips, --loop.left;
    while (!loops.empty() && loops.back().left <= 0)
      loops.pop_back();
    if (const plan::Loop *loop = i->op_as_Loop())
      loops.push_back({loop->trips(), loop->body()});
    const plan::Gemm *gemm = i->op_as_Gemm();
    if (!gemm)
      continue;
    GemmShape shape = shapeOf(*gemm);
    if (asBf16) {
      shape.aType = shape.bType = plan::DType::bf16;
      shape.cType = shape.transA ? plan::DType::f32 : plan::DType::bf16;
    }
    auto [at, isNew] = known.try_emplace(textOf(shape), result.size());
    if (isNew)
      result.push_back({shape, 0});
    result[at->second].calls += calls;
  }
  return result;
}

/// Values do not change the time, as long as they are no denormals.
static Memory matrix(int64_t rows, int64_t ld, plan::DType type) {
  Memory memory(rows * ld * elementBytes(type) / sizeof(Line) + 1);
  for (Line &line : memory)
    for (size_t i = 0; i < sizeof(line.bytes); ++i)
      line.bytes[i] = i & 1 ? 0x3f : char(i);
  return memory;
}

/// The best of some rounds, in which all threads run it at once.
static double measure(const GemmLibraries &libraries, const GemmShape &s,
                      Gate &gate) {
  Memory a = matrix(s.transA ? s.k : s.m, s.lda, s.aType);
  Memory b = matrix(s.transB ? s.n : s.k, s.ldb, s.bType);
  Memory c = matrix(s.m, s.ldc, s.cType);
  auto gemm = cantFail(libraries.prepare(s));
  Memory workspace(gemm->workspaceBytes() / sizeof(Line) + 1);
  int repeats = int(2e9 / (2.0 * s.m * s.n * s.k)) + 1;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    gate.wait();
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i)
      gemm->run(a[0].bytes, b[0].bytes, c[0].bytes, workspace[0].bytes);
    std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - begin;
    best = std::min(best, passed.count() / repeats);
  }
  return best;
}

static void report(ArrayRef<Measured> shapes) {
  double flop = 0, seconds = 0;
  outs() << "    m     n     k    types\n";
  for (const Measured &one : shapes) {
    flop += one.calls * one.flop(), seconds += one.calls * one.seconds;
    outs() << textOf(one.shape)
           << format("  x%lld  %.1f us  %.1f GFLOP/s\n", (long long)one.calls,
                     one.seconds * 1e6, one.flop() / one.seconds / 1e9);
  }
  outs() << format("a step: %.2f GFLOP a rank, %.1f ms, %.1f GFLOP/s a core\n",
                   flop / 1e9, seconds * 1e3, flop / seconds / 1e9);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    errs() << "usage: bench-gemms PLAN [THREADS] [bf16]\n";
    return 2;
  }
  unsigned threads = argc > 2 ? std::max(std::atoi(argv[2]), 1) : 1;
  ExitOnError check("bench-gemms: ");
  LoadedPlan plan = check(readPlanFile(argv[1]));
  auto shapes = shapesOf(plan.get(), argc > 3 && StringRef(argv[3]) == "bf16");
  auto libraries = check(GemmLibraries::open({true, true}, threads));
  outs() << libraries->description() << "\n";
  Gate gate{threads};
  auto rank = [&](unsigned number) {
    for (Measured &one : shapes) {
      double seconds = measure(*libraries, one.shape, gate);
      if (number == 0)
        one.seconds = seconds;
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back(rank, i);
  rank(0);
  for (std::thread &other : others)
    other.join();
  report(shapes);
}
