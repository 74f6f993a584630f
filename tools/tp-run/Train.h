// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The training loop.

#ifndef COLROW_TOOLS_TPRUN_TRAIN_H
#define COLROW_TOOLS_TPRUN_TRAIN_H

#include "Options.h"
#include "colrow/runtime/Job/Job.h"
#include "llvm/Support/Error.h"

namespace colrow::tprun {

/// Loads the plan, trains, saves and reports as asked, as one of the processes
/// of `job`.
llvm::Error run(const Options &options, runtime::Job &job);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_TRAIN_H
