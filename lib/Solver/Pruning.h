// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which frontier entries can never be part of a best solution.

#ifndef COLROW_LIB_SOLVER_PRUNING_H
#define COLROW_LIB_SOLVER_PRUNING_H

#include "Frontier.h"

#include "llvm/ADT/DenseMap.h"

namespace colrow::solver {

/// Compares entries that differ in the slot of one value only. From slot b on,
/// the value's consumers will want some set X more, and the value will cost
/// tree(b + X); from slot a it would cost tree(a + X). The excess of a over b
/// is the largest difference over all X for which b is feasible. So if a has
/// cost less than b by more than the excess, then b is worse whatever follows,
/// and strictly so: pruning it changes neither the optimum nor ties.
///
/// With X empty: what prunes has the smaller cost plus trees, so entries never
/// prune each other in a circle.
class Pruning {
public:
  explicit Pruning(const DistinctTables &tables)
      : tables(tables), known(tables.numConversions()) {}

  /// Marks entries of `keys` that are superfluous, given what each has cost so
  /// far. `rivals` is Transition::rivals, `conversions` the number of the
  /// conversion table of each live value.
  std::vector<bool> superfluous(const KeySet &keys,
                                llvm::ArrayRef<uint32_t> rivals,
                                llvm::ArrayRef<unsigned> conversions,
                                llvm::ArrayRef<Cost> cost);

private:
  Cost excess(unsigned conversion, Slot a, Slot b);
  void markAt(unsigned position, unsigned conversion, const KeySet &keys,
              llvm::ArrayRef<uint32_t> groups, llvm::ArrayRef<Cost> cost,
              std::vector<bool> &marked);

  const DistinctTables &tables;
  /// For each conversion table the excess of (a, b).
  std::vector<llvm::DenseMap<std::pair<Slot, Slot>, Cost>> known;
};

} // namespace colrow::solver

#endif // COLROW_LIB_SOLVER_PRUNING_H
