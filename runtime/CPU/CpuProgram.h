// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program's instructions for a rank that is a thread.

#ifndef COLROW_RUNTIME_CPU_CPUPROGRAM_H
#define COLROW_RUNTIME_CPU_CPUPROGRAM_H

#include "colrow/runtime/CPU/KernelObject.h"
#include "colrow/runtime/Core/Device.h"
#include "colrow/runtime/Libraries/GemmLibraries.h"

namespace colrow::runtime {

/// What instructions call.
struct CpuCode {
  llvm::ArrayRef<Kernel> kernels; // of the plan's table
  const GemmLibraries &libraries;
};

class CpuProgram : public RankProgram {
public:
  /// Decodes a program of a checked plan. Error: a library refuses a matrix
  /// product.
  CpuProgram(const RankContext &context, const CpuCode &code,
             const plan::Program &program, llvm::Error &error);

  void run() override;
  void runTraced(std::vector<TraceEvent> &events) override;

private:
  /// base + sum of loop indices times strides, outermost loop first.
  template <typename T> struct Affine {
    T base;
    unsigned loops = 0;
    int64_t strides[maxLoopDepth] = {};
  };
  using Address = Affine<char *>;

  struct Gemm {
    std::unique_ptr<PreparedGemm> prepared;
    Address a, b, c;
  };
  struct Launch {
    Kernel kernel;
    uint32_t firstPointer, pointerCount, firstInt, intCount;
    bool fixed; // operands are the same in every iteration
  };
  struct Copy {
    Address src, dst;
    uint64_t bytes;
  };
  struct Fill {
    Address dst;
    uint64_t bytes;
    uint8_t value;
  };
  struct Collective {
    Communicator *group;
    CollectiveCall call;
    Address src, dst;
  };
  struct Loop {
    int64_t trips;
    uint32_t body;
  };
  struct Step {
    plan::Op kind;
    uint32_t index; // into the list of its kind
  };

  class Decoder;

  template <typename T> T at(const Affine<T> &affine) const;
  template <bool traced>
  void runRange(uint32_t begin, uint32_t end, unsigned depth);
  void runOne(const Step &step);
  void runLaunch(const Launch &launch);

  const plan::Program &program;
  RankStatus &status;
  std::vector<Step> steps;
  std::vector<Gemm> gemms;
  std::vector<Launch> launches;
  std::vector<Copy> copies;
  std::vector<Fill> fills;
  std::vector<Collective> collectives;
  std::vector<Loop> loops;
  // Operands of launches, and the arrays that are handed to the kernels.
  std::vector<Address> addresses;
  std::vector<Affine<int64_t>> intValues;
  std::vector<void *> pointers;
  std::vector<int64_t> ints;
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> workspace;      // of the largest gemm
  int64_t index[maxLoopDepth] = {}; // of the loops that are running
  std::vector<TraceEvent> *trace = nullptr;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_CPUPROGRAM_H
