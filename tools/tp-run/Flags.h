// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of the command line, as the parser fills them.

#ifndef COLROW_TOOLS_TPRUN_FLAGS_H
#define COLROW_TOOLS_TPRUN_FLAGS_H

#include "llvm/Support/CommandLine.h"
#include <string>

namespace colrow::tprun::flags {

extern llvm::cl::SubCommand train, function;
extern llvm::cl::OptionCategory start, once, both, work, keep, look;
extern llvm::cl::opt<std::string> plan, weights, seed, resume, data, dataType,
    steps, learningRate, processes, launcher, rendezvous, limit, program,
    inputs, outputs, save, saveEvery, report, trace, dumpOutputs;
extern llvm::cl::opt<bool> acceptChanges, trustNetwork, allowMixedCpus,
    splitLastAxis, overwrite;

} // namespace colrow::tprun::flags

#endif // COLROW_TOOLS_TPRUN_FLAGS_H
