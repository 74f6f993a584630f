// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line: `tp-run train` and `tp-run function`.

#ifndef COLROW_TOOLS_TPRUN_OPTIONS_H
#define COLROW_TOOLS_TPRUN_OPTIONS_H

#include "colrow/runtime/Data/InputData.h"
#include <optional>
#include <string>
#include <variant>

namespace colrow::tprun {

/// How the run's processes start and meet.
struct ProcessOptions {
  unsigned processes = 0;           // to start; 0: as the launcher says
  std::string launcher, rendezvous; // empty: by the environment
  bool trustNetwork = false;
  bool allowMixedCpus = false;
  double limit = 60; // seconds without a sign of another process
};

/// What all verbs take.
struct RunOptions : ProcessOptions {
  std::string plan;
  std::string weights; // folder
  std::optional<uint64_t> seed;
  bool acceptChanges = false;
};

struct Options : RunOptions {
  std::string resume; // folder
  std::string data;
  runtime::TokenType dataType = runtime::TokenType::automatic;
  int64_t steps = 0; // total, counted from the start of training
  double learningRate = 0;
  std::string save; // folder
  int64_t saveEvery = 0;
  bool overwrite = false;
  std::string report, trace, dumpOutputs; // files
};

struct FunctionOptions : RunOptions {
  std::string program;         // empty: the plan's only one
  std::string inputs, outputs; // files
};

/// Parses argv. Nothing: wrong usage, which has been reported in one line on
/// stderr. Does not return for --help and --version.
std::optional<std::variant<Options, FunctionOptions>> parseOptions(int argc,
                                                                   char **argv);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_OPTIONS_H
