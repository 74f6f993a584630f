// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicted times, in integer picoseconds, from integer flops and bytes: a
// roofline for computation and an alpha-beta model of ring algorithms for
// collectives. Times are rounded up, saturate at INT64_MAX, and depend on
// nothing but their arguments and the topology.

#ifndef COLROW_COST_COSTMODEL_H
#define COLROW_COST_COSTMODEL_H

#include "colrow/Cost/Topology.h"
#include "colrow/Cost/WorkItem.h"

#include <cstdint>
#include <utility>

namespace colrow::cost {

/// Bytes that a rank sends in a ring collective over `ranks`, rounded down.
/// Ring algorithms: Patarasuk and Yuan, "Bandwidth optimal all-reduce
/// algorithms for clusters of workstations", 2009.
///
/// 2 (p - 1) bytes / p, where every rank holds `bytes`.
int64_t allReduceBytes(int64_t bytes, unsigned ranks);
/// (p - 1) bytes / p, where `bytes` is the size of the gathered result.
int64_t allGatherBytes(int64_t bytes, unsigned ranks);
/// (p - 1) bytes / p, where `bytes` is the size of the operand.
int64_t reduceScatterBytes(int64_t bytes, unsigned ranks);
/// (p - 1) bytes / p, where `bytes` is what one rank holds before.
int64_t allToAllBytes(int64_t bytes, unsigned ranks);

/// Times on one topology. Collectives run over `ranks` ranks that are \p
/// stride apart (1 on the innermost axis of a mesh; the product of the sizes of
/// the axes inside it on another one), on the innermost level that holds all
/// of them, or on the outermost one. One rank alone costs nothing. Bytes mean
/// what they mean above.
class CostModel {
public:
  explicit CostModel(Topology topology) : topo(std::move(topology)) {}

  const Topology &topology() const { return topo; }

  /// An error if the topology holds fewer than `ranks` ranks.
  llvm::Error checkRanks(uint64_t ranks) const;

  /// The time of a work item: the roofline of what computes, the ring of a
  /// collective.
  int64_t workPs(const WorkItem &item) const;

  /// max(flops / peak, bytes / memory bandwidth), where `bytes` are read from
  /// and written to memory. (Williams et al., "Roofline", 2009.) `narrow`: the
  /// peak is that of products of bf16.
  int64_t computePs(int64_t flops, int64_t bytes, bool narrow = false) const;

  /// 2 (p - 1) alpha + allReduceBytes / bandwidth, and so on with (p - 1)
  /// messages for the others.
  int64_t allReducePs(int64_t bytes, unsigned ranks, unsigned stride = 1) const;
  int64_t allGatherPs(int64_t bytes, unsigned ranks, unsigned stride = 1) const;
  int64_t reduceScatterPs(int64_t bytes, unsigned ranks,
                          unsigned stride = 1) const;
  int64_t allToAllPs(int64_t bytes, unsigned ranks, unsigned stride = 1) const;

private:
  int64_t messagesPs(uint64_t messages, int64_t bytes, unsigned ranks,
                     unsigned stride) const;

  Topology topo;
};

} // namespace colrow::cost

#endif // COLROW_COST_COSTMODEL_H
