// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roofline and alpha-beta times.

#include "colrow/Cost/CostModel.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

using namespace colrow::cost;

static constexpr int64_t maxPs = std::numeric_limits<int64_t>::max();

/// multiple * (ranks - 1) * bytes / ranks, exact in between.
static int64_t ringBytes(unsigned multiple, int64_t bytes, unsigned ranks) {
  assert(bytes >= 0 && ranks >= 1 && "no negative sizes, no empty groups");
  __int128 sent = __int128(multiple) * (ranks - 1) * bytes / ranks;
  return int64_t(std::min<__int128>(sent, maxPs));
}

int64_t colrow::cost::allReduceBytes(int64_t bytes, unsigned ranks) {
  return ringBytes(2, bytes, ranks);
}
int64_t colrow::cost::allGatherBytes(int64_t bytes, unsigned ranks) {
  return ringBytes(1, bytes, ranks);
}
int64_t colrow::cost::reduceScatterBytes(int64_t bytes, unsigned ranks) {
  return ringBytes(1, bytes, ranks);
}
int64_t colrow::cost::allToAllBytes(int64_t bytes, unsigned ranks) {
  return ringBytes(1, bytes, ranks);
}

/// Rounds up to an integer, at most maxPs.
static int64_t roundUp(double ps) {
  ps = std::ceil(ps);
  // The double nearest to the largest int64_t lies above it.
  return ps < double(maxPs) ? int64_t(ps) : maxPs;
}

/// The time of an amount at a rate per second. Multiplied first, so that whole
/// picoseconds come out exact.
static double picoseconds(double amount, double rate) {
  return amount * 1e12 / rate;
}

llvm::Error CostModel::checkRanks(uint64_t ranks) const {
  if (ranks <= topo.levels.back().ranks)
    return llvm::Error::success();
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      llvm::formatv("the mesh has {0} ranks, but topology '{1}' holds {2} "
                    "(level '{3}'); use a smaller mesh or another topology",
                    ranks, topo.name, topo.levels.back().ranks,
                    topo.levels.back().name));
}

int64_t CostModel::computePs(int64_t flops, int64_t bytes, bool narrow) const {
  double peak = narrow && topo.flopsPerSecondBf16 > 0 ? topo.flopsPerSecondBf16
                                                      : topo.flopsPerSecondF32;
  return roundUp(
      std::max(picoseconds(double(flops), peak),
               picoseconds(double(bytes), topo.memoryBytesPerSecond)));
}

int64_t CostModel::messagesPs(uint64_t messages, int64_t bytes, unsigned ranks,
                              unsigned stride) const {
  uint64_t span = uint64_t(ranks) * stride;
  const Topology::Level *level = topo.levels.begin();
  while (level->ranks < span && level + 1 != topo.levels.end())
    ++level;
  return roundUp(double(messages) * (level->latencySeconds * 1e12) +
                 picoseconds(double(bytes), level->bytesPerSecond));
}

int64_t CostModel::allReducePs(int64_t bytes, unsigned ranks,
                               unsigned stride) const {
  return messagesPs(2 * uint64_t(ranks - 1), allReduceBytes(bytes, ranks),
                    ranks, stride);
}
int64_t CostModel::allGatherPs(int64_t bytes, unsigned ranks,
                               unsigned stride) const {
  return messagesPs(ranks - 1, allGatherBytes(bytes, ranks), ranks, stride);
}
int64_t CostModel::reduceScatterPs(int64_t bytes, unsigned ranks,
                                   unsigned stride) const {
  return messagesPs(ranks - 1, reduceScatterBytes(bytes, ranks), ranks, stride);
}
int64_t CostModel::allToAllPs(int64_t bytes, unsigned ranks,
                              unsigned stride) const {
  return messagesPs(ranks - 1, allToAllBytes(bytes, ranks), ranks, stride);
}
