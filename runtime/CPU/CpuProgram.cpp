// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running a rank's instructions.

#include "CpuProgram.h"
#include "colrow/runtime/Support/Clock.h"
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

template <typename T> T CpuProgram::at(const Affine<T> &affine) const {
  T result = affine.base;
  for (unsigned i = 0; i < affine.loops; ++i)
    result += index[i] * affine.strides[i];
  return result;
}

void CpuProgram::runLaunch(const Launch &launch) {
  void **args = pointers.data() + launch.firstPointer;
  int64_t *values = ints.data() + launch.firstInt;
  if (!launch.fixed) {
    for (uint32_t i = 0; i < launch.pointerCount; ++i)
      args[i] = at(addresses[launch.firstPointer + i]);
    for (uint32_t i = 0; i < launch.intCount; ++i)
      values[i] = at(intValues[launch.firstInt + i]);
  }
  launch.kernel(args, values);
}

void CpuProgram::runOne(const Step &step) {
  switch (step.kind) {
  case plan::Op::Gemm: {
    const Gemm &gemm = gemms[step.index];
    return gemm.prepared->run(at(gemm.a), at(gemm.b), at(gemm.c),
                              reinterpret_cast<char *>(workspace.data()));
  }
  case plan::Op::Launch:
    return runLaunch(launches[step.index]);
  case plan::Op::Copy: {
    const Copy &copy = copies[step.index];
    std::memmove(at(copy.dst), at(copy.src), copy.bytes);
    return;
  }
  case plan::Op::Fill: {
    const Fill &fill = fills[step.index];
    std::memset(at(fill.dst), fill.value, fill.bytes);
    return;
  }
  case plan::Op::Collective: {
    Collective &collective = collectives[step.index];
    collective.call.src = at(collective.src);
    collective.call.dst = at(collective.dst);
    return collective.group->run(collective.call);
  }
  default: // record, wait
    return;
  }
}

template <bool traced>
void CpuProgram::runRange(uint32_t begin, uint32_t end, unsigned depth) {
  for (uint32_t i = begin; i < end; ++i) {
    const Step &step = steps[i];
    // Only this thread writes them: others look how far it is.
    status.op.store(i, std::memory_order_relaxed);
    status.executed.store(status.executed.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
    if (step.kind == plan::Op::Loop) {
      const Loop &loop = loops[step.index];
      for (index[depth] = 0; index[depth] < loop.trips; ++index[depth])
        runRange<traced>(i + 1, i + 1 + loop.body, depth + 1);
      i += loop.body;
      continue;
    }
    int64_t start = traced ? steadyNanoseconds() : 0;
    runOne(step);
    if (traced && trace->size() < maxTraceEvents)
      trace->push_back(
          {program.instructions()->Get(i), start, steadyNanoseconds()});
  }
}

void CpuProgram::run() {
  runRange<false>(0, steps.size(), 0);
  status.op.store(-1, std::memory_order_relaxed);
}

void CpuProgram::runTraced(std::vector<TraceEvent> &events) {
  trace = &events;
  runRange<true>(0, steps.size(), 0);
  status.op.store(-1, std::memory_order_relaxed);
}

} // namespace colrow::runtime
