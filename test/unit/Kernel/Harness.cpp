// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading of compiled kernels for tests.

#include "Harness.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <dlfcn.h>

namespace colrow::kernel {

std::vector<float> randomFloats(size_t count, float low, float high,
                                unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> result(count);
  for (float &value : result)
    value = distribution(generator);
  return result;
}

std::vector<Target> testTargets() {
  std::string triple = hostTarget().triple;
  std::vector<Target> result = {hostTarget(), {triple, "x86-64", ""}};
  if (vectorLanes(hostTarget()) >= 8)
    result.push_back({triple, "haswell", "+avx,+avx2,+bmi,+bmi2,+fma"});
  return result;
}

Compiled::Compiled(RowKernelBuilder &builder) {
  load(builder.finish(), hostTarget());
}

Compiled::Compiled(llvm::Expected<RowKernel> kernel, const Target &target) {
  load(std::move(kernel), target);
}

Compiled::~Compiled() {
  if (library)
    dlclose(library);
}

void Compiled::load(llvm::Expected<RowKernel> kernel, const Target &target) {
  if (!kernel)
    FAIL() << llvm::toString(kernel.takeError());
  // Every kernel that a test makes reads back what it prints.
  auto parsed = parseKernel(kernel->canonical());
  if (!parsed)
    FAIL() << llvm::toString(parsed.takeError());
  EXPECT_TRUE(*parsed == *kernel) << kernel->canonical();
  auto object = compileSharedObject({{"kernel", *kernel}}, target);
  if (!object)
    FAIL() << llvm::toString(object.takeError());
  bytes = std::move(*object);
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("kernel-test", "so", path));
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  os.write(bytes.data(), bytes.size());
  os.close();
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  (void)llvm::sys::fs::remove(path);
  ASSERT_TRUE(library) << dlerror();
  function = reinterpret_cast<KernelFunction>(dlsym(library, "kernel"));
  ASSERT_TRUE(function);
}

void Compiled::call(std::vector<void *> pointers, std::vector<int64_t> ints) {
  ASSERT_TRUE(function);
  function(pointers.data(), ints.data());
}

::testing::AssertionResult isNear(double found, double wanted, double relative,
                                  double absolute) {
  bool same = found == wanted || (std::isnan(found) && std::isnan(wanted));
  if (same ||
      std::fabs(found - wanted) <= relative * std::fabs(wanted) + absolute)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "found " << found << ", wanted " << wanted << ", relative "
         << std::fabs(found - wanted) / std::fabs(wanted);
}

} // namespace colrow::kernel
