// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run may write to.

#ifndef COLROW_TOOLS_TPRUN_FILES_H
#define COLROW_TOOLS_TPRUN_FILES_H

#include "Options.h"
#include "llvm/Support/Error.h"

namespace colrow::tprun {

/// Refuses files to write that cannot be written, that the run reads, or that
/// two options name, and pipes that several processes cannot write; looks only.
llvm::Error checkFiles(const Options &options, unsigned processes);
llvm::Error checkFiles(const FunctionOptions &options, unsigned processes);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_FILES_H
