// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random kernels against the interpreter: every mixture of classes, phases and
// row buffers, on rows short and long, for each width of vectors.

#include "Harness.h"
#include "KernelInterpreter.h"

namespace colrow::kernel {

namespace {

/// Draws one kernel. Values stay within about [-4, 4], and comparisons are of
/// loaded values only, so that float and double take the same branches.
class Draw {
public:
  Draw(unsigned seed) : generator(seed) {}

  RowKernel run() {
    static constexpr int64_t sizes[] = {1, 5, 16, 33, 64, 70, 130, 300};
    int64_t cols = sizes[pick(8)];
    llvm::SmallVector<int64_t> rows;
    for (unsigned dim = 0, count = pick(3); dim < count; ++dim)
      rows.push_back(1 + pick(4));
    RowKernelBuilder b(rows, cols);
    drawLoads(b);
    for (unsigned i = 0, count = 4 + pick(14); i < count; ++i)
      pool.push_back(drawValue(b));
    drawEffects(b);
    return llvm::cantFail(b.finish());
  }

private:
  unsigned pick(unsigned count) { return generator() % count; }
  Expr any() { return pool[pick(pool.size())]; }
  Expr recent() {
    return pool[pool.size() - 1 - pick(std::min<size_t>(4, pool.size()))];
  }

  void drawLoads(RowKernelBuilder &b) {
    int args[] = {b.denseArg(Elem::F32, Access::Read),
                  b.denseArg(Elem::F32, Access::Read),
                  b.rowArg(Elem::F32, Access::Read),
                  b.colArg(Elem::F32, Access::Read), b.scalarArg(Elem::F32)};
    for (int arg : args)
      pool.push_back(b.load(arg));
    numLoads = pool.size();
  }

  Expr drawValue(RowKernelBuilder &b) {
    Expr x = recent(), y = any();
    switch (pick(10)) {
    case 0:
      return (x + y) * 0.5f;
    case 1:
      return (x - y) * 0.5f;
    case 2:
      return x * y * 0.25f;
    case 3:
      return b.max(x, y);
    case 4:
      return b.tanh(x);
    case 5:
      return b.exp(x - 4.0f);
    case 6:
      return x / (b.exp(y) + 1.0f);
    case 7:
      return b.select(b.lt(pool[pick(numLoads)], pool[pick(numLoads)]), x, y);
    case 8:
      return b.rowMax(x);
    default:
      return b.tanh(b.rowSum(x) * 0.01f);
    }
  }

  void drawEffects(RowKernelBuilder &b) {
    int inPlace = b.denseArg(Elem::F32, Access::Write);
    b.store(inPlace, recent());
    b.store(b.denseArg(Elem::F32, Access::Accumulate), any());
    if (pick(2))
      b.store(b.rowArg(Elem::F32, Access::Write), b.rowSum(any()));
    if (pick(2))
      b.colSum(b.colArg(Elem::F32, Access::Write), any());
    if (pick(2))
      b.totalSum(b.scalarArg(Elem::F32, Access::Accumulate), any());
  }

  std::mt19937 generator;
  std::vector<Expr> pool;
  size_t numLoads = 0;
};

/// Elements an argument's strides reach.
size_t extent(const RowKernel &kernel, const Arg &arg) {
  int64_t last = arg.offset + (kernel.cols - 1) * arg.colStride;
  for (auto [size, stride] : llvm::zip_equal(kernel.rows, arg.rowStrides))
    last += (size - 1) * stride;
  return last + 1;
}

/// Argument 0 and the first output share a buffer.
constexpr size_t firstOutput = 5;

void check(const RowKernel &kernel, const Target &target) {
  Compiled compiled{llvm::Expected<RowKernel>(kernel), target};
  std::vector<Floats> buffers;
  std::vector<std::vector<double>> arrays;
  for (auto [i, arg] : llvm::enumerate(kernel.args)) {
    std::vector<float> start = randomFloats(extent(kernel, arg), -3, 3, i);
    arrays.emplace_back(start.begin(), start.end());
    buffers.emplace_back(start);
  }
  interpret(kernel, {}, [&](unsigned arg, int64_t element) -> double & {
    return arrays[arg][element];
  });
  std::vector<void *> pointers;
  pointers.reserve(buffers.size());
  for (Floats &buffer : buffers)
    pointers.push_back(buffer.data());
  pointers[firstOutput] = pointers[0];
  compiled.call(pointers);
  for (size_t i = firstOutput; i < buffers.size(); ++i) {
    auto *found = static_cast<float *>(pointers[i]);
    for (size_t k = 0; k < arrays[i].size(); ++k)
      ASSERT_CLOSE(found[k], arrays[i][k], 2e-5, 2e-5)
          << "argument " << i << " element " << k << " of\n"
          << kernel.canonical();
    EXPECT_TRUE(buffers[i == firstOutput ? 0 : i].guardIsWhole());
  }
}

} // namespace

TEST(Random, EqualsInterpreter) {
  for (unsigned seed = 0; seed < 60 && !HasFatalFailure(); ++seed)
    check(Draw(seed).run(), hostTarget());
}

/// The narrowest vectors, which every machine of the host's kind has.
TEST(Random, NarrowVectorsEqualInterpreter) {
  Target narrow = hostTarget();
  if (llvm::StringRef(narrow.triple).starts_with("x86_64")) {
    narrow.cpu = "x86-64";
    narrow.features = "+sse2";
  }
  for (unsigned seed = 100; seed < 120 && !HasFatalFailure(); ++seed)
    check(Draw(seed).run(), narrow);
}

} // namespace colrow::kernel
