// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frontier of the elimination: which values are live between two nodes and
// in which combinations of states. A node takes the entries of one frontier to
// those of the next. Which entries lead where, and at which extra cost, does
// not depend on what they have cost so far; so a transition is computed once
// for all nodes that look alike, in whatever layer, and only costs are computed
// for each of them.

#ifndef COLROW_LIB_SOLVER_FRONTIER_H
#define COLROW_LIB_SOLVER_FRONTIER_H

#include "Tables.h"

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

namespace colrow::solver {

/// What the frontier remembers of one live value: the state it is produced in,
/// and above it the set of other states it is already wanted in.
using Slot = uint32_t;

inline Slot makeSlot(unsigned produced, unsigned wanted) {
  return produced | (wanted & ~(1u << produced)) << 16;
}
inline unsigned producedOf(Slot slot) { return slot & 0xffff; }
inline unsigned wantedOf(Slot slot) { return slot >> 16; }

/// A set of frontier entries, each one slot a live value, in order of
/// insertion.
class KeySet {
public:
  explicit KeySet(unsigned width) : width(width) {}

  uint32_t size() const { return count; }
  llvm::ArrayRef<Slot> operator[](uint32_t entry) const {
    return {slots.data() + size_t(entry) * width, width};
  }
  /// The index of `key`, inserted at the end if it is new.
  uint32_t insert(llvm::ArrayRef<Slot> key);
  std::optional<uint32_t> find(llvm::ArrayRef<Slot> key) const;

  bool operator==(const KeySet &other) const {
    return width == other.width && count == other.count && slots == other.slots;
  }
  size_t hash() const;

  const unsigned width;

private:
  /// The bucket that holds `key` or is free for it.
  size_t bucketOf(llvm::ArrayRef<Slot> key) const;
  void grow();

  uint32_t count = 0;
  std::vector<Slot> slots;
  /// Open addressing over a power of two of buckets; entry + 1, or 0 if free.
  std::vector<uint32_t> buckets;
};

/// What the elimination of a node does to the frontier, relative to positions:
/// nodes of different layers with equal steps share their transitions.
struct Step {
  struct Operand {
    unsigned position;
    /// Number of the value's conversion table.
    unsigned conversion;
    /// This node is its last consumer: it pays its tree and leaves.
    bool dies;
  };
  unsigned choiceTable;
  /// Distinct values among the operands, by position.
  llvm::SmallVector<Operand, 4> values;
  /// For each operand of the node its index in `values`.
  llvm::SmallVector<unsigned, 4> operands;
  /// For each result whether it has consumers, and so enters the frontier.
  llvm::SmallVector<bool, 2> resultLives;
};

/// Where the entries of a frontier go.
struct Transition {
  struct Edge {
    uint32_t from, choice, to;
    /// The choice's cost and the trees of the values that leave.
    Cost cost;
  };
  /// Frontier set that the edges lead to, before pruning.
  unsigned target = 0;
  /// By increasing `from`. Of the choices that lead from one entry to the same
  /// entry only the best is kept, the first of equals.
  std::vector<Edge> edges;
  /// For each position and entry, at [position * entries + entry], a number
  /// below the number of entries; equal for entries that differ at most at that
  /// position.
  std::vector<uint32_t> rivals;
};

/// All frontier sets and transitions that were met, each once.
class Transitions {
public:
  Transitions(const DistinctTables &tables, uint64_t maxTable);

  /// The set without live values: one empty entry.
  unsigned emptyFrontier() { return intern(KeySet(keysOfNothing())); }
  const KeySet &keys(unsigned set) const { return sets[set]; }
  unsigned intern(KeySet keys);

  /// The transition of `step` from the set `from`, computed unless known;
  /// null if its target is larger than maxTable.
  const Transition *get(unsigned from, const Step &step);

  uint64_t computed() const { return numComputed; }

private:
  static KeySet keysOfNothing();

  const DistinctTables &tables;
  uint64_t maxTable, numComputed = 0;
  std::deque<KeySet> sets;
  std::unordered_multimap<size_t, unsigned> setsByHash;
  std::map<std::vector<unsigned>, Transition> known;
};

} // namespace colrow::solver

#endif // COLROW_LIB_SOLVER_FRONTIER_H
