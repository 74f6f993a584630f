// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives between the ranks of a group. Two transports exist: shared memory
// within a machine (SharedMemory.h), and messages between machines beside it
// (NetworkTransport.h). NCCL fits the same interface.
//
// Sums are bracketed by the mesh's axes: over the innermost axis of the group
// first, in rank order, then those sums over the next. So a result is equal to
// the bit on all ranks, in every run and over every transport.

#ifndef COLROW_RUNTIME_CORE_COMMUNICATOR_H
#define COLROW_RUNTIME_CORE_COMMUNICATOR_H

#include "colrow/runtime/Plan/PlanSchema.h"
#include "llvm/ADT/ArrayRef.h"
#include <memory>

namespace colrow::runtime {

/// One collective with its addresses resolved; fields as in plan.Collective.
/// Valid by checkPlanTables(): positive sizes, source and destination apart
/// (for an all-reduce also equal).
struct CollectiveCall {
  plan::CollectiveKind kind;
  plan::Reduction reduction;
  plan::DType dtype;
  int64_t count, outer, block, total;
  const void *src;
  void *dst;
};

/// A rank's membership in one group.
class Communicator {
public:
  virtual ~Communicator() = default;
  /// Runs one collective; every member calls with equal arguments, addresses
  /// apart. On return dst is complete and src may be overwritten; neither holds
  /// when the job has failed meanwhile.
  virtual void run(const CollectiveCall &call) = 0;
};

/// Makes communicators. All of a rank's are made before the first step.
class Transport {
public:
  virtual ~Transport() = default;
  /// Group of `rank`: the ranks that differ from it on `axes` only, ordered by
  /// their coordinates, `axes` from major to minor. Equal lists share a group.
  virtual std::unique_ptr<Communicator>
  communicator(unsigned rank, llvm::ArrayRef<uint8_t> axes) = 0;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_COMMUNICATOR_H
