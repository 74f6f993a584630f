// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-run: executes compiled plans. Exit status 0 done, 1 failed, 2 usage.

#include "Agreement.h"
#include "Function.h"
#include "Options.h"
#include "Train.h"
#include "colrow/runtime/Support/ProgramEnd.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdio>
#include <new>
#include <unistd.h>

/// Called when memory is full; must not allocate.
static void outOfMemory() {
  static const char text[] = "tp-run: error: out of memory\n";
  (void)!::write(STDERR_FILENO, text, sizeof(text) - 1);
  ::_exit(1);
}

int main(int argc, char **argv) {
  colrow::runtime::guardProgramEnd("tp-run");
  std::set_new_handler(outOfMemory);
  // Files and memory files beyond the limit are errors to report.
  std::signal(SIGXFSZ, SIG_IGN);
  auto options = colrow::tprun::parseOptions(argc, argv);
  if (!options)
    return 2;
  colrow::runtime::Job job;
  llvm::Error error = std::visit(
      [&](const auto &verb) { return colrow::tprun::run(verb, job); },
      *options);
  if (!error)
    return 0;
  llvm::handleAllErrors(
      std::move(error), [](const colrow::tprun::ToldElsewhere &) {},
      [](const llvm::ErrorInfoBase &info) {
        llvm::errs() << "tp-run: error: " << info.message() << "\n";
      });
  return 1;
}
