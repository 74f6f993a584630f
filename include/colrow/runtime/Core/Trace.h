// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timelines for Perfetto or chrome://tracing.

#ifndef COLROW_RUNTIME_CORE_TRACE_H
#define COLROW_RUNTIME_CORE_TRACE_H

#include "colrow/runtime/Core/Executor.h"

namespace colrow::runtime {

/// Writes the events of an executor that records them: Chrome's JSON format,
/// one track a rank, one slice an instruction, microseconds since the first
/// event of the rank's machine.
llvm::Error writeTrace(const Executor &executor, llvm::StringRef path);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_TRACE_H
