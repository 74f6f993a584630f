// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options that all processes of a run must have alike.

#ifndef COLROW_TOOLS_TPRUN_SAMEOPTIONS_H
#define COLROW_TOOLS_TPRUN_SAMEOPTIONS_H

#include "Options.h"
#include "colrow/runtime/Job/Job.h"

namespace colrow::tprun {

/// Error, at all processes: the first option that differs. Where files are is
/// each process' own; what they hold is compared when they are read, and what
/// all write must be one file (compareFiles).
llvm::Error compareOptions(runtime::Job &job, const Options &options);
llvm::Error compareOptions(runtime::Job &job, const FunctionOptions &options);

/// Error, at all processes: an option for what they write together does not
/// name one file for all of them.
llvm::Error compareFiles(runtime::Job &job, const Options &options);
llvm::Error compareFiles(runtime::Job &job, const FunctionOptions &options);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_SAMEOPTIONS_H
