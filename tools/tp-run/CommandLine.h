// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line's errors as one line each: LLVM's parser reports in other
// forms, and goes on.

#ifndef COLROW_TOOLS_TPRUN_COMMANDLINE_H
#define COLROW_TOOLS_TPRUN_COMMANDLINE_H

#include "llvm/Support/CommandLine.h"
#include <string>

namespace colrow::tprun {

/// Reports wrong usage; returns false.
bool complain(const llvm::Twine &text);

/// Reads an option's whole number, if it is given.
template <typename T>
bool parseWhole(const llvm::cl::opt<std::string> &option, T atLeast, T &out) {
  if (!option.getNumOccurrences())
    return true;
  if (!llvm::StringRef(option).getAsInteger(10, out) && out >= atLeast)
    return true;
  return complain((option.ArgStr.size() == 1 ? "-" : "--") + option.ArgStr +
                  " takes a whole number from " + llvm::Twine(atLeast) +
                  " on, not '" + option + "'");
}

/// Checks that `verb` has each option that is given, and that each has its
/// value.
bool checkNames(llvm::cl::SubCommand &verb, int argc, char **argv);

/// The parser's complaint as one line.
std::string firstLine(llvm::StringRef text);

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_COMMANDLINE_H
