// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the executor needs of the hardware that computes: memory, kernels and
// library calls of a process' ranks. How ranks talk is a Transport's.

#ifndef COLROW_RUNTIME_CORE_DEVICE_H
#define COLROW_RUNTIME_CORE_DEVICE_H

#include "colrow/runtime/Core/Communicator.h"
#include "colrow/runtime/Core/Machine.h"
#include "colrow/runtime/Core/RankMemory.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <string>
#include <vector>

namespace colrow::runtime {

struct TraceEvent {
  const plan::Instruction *instruction;
  int64_t begin, end; // nanoseconds of the steady clock
};

/// A rank's groups by their axes: programs share them.
using Communicators =
    std::map<std::vector<uint8_t>, std::unique_ptr<Communicator>>;

/// What the programs of a rank have in common.
struct RankContext {
  const plan::Plan &plan;
  const Mesh &mesh;
  unsigned rank;
  Regions regions;
  Transport &transport;
  Communicators &groups;
  RankStatus &status; // to be kept while a program runs
};

/// A program's instructions for one rank, addresses resolved. Invariant:
/// running it neither allocates nor looks anything up.
class RankProgram {
public:
  /// Most events that are recorded.
  static constexpr size_t maxTraceEvents = size_t(1) << 20;

  virtual ~RankProgram() = default;
  virtual void run() = 0;
  /// The same, recording in `events` until there are as many.
  virtual void runTraced(std::vector<TraceEvent> &events) = 0;
};

class Device {
public:
  virtual ~Device() = default;

  /// Loads the plan's kernels and opens the libraries that its instructions
  /// call, for as many threads as ranks. Errors: one of them is missing or of
  /// no use here.
  virtual llvm::Error load(const plan::Plan &plan, unsigned ranks) = 0;

  /// The libraries that compute, with the code paths chosen for this device:
  /// runs whose lines are equal are equal to the bit. Empty for none.
  virtual const std::string &libraries() const = 0;

  /// Bytes of a rank's memory that are the host's, and that the machine's
  /// processes share: those of its arena in Machine.
  virtual uint64_t hostBytes(const RegionLayout &layout) const = 0;

  /// Takes the memory of one of this process' ranks, zeroed, from the rank's
  /// own thread; calls `progress` now and then. Error: there is not enough.
  virtual llvm::Expected<Regions>
  allocate(const plan::Plan &plan, const RegionLayout &layout, Machine &machine,
           unsigned rank, llvm::function_ref<void()> progress) = 0;

  /// Prepares a program of a checked plan for a rank. Error: a library refuses
  /// an instruction.
  virtual llvm::Expected<std::unique_ptr<RankProgram>>
  prepare(const RankContext &context, const plan::Program &program) = 0;

  /// Copies between the host and a rank's memory, between runs.
  virtual void write(char *to, const void *from, size_t bytes) = 0;
  virtual void read(void *to, const char *from, size_t bytes) const = 0;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_DEVICE_H
