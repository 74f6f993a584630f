// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flops and bytes of work items.

#include "colrow/Cost/WorkItem.h"
#include "colrow/Cost/CostModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <limits>

using namespace colrow;
using namespace colrow::cost;

/// Saturates, so that no shape makes it wrap.
static int64_t product(std::initializer_list<int64_t> factors) {
  __int128 all = 1;
  for (int64_t factor : factors)
    all = std::min<__int128>(all * factor, std::numeric_limits<int64_t>::max());
  return int64_t(all);
}

//===-- Contractions ------------------------------------------------------===//

static int64_t flops(const Gemm &g) {
  return product({2, g.batch, g.m, g.n, g.k});
}

static int64_t memoryBytes(const Gemm &g) {
  return product({g.batch, g.m, g.k, g.aBytes}) +
         product({g.batch, g.k, g.n, g.bBytes}) +
         product({g.batch, g.m, g.n, g.cBytes});
}

/// Pairs of a position and a key that it sees, of one head: position i sees
/// keys up to i, if causal, and the last `window` of those.
static int64_t pairsSeen(const Attention &a) {
  int64_t most = a.window ? std::min(a.window, a.t) : a.t;
  if (!a.causal)
    return product({a.s, most});
  // The first positions see 1, 2, ... keys, until they see the most.
  int64_t ramp = std::min(a.s, most);
  return product({ramp, ramp + 1}) / 2 + product({a.s - ramp, most});
}

/// The forward multiplies q by k and p by v; the gradient q by k again, dy by
/// v, and three products for dq, dk and dv.
static int64_t flops(const Attention &a) {
  int64_t sizes = a.gradient ? 3 * a.d + 2 * a.e : a.d + a.e;
  return product({2, a.batch, a.heads, pairsSeen(a), sizes});
}

/// Reads q, k, v and writes the result and a number a row, whose logarithm is
/// kept; the gradient reads those numbers and dy besides, and writes dq, dk and
/// dv.
static int64_t memoryBytes(const Attention &a) {
  int64_t q = product({a.batch, a.heads, a.s, a.d});
  int64_t k = product({a.batch, a.groups, a.t, a.d});
  int64_t v = product({a.batch, a.groups, a.t, a.e});
  int64_t y = product({a.batch, a.heads, a.s, a.e});
  int64_t rows = product({a.batch, a.heads, a.s});
  return product({a.bytes, (a.gradient ? 2 : 1) * (q + k + v) + y + rows});
}

//===-- Rows and changes --------------------------------------------------===//

static int64_t flops(const Rows &) { return 0; }
static int64_t memoryBytes(const Rows &r) { return r.read + r.written; }
static int64_t flops(const Change &) { return 0; }
static int64_t memoryBytes(const Change &) { return 0; }

int64_t cost::flopsOf(const WorkItem &item) {
  return std::visit([](const auto &work) { return flops(work); }, item);
}

int64_t cost::memoryBytesOf(const WorkItem &item) {
  return std::visit([](const auto &work) { return memoryBytes(work); }, item);
}

int64_t cost::collectivesOf(const WorkItem &item) {
  return std::holds_alternative<Change>(item);
}

int64_t cost::sentBytesOf(const WorkItem &item) {
  const Change *change = std::get_if<Change>(&item);
  if (!change)
    return 0;
  switch (change->kind) {
  case ChangeKind::AllReduce:
    return allReduceBytes(change->bytes, change->ranks);
  case ChangeKind::AllGather:
    return allGatherBytes(change->bytes, change->ranks);
  case ChangeKind::ReduceScatter:
    return reduceScatterBytes(change->bytes, change->ranks);
  case ChangeKind::AllToAll:
    return allToAllBytes(change->bytes, change->ranks);
  }
  return 0;
}

/// Whether the operands of the products of `item` are bf16.
static bool isNarrow(const WorkItem &item) {
  if (const Gemm *gemm = std::get_if<Gemm>(&item))
    return gemm->aBytes == 2 && gemm->bBytes == 2;
  const Attention *attention = std::get_if<Attention>(&item);
  return attention && attention->bytes == 2;
}

int64_t CostModel::workPs(const WorkItem &item) const {
  const Change *change = std::get_if<Change>(&item);
  if (!change)
    return computePs(flopsOf(item), memoryBytesOf(item), isNarrow(item));
  auto [kind, bytes, ranks, stride] = *change;
  switch (kind) {
  case ChangeKind::AllReduce:
    return allReducePs(bytes, ranks, stride);
  case ChangeKind::AllGather:
    return allGatherPs(bytes, ranks, stride);
  case ChangeKind::ReduceScatter:
    return reduceScatterPs(bytes, ranks, stride);
  case ChangeKind::AllToAll:
    return allToAllPs(bytes, ranks, stride);
  }
  return 0;
}

//===-- Text and comparison -----------------------------------------------===//

static std::string text(const Gemm &g) {
  return llvm::formatv("gemm({0}, {1}, {2}, {3}; {4}, {5}, {6})", g.batch, g.m,
                       g.n, g.k, g.aBytes, g.bBytes, g.cBytes);
}
static std::string text(const Attention &a) {
  return llvm::formatv(
      "attention{0}({1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}; {10})",
      a.gradient ? "_grad" : "", a.batch, a.heads, a.groups, a.s, a.t, a.d, a.e,
      a.causal ? "causal" : "full", a.window, a.bytes);
}
static std::string text(const Rows &r) {
  return llvm::formatv("rows({0}, {1})", r.read, r.written);
}
static std::string text(const Change &c) {
  static constexpr llvm::StringLiteral names[] = {
      "all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
  return llvm::formatv("{0}({1}, {2}, {3})", names[unsigned(c.kind)], c.bytes,
                       c.ranks, c.stride);
}

std::string cost::toString(const WorkItem &item) {
  return std::visit([](const auto &work) { return text(work); }, item);
}

static auto tie(const Gemm &g) {
  return std::tie(g.batch, g.m, g.n, g.k, g.aBytes, g.bBytes, g.cBytes);
}
static auto tie(const Attention &a) {
  return std::tie(a.batch, a.heads, a.groups, a.s, a.t, a.d, a.e, a.causal,
                  a.window, a.gradient, a.bytes);
}
static auto tie(const Rows &r) { return std::tie(r.read, r.written); }
static auto tie(const Change &c) {
  return std::tie(c.kind, c.bytes, c.ranks, c.stride);
}

llvm::hash_code cost::hashOf(const WorkItem &item) {
  return std::visit(
      [&](const auto &work) {
        return std::apply(
            [&](const auto &...numbers) {
              return llvm::hash_combine(item.index(), numbers...);
            },
            tie(work));
      },
      item);
}

bool cost::operator==(const Gemm &a, const Gemm &b) { return tie(a) == tie(b); }
bool cost::operator==(const Attention &a, const Attention &b) {
  return tie(a) == tie(b);
}
bool cost::operator==(const Rows &a, const Rows &b) { return tie(a) == tie(b); }
bool cost::operator==(const Change &a, const Change &b) {
  return tie(a) == tie(b);
}
