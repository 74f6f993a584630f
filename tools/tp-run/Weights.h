// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Training that starts from a model folder.

#ifndef COLROW_TOOLS_TPRUN_WEIGHTS_H
#define COLROW_TOOLS_TPRUN_WEIGHTS_H

#include "Options.h"
#include "colrow/runtime/Core/Executor.h"
#include "llvm/Support/Error.h"

namespace colrow::tprun {

/// Reads the weights of --weights over the initial values. The result is what
/// the user should know, a sentence each; another model is an error unless it
/// is accepted.
llvm::Expected<std::vector<std::string>>
loadWeights(runtime::Executor &executor, const RunOptions &options);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_WEIGHTS_H
