// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU: a thread a rank, memory of the machine, kernels that the plan
// carries, matrix products by libraries.

#ifndef COLROW_RUNTIME_CPU_CPUDEVICE_H
#define COLROW_RUNTIME_CPU_CPUDEVICE_H

#include "colrow/runtime/CPU/KernelObject.h"
#include "colrow/runtime/Core/Device.h"
#include "colrow/runtime/Libraries/GemmLibraries.h"

namespace colrow::runtime {

class CpuDevice : public Device {
public:
  llvm::Error load(const plan::Plan &plan, unsigned ranks) override;
  const std::string &libraries() const override { return gemms->description(); }
  uint64_t hostBytes(const RegionLayout &layout) const override {
    return layout.bytes();
  }
  llvm::Expected<Regions>
  allocate(const plan::Plan &plan, const RegionLayout &layout, Machine &machine,
           unsigned rank, llvm::function_ref<void()> progress) override;
  llvm::Expected<std::unique_ptr<RankProgram>>
  prepare(const RankContext &context, const plan::Program &program) override;
  void write(char *to, const void *from, size_t bytes) override;
  void read(void *to, const char *from, size_t bytes) const override;

private:
  llvm::Error findKernels(const plan::Plan &plan);

  std::unique_ptr<KernelObject> object;
  std::vector<Kernel> kernels;
  std::unique_ptr<GemmLibraries> gemms;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_CPUDEVICE_H
