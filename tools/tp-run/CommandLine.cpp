// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of the command line.

#include "CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace colrow::tprun {

bool complain(const Twine &text) {
  errs() << "tp-run: error: " << text << "\n";
  return false;
}

bool checkNames(cl::SubCommand &verb, int argc, char **argv) {
  auto &options = cl::getRegisteredOptions(verb);
  for (int i = 2; i < argc; ++i) {
    StringRef argument = argv[i];
    if (argument == "--")
      return true;
    if (argument.size() < 2 || argument[0] != '-')
      continue;
    auto [name, value] = argument.ltrim('-').split('=');
    auto found = options.find(name);
    if (found == options.end())
      return complain("unknown option " + argument + " (see tp-run " +
                      verb.getName() + " --help)");
    bool wantsValue =
        found->second->getValueExpectedFlag() == cl::ValueRequired;
    if (!wantsValue || argument.contains('='))
      continue;
    if (++i == argc)
      return complain(argument + " needs a value");
  }
  return true;
}

std::string firstLine(StringRef text) {
  text.consume_front("tp-run: ");
  StringRef line = text.ltrim().split('\n').first;
  return line.split("  Try: ").first.rtrim(" .").str();
}

} // namespace colrow::tprun
