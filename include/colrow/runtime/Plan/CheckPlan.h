// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one checker of a plan's tables: for files that are read, and for the pass
// that verifies a plan before it is written.

#ifndef COLROW_RUNTIME_PLAN_CHECKPLAN_H
#define COLROW_RUNTIME_PLAN_CHECKPLAN_H

#include "colrow/runtime/Plan/PlanSchema.h"
#include <optional>
#include <string>

namespace colrow::runtime {

/// The first fault of a plan's tables.
struct PlanFault {
  int program = -1;     ///< index into Plan.programs; -1: none is to blame
  int instruction = -1; ///< index into its instructions; -1: none is to blame
  std::string message;  ///< one line, without the place
};

/// Checks all that runtime/Plan/plan.fbs demands, kernel code apart: after
/// success no instruction, in any iteration on any rank, touches bytes outside
/// its buffers or reads what is not there yet, and collectives meet. Time is
/// n log n in instructions. The tables must have passed the FlatBuffers
/// verifier.
std::optional<PlanFault> checkPlanTables(const plan::Plan &plan);

/// "program train, instruction 3 (tp.add): message".
std::string textOfFault(const plan::Plan &plan, const PlanFault &fault);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_PLAN_CHECKPLAN_H
