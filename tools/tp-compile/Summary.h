// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tp-compile tells a person about the plan it made.

#ifndef COLROW_TOOLS_TP_COMPILE_SUMMARY_H
#define COLROW_TOOLS_TP_COMPILE_SUMMARY_H

#include "colrow/Cost/Topology.h"
#include "colrow/runtime/Plan/PlanSchema.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace colrow {

/// Prints parameters, layouts, collectives a step with bytes, and memory a rank
/// of the plan that is to be written to `path`; then what a user should know
/// before running it: mesh axes over which nothing is split, and a rank that
/// needs more memory than one of `topology` has.
void printSummary(llvm::StringRef path, const plan::Plan &plan,
                  const cost::Topology &topology, llvm::raw_ostream &os);

} // namespace colrow

#endif // COLROW_TOOLS_TP_COMPILE_SUMMARY_H
