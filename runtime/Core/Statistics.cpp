// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counting the collectives of a program.

#include "colrow/runtime/Core/Statistics.h"
#include "colrow/runtime/Plan/DType.h"

using namespace llvm;

namespace colrow::runtime {

/// Bytes of the whole tensor, from the sizes where the plan does not say.
static uint64_t payloadOf(const plan::Collective &c, uint64_t ranks) {
  if (c.payload_bytes())
    return c.payload_bytes();
  uint64_t item = elementBytes(c.dtype());
  switch (c.kind()) {
  case plan::CollectiveKind::all_reduce:
    return c.count() * item;
  case plan::CollectiveKind::all_to_all:
    return ranks * ranks * c.outer() * c.block() * item;
  default:
    return c.outer() * c.total() * item;
  }
}

static void add(std::vector<CollectiveTotal> &totals, const Mesh &mesh,
                const plan::Collective &c, int64_t times) {
  std::string axis = mesh.axisNames(listOf(c.axes()));
  auto found = find_if(totals, [&](const CollectiveTotal &total) {
    return total.kind == c.kind() && total.axis == axis;
  });
  if (found == totals.end()) {
    totals.push_back({c.kind(), axis, mesh.groupSize(listOf(c.axes()))});
    found = std::prev(totals.end());
  }
  uint64_t ranks = found->ranks;
  uint64_t payload = payloadOf(c, ranks) * times;
  found->count += times;
  found->payloadBytes += payload;
  uint64_t factor = c.kind() == plan::CollectiveKind::all_reduce ? 2 : 1;
  found->sentNumerator += factor * (ranks - 1) * payload;
  found->sentDivisor =
      c.kind() == plan::CollectiveKind::all_to_all ? ranks * ranks : ranks;
}

static void addRange(std::vector<CollectiveTotal> &totals, const Mesh &mesh,
                     const plan::Program &program, uint32_t begin, uint32_t end,
                     int64_t times) {
  for (uint32_t i = begin; i < end; ++i) {
    const plan::Instruction *instruction = program.instructions()->Get(i);
    if (const plan::Loop *loop = instruction->op_as_Loop()) {
      addRange(totals, mesh, program, i + 1, i + 1 + loop->body(),
               times * loop->trips());
      i += loop->body();
    } else if (const plan::Collective *c = instruction->op_as_Collective()) {
      add(totals, mesh, *c, times);
    }
  }
}

std::vector<CollectiveTotal> collectiveTotals(const plan::Plan &plan,
                                              const plan::Program &program) {
  std::vector<CollectiveTotal> totals;
  if (program.instructions())
    addRange(totals, Mesh(plan), program, 0, program.instructions()->size(), 1);
  return totals;
}

} // namespace colrow::runtime
