// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of `tp-run train`.

#ifndef COLROW_TOOLS_TPRUN_OPTIONS_H
#define COLROW_TOOLS_TPRUN_OPTIONS_H

#include "colrow/runtime/TokenData.h"
#include <optional>
#include <string>

namespace colrow::tprun {

struct Options {
  std::string plan;
  std::string weights, resume; // folders
  std::optional<uint64_t> seed;
  std::string data;
  runtime::TokenType dataType = runtime::TokenType::automatic;
  int64_t steps = 0; // total, counted from the start of training
  double learningRate = 0;
  std::string save; // folder
  int64_t saveEvery = 0;
  bool overwrite = false, acceptChanges = false;
  std::string report, trace, dumpOutputs; // files
  unsigned ranks = 0;                     // 0: the plan's
};

/// Parses argv. Nothing: wrong usage, which has been reported in one line on
/// stderr. Does not return for --help and --version.
std::optional<Options> parseOptions(int argc, char **argv);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_OPTIONS_H
