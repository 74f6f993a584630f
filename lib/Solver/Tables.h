// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of a problem by content: tables of equal content get one number,
// so that nodes of identical layers look identical whoever built them.

#ifndef COLROW_LIB_SOLVER_TABLES_H
#define COLROW_LIB_SOLVER_TABLES_H

#include "colrow/Solver/Solver.h"

namespace colrow::solver {

class DistinctTables {
public:
  explicit DistinctTables(const Problem &problem);

  /// The number of the choice table `index` of the problem.
  unsigned choiceId(unsigned index) const { return choiceIds[index]; }
  /// The number of the conversion table `index` of the problem.
  unsigned conversionId(unsigned index) const { return conversionIds[index]; }

  llvm::ArrayRef<Choice> choices(unsigned id) const { return *distinct[id]; }
  unsigned numConversions() const { return trees.size(); }
  const ConversionTrees &conversions(unsigned id) const { return trees[id]; }

private:
  std::vector<unsigned> choiceIds, conversionIds;
  std::vector<const std::vector<Choice> *> distinct;
  std::vector<ConversionTrees> trees;
};

} // namespace colrow::solver

#endif // COLROW_LIB_SOLVER_TABLES_H
