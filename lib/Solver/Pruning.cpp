// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dominance between frontier entries.

#include "Pruning.h"

using namespace colrow::solver;

static Cost computeExcess(const ConversionTrees &trees, Slot a, Slot b) {
  Cost excess;
  for (unsigned more = 0; more < trees.numWantedSets(); ++more) {
    Cost ofB = trees.cost(producedOf(b), StateSet(wantedOf(b) | more));
    if (ofB.isInfinite())
      continue;
    Cost difference =
        trees.cost(producedOf(a), StateSet(wantedOf(a) | more)) - ofB;
    if (more == 0 || excess < difference)
      excess = difference;
    if (excess.isInfinite())
      break;
  }
  return excess;
}

Cost Pruning::excess(unsigned conversion, Slot a, Slot b) {
  auto [it, inserted] = known[conversion].try_emplace(std::pair(a, b), Cost{});
  if (inserted)
    it->second = computeExcess(tables.conversions(conversion), a, b);
  return it->second;
}

void Pruning::markAt(unsigned position, unsigned conversion, const KeySet &keys,
                     llvm::ArrayRef<uint32_t> groups, llvm::ArrayRef<Cost> cost,
                     std::vector<bool> &marked) {
  constexpr uint32_t none = -1;
  const ConversionTrees &trees = tables.conversions(conversion);
  // Of the entries that differ only here, the one that would be best if the
  // value had no more consumers is the strongest rival of all others.
  std::vector<uint32_t> best(keys.size(), none);
  std::vector<Cost> bestCost(keys.size(), Cost::infinite());
  for (uint32_t entry = 0; entry < keys.size(); ++entry) {
    Slot slot = keys[entry][position];
    Cost paid =
        cost[entry] + trees.cost(producedOf(slot), StateSet(wantedOf(slot)));
    if (paid < bestCost[groups[entry]]) {
      bestCost[groups[entry]] = paid;
      best[groups[entry]] = entry;
    }
  }
  for (uint32_t entry = 0; entry < keys.size(); ++entry) {
    uint32_t rival = best[groups[entry]];
    if (rival == none || rival == entry || marked[entry])
      continue;
    Cost more =
        excess(conversion, keys[rival][position], keys[entry][position]);
    if (cost[rival] + more < cost[entry])
      marked[entry] = true;
  }
}

std::vector<bool> Pruning::superfluous(const KeySet &keys,
                                       llvm::ArrayRef<uint32_t> rivals,
                                       llvm::ArrayRef<unsigned> conversions,
                                       llvm::ArrayRef<Cost> cost) {
  std::vector<bool> marked(keys.size(), false);
  for (size_t position = 0; position < keys.width; ++position)
    markAt(position, conversions[position], keys,
           rivals.slice(position * keys.size(), keys.size()), cost, marked);
  return marked;
}
