// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one run of a program communicates, counted from the plan: loops
// included.

#ifndef COLROW_RUNTIME_CORE_STATISTICS_H
#define COLROW_RUNTIME_CORE_STATISTICS_H

#include "colrow/runtime/Plan/Mesh.h"
#include <string>
#include <vector>

namespace colrow::runtime {

/// Collectives of one kind over one list of axes, a run.
struct CollectiveTotal {
  plan::CollectiveKind kind;
  std::string axis; // "tp", or "dp,tp"
  unsigned ranks;
  int64_t count = 0;
  uint64_t payloadBytes = 0; // of the whole tensors
  /// Bytes that a rank sends, by the ring algorithms, times `sentDivisor`:
  /// all-reduce 2 (p-1)/p of the tensor, all-gather and reduce-scatter (p-1)/p,
  /// all-to-all (p-1)/p of a rank's share.
  uint64_t sentNumerator = 0;
  uint64_t sentDivisor = 1;

  double sentBytes() const { return double(sentNumerator) / sentDivisor; }
};

/// In order of first use.
std::vector<CollectiveTotal> collectiveTotals(const plan::Plan &plan,
                                              const plan::Program &program);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_STATISTICS_H
