// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tp-compile tells a person about the plan it made.

#ifndef COLROW_TOOLS_TP_COMPILE_SUMMARY_H
#define COLROW_TOOLS_TP_COMPILE_SUMMARY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace colrow {

/// Reads the plan file `path` back and prints parameters, layouts, collectives
/// a step with bytes, and memory a rank.
llvm::Error printSummary(llvm::StringRef path, llvm::raw_ostream &os);

} // namespace colrow

#endif // COLROW_TOOLS_TP_COMPILE_SUMMARY_H
