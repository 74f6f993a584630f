// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The training loop.

#ifndef COLROW_TOOLS_TPRUN_TRAIN_H
#define COLROW_TOOLS_TPRUN_TRAIN_H

#include "Options.h"
#include "Processes.h"
#include "llvm/Support/Error.h"

namespace colrow::tprun {

/// Loads the plan, trains, saves and reports as asked, as one of the processes
/// of a run.
llvm::Error run(const Options &options, Processes &processes);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_TRAIN_H
