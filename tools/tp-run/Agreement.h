// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the processes of a run agree on.

#ifndef COLROW_TOOLS_TPRUN_AGREEMENT_H
#define COLROW_TOOLS_TPRUN_AGREEMENT_H

#include "colrow/runtime/Core/Executor.h"

namespace colrow::tprun {

/// Ends what `job` did: all processes fail if one does, and one of them keeps
/// the error to print.
llvm::Error finish(runtime::Job &job, llvm::Error error);

/// Something that must be the same in all processes, and how it is called.
struct Common {
  std::string title, value;
};

/// Error, at all processes: the first of `mine` that differs, with both values.
llvm::Error compare(runtime::Job &job, llvm::ArrayRef<Common> mine);

/// What a step leaves, agreed by all processes.
struct AgreedStep {
  float loss = 0;
  float gradNorm = 0; // 0 when the program has none
  std::optional<double> labels;
  bool isInterrupted = false; // one of them was told to stop
};

/// Error, at all processes: their losses, norms or counts differ to the bit.
llvm::Expected<AgreedStep> agreeOnStep(runtime::Job &job,
                                       const runtime::StepResult &mine,
                                       bool isInterrupted);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_AGREEMENT_H
