// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between the states of one value, and the cheapest way to have it
// in several states at once. A value is produced in one state and converted at
// most once to each other state; conversions chain. What is paid for a value is
// therefore a tree of conversions (an arborescence) that starts at the state it
// is produced in and reaches all states that its consumers want.

#ifndef COLROW_SOLVER_CONVERSIONS_H
#define COLROW_SOLVER_CONVERSIONS_H

#include "colrow/Solver/Cost.h"

#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace colrow::solver {

/// The most states that one value can have. Trees are tabulated for all sets of
/// a value's states, so a value with as many takes a second.
inline constexpr unsigned maxStates = 16;

/// A set of states: bit s stands for state s.
using StateSet = uint16_t;

/// What it costs to convert a value directly from one state to another, the
/// conversion's conjugate in the backward pass included.
struct ConversionTable {
  /// At most maxStates.
  unsigned numStates = 0;
  /// numStates * numStates costs, at [from * numStates + to]. Not negative;
  /// zero where from == to; infinite where there is no such conversion.
  std::vector<Cost> cost;

  const Cost &at(unsigned from, unsigned to) const {
    return cost[from * numStates + to];
  }
};

/// One conversion of a value.
struct Conversion {
  uint8_t from, to;
};

inline bool operator==(const Conversion &a, const Conversion &b) {
  return a.from == b.from && a.to == b.to;
}

/// The cheapest conversion trees of one (valid) table, for every state a value
/// is produced in and every set of wanted states, computed once.
///
/// A tree is grown by one state at a time, so the cheapest tree that holds
/// exactly the states S is the cheapest one that holds S minus one of them plus
/// the best edge to it; a wanted set takes the best S that contains it.
class ConversionTrees {
public:
  explicit ConversionTrees(const ConversionTable &table);

  /// Sum of the cheapest tree from `produced` to all of `wanted`, which may
  /// or may not contain `produced`. Infinite if a state cannot be reached.
  const Cost &cost(unsigned produced, StateSet wanted) const {
    return best[produced * numSets + wanted];
  }

  /// The conversions of that tree, each after the one that makes its source.
  /// Every state is the target of at most one. Of equally cheap trees the one
  /// with the smallest set of states, as a number, among those with the fewest
  /// states is taken. Empty if a state cannot be reached.
  llvm::SmallVector<Conversion, 4> edges(unsigned produced,
                                         StateSet wanted) const;

  /// `wanted` and all states that come for nothing with it: those that edges of
  /// no cost reach from it or from `produced`. Whatever is wanted besides costs
  /// the same.
  StateSet closed(unsigned produced, StateSet wanted) const {
    StateSet all = free[produced];
    for (unsigned state = 0; state < numStates; ++state)
      if (wanted >> state & 1)
        all |= free[state];
    return all;
  }

  /// The number of wanted sets, those that include the produced state counted.
  unsigned numWantedSets() const { return numSets; }

private:
  void findFree(const ConversionTable &table);
  void growFrom(const ConversionTable &table, unsigned root);
  void coverSubsets(unsigned root);

  unsigned numStates, numSets;
  /// For each state itself and what edges of no cost reach from it.
  std::vector<StateSet> free;
  /// All indexed [root * numSets + set]: the cost of the cheapest tree that
  /// reaches the set, the exact states of that tree, and for exact sets the
  /// edge that was added last.
  std::vector<Cost> best;
  std::vector<StateSet> cover;
  std::vector<Conversion> lastEdge;
};

} // namespace colrow::solver

#endif // COLROW_SOLVER_CONVERSIONS_H
