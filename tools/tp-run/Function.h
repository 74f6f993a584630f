// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program run once.

#ifndef COLROW_TOOLS_TPRUN_FUNCTION_H
#define COLROW_TOOLS_TPRUN_FUNCTION_H

#include "Options.h"
#include "Processes.h"
#include "llvm/Support/Error.h"

namespace colrow::tprun {

/// Gives a program its inputs, runs it and writes its outputs, as one of the
/// processes of a run.
llvm::Error run(const FunctionOptions &options, Processes &processes);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_FUNCTION_H
