// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles kernels, loads them and calls them on vectors.

#ifndef COLROW_TEST_UNIT_KERNEL_HARNESS_H
#define COLROW_TEST_UNIT_KERNEL_HARNESS_H

#include "colrow/Kernel/Compile.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace colrow::kernel {

/// Memory that starts on a 64-byte line, with a guard of unlikely values
/// behind it.
template <typename T> class Buffer {
public:
  explicit Buffer(std::vector<T> values) : count(values.size()) {
    bytes.resize((count + guard) * sizeof(T) + 64);
    std::copy(values.begin(), values.end(), data());
    std::fill_n(data() + count, guard, T(-77));
  }
  Buffer(size_t count, T value) : Buffer(std::vector<T>(count, value)) {}

  T *data() {
    auto address = reinterpret_cast<uintptr_t>(bytes.data());
    return reinterpret_cast<T *>((address + 63) & ~uintptr_t(63));
  }
  T &operator[](size_t i) { return data()[i]; }
  size_t size() const { return count; }
  bool guardIsWhole() {
    return std::all_of(data() + count, data() + count + guard,
                       [](T value) { return value == T(-77); });
  }

private:
  static constexpr size_t guard = 64;
  size_t count;
  std::vector<char> bytes;
};

using Floats = Buffer<float>;

/// Uniform in [low, high), the same for each seed.
std::vector<float> randomFloats(size_t count, float low, float high,
                                unsigned seed = 1);

/// The host, and older machines whose code it runs: one vector register of each
/// size that x86 has.
std::vector<Target> testTargets();

/// One compiled kernel.
class Compiled {
public:
  /// Compiles for the host; a failure to build or compile fails the test.
  explicit Compiled(RowKernelBuilder &builder);
  explicit Compiled(llvm::Expected<RowKernel> kernel,
                    const Target &target = hostTarget());
  Compiled(const Compiled &) = delete;
  ~Compiled();

  void call(std::vector<void *> pointers, std::vector<int64_t> ints = {});
  template <typename... T> void operator()(T &...buffers) {
    call({static_cast<void *>(buffers.data())...});
  }
  llvm::ArrayRef<char> object() const { return bytes; }

private:
  void load(llvm::Expected<RowKernel> kernel, const Target &target);

  llvm::SmallVector<char, 0> bytes;
  void *library = nullptr;
  KernelFunction function = nullptr;
};

/// |found - wanted| <= relative * |wanted| + absolute; equal infinities and
/// NaN on both sides are near.
::testing::AssertionResult isNear(double found, double wanted, double relative,
                                  double absolute = 0);

#define EXPECT_CLOSE(found, wanted, ...)                                       \
  EXPECT_TRUE(isNear(found, wanted, __VA_ARGS__))
#define ASSERT_CLOSE(found, wanted, ...)                                       \
  ASSERT_TRUE(isNear(found, wanted, __VA_ARGS__))

} // namespace colrow::kernel

#endif // COLROW_TEST_UNIT_KERNEL_HARNESS_H
