// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan's instructions call on a CPU.

#include "colrow/runtime/CPU/CpuDevice.h"
#include "CpuProgram.h"
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

Error CpuDevice::load(const plan::Plan &plan, unsigned ranks) {
  if (Error error = findKernels(plan))
    return error;
  auto opened = GemmLibraries::open(gemmTypesOf(plan), ranks);
  if (!opened)
    return opened.takeError();
  gemms = std::move(*opened);
  return Error::success();
}

Error CpuDevice::findKernels(const plan::Plan &plan) {
  auto loaded = KernelObject::load(listOf(plan.object()));
  if (!loaded)
    return loaded.takeError();
  object = std::move(*loaded);
  if (!plan.kernels())
    return Error::success();
  for (const plan::Kernel *kernel : *plan.kernels()) {
    Expected<Kernel> found = object->find(textOf(kernel->symbol()));
    if (!found)
      return found.takeError();
    kernels.push_back(*found);
  }
  return Error::success();
}

Expected<Regions> CpuDevice::allocate(const plan::Plan &plan,
                                      const RegionLayout &layout,
                                      Machine &machine, unsigned rank,
                                      function_ref<void()> progress) {
  if (Error error = machine.populate(rank, progress))
    return std::move(error);
  return layout.in(machine.arena(rank), listOf(plan.constants()).data());
}

Expected<std::unique_ptr<RankProgram>>
CpuDevice::prepare(const RankContext &context, const plan::Program &program) {
  Error error = Error::success();
  auto result = std::make_unique<CpuProgram>(context, CpuCode{kernels, *gemms},
                                             program, error);
  if (error)
    return std::move(error);
  return std::move(result);
}

void CpuDevice::write(char *to, const void *from, size_t bytes) {
  std::memcpy(to, from, bytes);
}

void CpuDevice::read(void *to, const char *from, size_t bytes) const {
  std::memcpy(to, from, bytes);
}

} // namespace colrow::runtime
