// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether this machine can run a plan's kernels. The caller links LLVM's
// TargetParser (or the shared LLVM).

#ifndef COLROW_RUNTIME_CPU_HOSTCPU_H
#define COLROW_RUNTIME_CPU_HOSTCPU_H

#include "colrow/runtime/Plan/PlanSchema.h"
#include "llvm/Support/Error.h"

namespace colrow::runtime {

/// Error when the plan needs a CPU feature that this machine lacks.
llvm::Error checkHostCpu(const plan::Plan &plan);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_HOSTCPU_H
