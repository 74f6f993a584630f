// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an executor holds: the ranks of this process, their machine, and the
// programs that were opened.

#ifndef COLROW_RUNTIME_CORE_EXECUTORIMPL_H
#define COLROW_RUNTIME_CORE_EXECUTORIMPL_H

#include "InputBlock.h"
#include "RankThreads.h"
#include "colrow/runtime/CPU/CpuDevice.h"
#include "colrow/runtime/Core/Executor.h"
#include "colrow/runtime/Core/Machine.h"
#include <atomic>

namespace colrow::runtime {

struct LoadedProgram::Impl {
  struct Place {
    const plan::Input *input; // as Programs::inputs() has it
    InputBlock block;
  };
  std::vector<std::unique_ptr<RankProgram>> ranks; // of this process
  std::vector<Place> places;
  const char *loss = nullptr, *gradNorm = nullptr, *labels = nullptr;
  plan::DType labelsType = plan::DType::f32;
};

struct Executor::Impl {
  /// One of this process.
  struct Rank {
    Regions regions;
    ScalarBlock scalars; // as the device's memory has them
    Communicators groups;
    std::vector<TraceEvent> events;
  };

  Impl(const plan::Plan &plan, const ExecutorOptions &options)
      : plan(plan), trace(options.trace), monitor(options.monitor),
        network(options.network), networkOptions(options.networkOptions),
        job(options.job ? *options.job : own), mesh(plan),
        mine(job.ranksOf(job.process(), mesh.ranks())), ranks(mine.count),
        threads(mine) {}
  ~Impl() {
    if (monitor)
      monitor->unwatch();
  }

  llvm::Error share();
  llvm::Error connect(MachineMemory memory);
  llvm::Error allocate();
  void watch();
  Rank &of(unsigned rank) { return ranks[rank - mine.first]; }
  /// Where an operand of a program is for a rank of this process.
  char *address(unsigned rank, const plan::Program &program,
                const plan::Operand &operand);
  const char *measure(const Programs &programs, llvm::StringRef role,
                      plan::DType &type);
  llvm::Expected<std::unique_ptr<LoadedProgram>> load(Programs programs);

  const plan::Plan &plan;
  bool trace;
  Monitor *monitor;
  Network *network;
  NetworkOptions networkOptions;
  Job own; // of this process alone
  Job &job;
  Mesh mesh;
  RankRange mine;
  CpuDevice device; // the one target there is
  RegionLayout layout{plan};
  std::shared_ptr<Machine> machine;
  std::unique_ptr<Transport> transport;
  std::vector<Rank> ranks;
  std::vector<std::unique_ptr<LoadedProgram>> programs;
  std::atomic<const LoadedProgram *> running{nullptr}; // last
  RankThreads threads;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_EXECUTORIMPL_H
