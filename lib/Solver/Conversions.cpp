// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cheapest conversion trees for all produced states and wanted sets.

#include "colrow/Solver/Conversions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/bit.h"

using namespace colrow::solver;

ConversionTrees::ConversionTrees(const ConversionTable &table)
    : numStates(table.numStates), numSets(1u << table.numStates),
      best(size_t(numStates) * numSets, Cost::infinite()),
      cover(best.size(), 0), lastEdge(best.size(), Conversion{0, 0}) {
  findFree(table);
  for (unsigned root = 0; root < numStates; ++root) {
    growFrom(table, root);
    coverSubsets(root);
  }
}

void ConversionTrees::findFree(const ConversionTable &table) {
  for (unsigned state = 0; state < numStates; ++state)
    free.push_back(StateSet(1u << state));
  // Paths of one more edge each time; none has more edges than states.
  for (unsigned length = 0; length < numStates; ++length)
    for (unsigned from = 0; from < numStates; ++from)
      for (unsigned to = 0; to < numStates; ++to)
        if (table.at(from, to) == Cost{})
          free[from] |= free[to];
}

/// Fills `best` of each set with the cheapest tree over exactly that set. Sets
/// only grow, so increasing numbers visit each set after its subsets.
void ConversionTrees::growFrom(const ConversionTable &table, unsigned root) {
  Cost *exact = &best[root * numSets];
  exact[1u << root] = Cost{};
  for (unsigned set = 0; set < numSets; ++set) {
    if (exact[set].isInfinite())
      continue;
    for (unsigned from = 0; from < numStates; ++from) {
      for (unsigned to = 0; to < numStates; ++to) {
        if (!(set >> from & 1) || (set >> to & 1))
          continue;
        unsigned grown = set | 1u << to;
        Cost cost = exact[set] + table.at(from, to);
        if (!(cost < exact[grown]))
          continue;
        exact[grown] = cost;
        lastEdge[root * numSets + grown] = {uint8_t(from), uint8_t(to)};
      }
    }
  }
}

/// Turns the cost of exact sets into that of wanted sets: each takes the best
/// exact set that contains it, smaller ones first.
void ConversionTrees::coverSubsets(unsigned root) {
  std::vector<Cost> exact(best.begin() + root * numSets,
                          best.begin() + (root + 1) * numSets);
  llvm::SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, numSets));
  llvm::sort(order, [](unsigned a, unsigned b) {
    return std::pair(llvm::popcount(a), a) < std::pair(llvm::popcount(b), b);
  });
  std::fill_n(best.begin() + root * numSets, numSets, Cost::infinite());
  for (unsigned set : order) {
    if (exact[set].isInfinite())
      continue;
    for (unsigned wanted = set;; wanted = (wanted - 1) & set) {
      if (exact[set] < best[root * numSets + wanted]) {
        best[root * numSets + wanted] = exact[set];
        cover[root * numSets + wanted] = StateSet(set);
      }
      if (wanted == 0)
        break;
    }
  }
}

llvm::SmallVector<Conversion, 4> ConversionTrees::edges(unsigned produced,
                                                        StateSet wanted) const {
  llvm::SmallVector<Conversion, 4> tree;
  if (cost(produced, wanted).isInfinite())
    return tree;
  unsigned set = cover[produced * numSets + wanted];
  while (set != 1u << produced) {
    Conversion edge = lastEdge[produced * numSets + set];
    tree.push_back(edge);
    set &= ~(1u << edge.to);
  }
  std::reverse(tree.begin(), tree.end());
  return tree;
}
