// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan's instructions for one rank, addresses resolved, ready to run.
// Invariant: run() neither allocates nor looks anything up.

#ifndef COLROW_RUNTIME_CORE_RANKPROGRAM_H
#define COLROW_RUNTIME_CORE_RANKPROGRAM_H

#include "colrow/runtime/Communicator.h"
#include "colrow/runtime/Executor.h"
#include "colrow/runtime/KernelObject.h"
#include <map>

namespace colrow::runtime {

constexpr unsigned maxLoopDepth = 4;

/// Starts of a rank's regions, indexed by plan::Region.
struct Regions {
  char *start[5] = {};
};

class RankProgram {
public:
  /// Decodes a validated plan. Error: a kernel is missing.
  static llvm::Expected<std::unique_ptr<RankProgram>>
  create(const plan::Plan &plan, const Regions &regions,
         const KernelObject &kernels, Transport &transport, unsigned rank);

  void run();
  /// The same, recording events.
  void runTraced();

  llvm::ArrayRef<TraceEvent> events() const { return trace; }

private:
  /// base + sum of loop indices times strides.
  template <typename T> struct Affine {
    T base;
    unsigned loops = 0;
    int64_t strides[maxLoopDepth] = {};
  };
  using Address = Affine<char *>;

  struct Gemm {
    int m, n, k, lda, ldb, ldc;
    bool transA, transB;
    float alpha, beta;
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

  template <typename T> T at(const Affine<T> &affine) const;
  template <bool traced = false>
  void runRange(uint32_t begin, uint32_t end, unsigned depth);
  void runOne(const Step &step);
  void runGemm(const Gemm &gemm);
  void runLaunch(const Launch &launch);

  Address decode(const plan::Operand &operand) const;
  llvm::Error decode(const plan::Instruction &instruction,
                     const KernelObject &kernels);
  llvm::Error decodeLaunch(const plan::Launch &launch,
                           const KernelObject &kernels);
  void decodeCollective(const plan::Collective &collective,
                        Transport &transport, unsigned rank);

  Regions regions;
  std::vector<Step> code;
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
  std::map<std::vector<uint8_t>, std::unique_ptr<Communicator>> groups;
  int64_t index[maxLoopDepth] = {}; // of the loops that are running
  std::vector<TraceEvent> trace;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_RANKPROGRAM_H
