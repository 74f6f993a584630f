// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Speed of generated kernels on 2048 x 1024 floats beside memcpy of the same
// size, one thread, best of several runs, and the time to compile them.

#include "colrow/Kernel/Compile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstring>
#include <dlfcn.h>

using namespace llvm;
using namespace colrow::kernel;

namespace {

constexpr int64_t numRows = 2048, numCols = 1024,
                  numElements = numRows * numCols;

/// A kernel to time; `bytes` is what must at least be moved by a call. Before
/// each, `scratch` elements of the last argument are zeroed, as a plan does.
struct Case {
  std::string name;
  RowKernel kernel;
  double bytes;
  int64_t scratch = 0;
};

int in(RowKernelBuilder &b) { return b.denseArg(Elem::F32, Access::Read); }
int out(RowKernelBuilder &b) { return b.denseArg(Elem::F32, Access::Write); }

Case copy() {
  RowKernelBuilder b({numRows}, numCols);
  b.store(out(b), b.load(in(b)));
  return {"copy", cantFail(b.finish()), 8.0 * numElements};
}

/// tanh form, as u / (1 + exp(-2z)).
Expr gelu(RowKernelBuilder &b, Expr u) {
  Expr z = u * (u * u * 0.0356774081f + 0.7978845608f);
  return u / (b.exp(z * -2.0f) + 1.0f);
}

Case geluForward() {
  RowKernelBuilder b({numRows}, numCols);
  Expr u = b.load(in(b)) + b.load(b.colArg(Elem::F32, Access::Read));
  b.store(out(b), gelu(b, u));
  return {"bias_gelu", cantFail(b.finish()), 8.0 * numElements};
}

Case geluErf() {
  RowKernelBuilder b({numRows}, numCols);
  Expr u = b.load(in(b));
  b.store(out(b), u * 0.5f * (b.erf(u * 0.70710678f) + 1.0f));
  return {"gelu_erf", cantFail(b.finish()), 8.0 * numElements};
}

Case geluBackward() {
  RowKernelBuilder b({numRows}, numCols);
  Expr u = b.load(in(b)), dy = b.load(in(b));
  Expr z = u * (u * u * 0.0356774081f + 0.7978845608f);
  Expr s = 1.0f / (b.exp(z * -2.0f) + 1.0f);
  Expr dz = u * u * (3 * 0.0356774081f) + 0.7978845608f;
  b.store(out(b), dy * (s + u * 2.0f * s * (1.0f - s) * dz));
  return {"gelu_backward", cantFail(b.finish()), 12.0 * numElements};
}

Case layerNorm() {
  RowKernelBuilder b({numRows}, numCols);
  Expr x = b.load(in(b));
  Expr gamma = b.load(b.colArg(Elem::F32, Access::Read));
  Expr beta = b.load(b.colArg(Elem::F32, Access::Read));
  Expr mean = b.rowSum(x) * (1.0f / numCols), d = x - mean;
  Expr rstd = b.rsqrt(b.rowSum(d * d) * (1.0f / numCols) + 1e-5f);
  b.store(out(b), d * rstd * gamma + beta);
  b.store(b.rowArg(Elem::F32, Access::Write), mean);
  b.store(b.rowArg(Elem::F32, Access::Write), rstd);
  return {"layer_norm", cantFail(b.finish()), 8.0 * numElements};
}

Case layerNormBackward() {
  RowKernelBuilder b({numRows}, numCols);
  Expr x = b.load(in(b)), dy = b.load(in(b));
  Expr gamma = b.load(b.colArg(Elem::F32, Access::Read));
  Expr mean = b.load(b.rowArg(Elem::F32, Access::Read));
  Expr rstd = b.load(b.rowArg(Elem::F32, Access::Read));
  Expr n = (x - mean) * rstd, dn = dy * gamma;
  Expr m1 = b.rowSum(dn) * (1.0f / numCols);
  Expr m2 = b.rowSum(dn * n) * (1.0f / numCols);
  b.store(out(b), (dn - m1 - n * m2) * rstd);
  b.colSum(b.colArg(Elem::F32, Access::Write), dy * n);
  b.colSum(b.colArg(Elem::F32, Access::Write), dy);
  return {"layer_norm_backward", cantFail(b.finish()), 12.0 * numElements};
}

Case crossEntropy() {
  RowKernelBuilder b({numRows}, numCols);
  Expr x = b.load(in(b)), max = b.rowMax(x), e = b.exp(x - max);
  Expr label = b.load(b.rowArg(Elem::I32, Access::Read)), sum = b.rowSum(e);
  Expr hit = b.eq(b.cast(b.colIndex(), Type::I32), label);
  Expr own = b.rowSum(b.select(hit, x, b.constF32(0)));
  b.totalSum(b.scalarArg(Elem::F32, Access::Write), b.log(sum) + max - own);
  b.store(out(b), e * b.reciprocal(sum) - b.cast(hit, Type::F32));
  return {"cross_entropy", cantFail(b.finish()), 8.0 * numElements};
}

Case adamW() {
  RowKernelBuilder b({numRows}, numCols);
  Expr g = b.load(in(b)), w = b.load(in(b));
  Expr m = b.load(in(b)) * 0.9f + g * 0.1f;
  Expr v = b.load(in(b)) * 0.95f + g * g * 0.05f;
  Expr rate = b.load(b.scalarArg(Elem::F32));
  b.store(out(b), w - rate * (m / (b.sqrt(v) + 1e-8f) + w * 0.1f));
  b.store(out(b), m);
  b.store(out(b), v);
  return {"adamw", cantFail(b.finish()), 28.0 * numElements};
}

Case biasGradient() {
  RowKernelBuilder b({numRows}, numCols);
  b.colSum(b.colArg(Elem::F32, Access::Write), b.load(in(b)));
  return {"col_sum_plain", cantFail(b.finish()), 4.0 * numElements};
}

Case longBiasGradient() {
  RowKernelBuilder b({numRows}, numCols);
  b.colSum(b.colArg(Elem::F32, Access::Write), b.load(in(b)));
  b.keepLost(b.colArg(Elem::F32, Access::Accumulate));
  return {"col_sum", cantFail(b.finish()), 4.0 * numElements,
          sumScratch(numCols)};
}

/// Rows added by id; each id comes once.
RowKernelBuilder scatter() {
  RowKernelBuilder b({numRows}, numCols);
  Expr id = b.load(b.rowArg(Elem::I32, Access::Read));
  Expr valid =
      b.logicalAnd(b.ge(id, b.constI32(0)), b.lt(id, b.constI32(numRows)));
  int table = b.colArg(Elem::F32, Access::Accumulate);
  b.scatterAddRow(table, id, numCols, b.load(in(b)), valid);
  return b;
}

Case embeddingGradient() {
  RowKernelBuilder b = scatter();
  return {"scatter_plain", cantFail(b.finish()), 12.0 * numElements};
}

Case longEmbeddingGradient() {
  RowKernelBuilder b = scatter();
  b.keepLost(b.scalarArg(Elem::F32, Access::Accumulate));
  return {"scatter", cantFail(b.finish()), 12.0 * numElements,
          scatterScratch(numRows, numCols, numRows)};
}

Case squares() {
  RowKernelBuilder b({numRows}, numCols);
  Expr x = b.load(in(b));
  b.totalSum(b.scalarArg(Elem::F32, Access::Write), x * x);
  return {"squares_plain", cantFail(b.finish()), 4.0 * numElements};
}

/// What tp.sum_squares does.
Case squaresBySize() {
  RowKernelBuilder b({numRows}, numCols);
  Expr x = b.load(in(b)), zero = b.constF32(0), size = b.abs(x);
  Expr isSmall = b.lt(size, b.constF32(0x1p-50f));
  Expr isBelow = b.lt(size, b.constF32(0x1p43f));
  Expr parts[] = {
      b.select(isSmall, x * 0x1p90f, zero),
      b.select(b.logicalAnd(isBelow, b.logicalNot(isSmall)), x, zero),
      b.select(isBelow, zero, x * 0x1p-90f)};
  for (Expr part : parts)
    b.totalSum(b.scalarArg(Elem::F32, Access::Write), part * part);
  return {"squares", cantFail(b.finish()), 4.0 * numElements};
}

Case dropout() {
  RowKernelBuilder b({numRows}, numCols);
  Expr index = b.rowIndex(0) * b.constI64(numCols) + b.colIndex();
  Expr u = b.philoxUniform(b.intArg(0), 1, b.intArg(1), index);
  Expr kept = b.load(in(b)) * (1 / 0.9f);
  b.store(out(b), b.select(b.ge(u, b.constF32(0.1f)), kept, b.constF32(0)));
  return {"dropout", cantFail(b.finish()), 8.0 * numElements};
}

double seconds() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// The least seconds a call takes, over at least `runs` calls.
template <typename Call> double best(Call call, int runs = 25) {
  double least = 1e30;
  for (int run = 0; run < runs; ++run) {
    double start = seconds();
    call();
    least = std::min(least, seconds() - start);
  }
  return least;
}

void *loadObject(ArrayRef<char> object) {
  SmallString<128> path;
  if (sys::fs::createTemporaryFile("bench-kernels", "so", path))
    return nullptr;
  FileRemover remover(path);
  std::error_code code;
  raw_fd_ostream os(path, code);
  os.write(object.data(), object.size());
  os.close();
  return dlopen(path.c_str(), RTLD_NOW);
}

/// A whole array for every argument, all values 0.5; labels and ids a
/// permutation of the rows' numbers.
double timeCase(const Case &benchmark, KernelFunction function,
                ArrayRef<float *> arrays) {
  std::vector<void *> pointers;
  for (size_t i = 0; i < benchmark.kernel.args.size(); ++i) {
    std::fill_n(arrays[i], numElements, 0.5f);
    auto *ids = reinterpret_cast<int32_t *>(arrays[i]);
    if (benchmark.kernel.args[i].elem == Elem::I32)
      for (int32_t row = 0; row < numRows; ++row)
        ids[row] = row * 1027 % numRows;
    pointers.push_back(arrays[i]);
  }
  if (benchmark.name == "adamw")
    std::copy_n(arrays.begin() + 1, 3, pointers.end() - 3);
  const int64_t ints[] = {1, 2};
  return best([&] {
    std::memset(pointers.back(), 0, benchmark.scratch * 4);
    function(pointers.data(), ints);
  });
}

/// Prints the rate of each case, and of copying.
void measure(ArrayRef<Case> cases, void *library) {
  // Different places in a page, as in an arena: equal ones would make loads
  // wait for unrelated stores.
  constexpr int64_t stagger = 272;
  auto *memoryBlock = static_cast<float *>(
      std::aligned_alloc(4096, 8 * (numElements + 1024) * 4));
  std::vector<float *> arrays;
  arrays.reserve(8);
  for (int64_t i = 0; i < 8; ++i)
    arrays.push_back(memoryBlock + i * (numElements + stagger));
  for (float *array : arrays)
    std::fill_n(array, numElements, 0.5f);
  double memory =
      8.0 * numElements /
      best([&] { std::memcpy(arrays[0], arrays[1], numElements * 4); }) * 1e-9;
  outs() << format("%-20s %6.1f GB/s\n", "memcpy", memory);
  for (const Case &benchmark : cases) {
    auto function = reinterpret_cast<KernelFunction>(
        dlsym(library, benchmark.name.c_str()));
    double rate =
        benchmark.bytes / timeCase(benchmark, function, arrays) * 1e-9;
    outs() << format("%-20s %6.1f GB/s, %3.0f %% of memcpy\n",
                     benchmark.name.c_str(), rate, 100 * rate / memory);
  }
}

} // namespace

int main() {
  std::vector<Case> cases = {copy(),
                             geluForward(),
                             geluErf(),
                             geluBackward(),
                             layerNorm(),
                             layerNormBackward(),
                             crossEntropy(),
                             adamW(),
                             biasGradient(),
                             longBiasGradient(),
                             embeddingGradient(),
                             longEmbeddingGradient(),
                             squares(),
                             squaresBySize(),
                             dropout()};
  std::vector<std::pair<std::string, RowKernel>> kernels;
  kernels.reserve(cases.size());
  for (const Case &benchmark : cases)
    kernels.push_back({benchmark.name, benchmark.kernel});
  double compile = 0;
  SmallVector<char, 0> object;
  for (int run = 0; run < 3; ++run) {
    double start = seconds();
    auto compiled = compileSharedObject(kernels, hostTarget());
    compile = seconds() - start;
    if (!compiled) {
      errs() << toString(compiled.takeError()) << "\n";
      return 1;
    }
    object = std::move(*compiled);
    outs() << format("compile %zu kernels: %.0f ms\n", kernels.size(),
                     compile * 1e3);
  }
  void *library = loadObject(object);
  if (!library) {
    errs() << dlerror() << "\n";
    return 1;
  }
  measure(cases, library);
  return 0;
}
