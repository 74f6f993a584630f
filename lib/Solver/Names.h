// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors that name a node.

#ifndef COLROW_LIB_SOLVER_NAMES_H
#define COLROW_LIB_SOLVER_NAMES_H

#include "colrow/Solver/Solver.h"

#include "llvm/ADT/Twine.h"

namespace colrow::solver {

std::string nameOf(const Options &options, unsigned node);

/// An error of one line, "NODE: message".
llvm::Error errorAt(const Options &options, unsigned node,
                    const llvm::Twine &message);

} // namespace colrow::solver

#endif // COLROW_LIB_SOLVER_NAMES_H
