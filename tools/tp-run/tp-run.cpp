// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-run: executes compiled plans. Exit status 0 done, 1 failed, 2 usage.

#include "Agreement.h"
#include "Function.h"
#include "Options.h"
#include "Processes.h"
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

using namespace colrow::runtime;
using namespace colrow::tprun;

/// Returns the exit status.
static int report(llvm::Error error) {
  if (!error)
    return 0;
  llvm::handleAllErrors(
      std::move(error), [](const ToldElsewhere &) {},
      [](const llvm::ErrorInfoBase &info) {
        llvm::errs() << "tp-run: error: " << info.message() << "\n";
      });
  return 1;
}

template <typename T>
static int runAs(const T &options, const LaunchInfo &launch) {
  llvm::Expected<Processes> processes = Processes::join(launch, options);
  if (!processes)
    return report(processes.takeError());
  llvm::Error failed = run(options, *processes);
  processes->leave();
  return report(std::move(failed));
}

int main(int argc, char **argv) {
  guardProgramEnd("tp-run");
  std::set_new_handler(outOfMemory);
  // Files and memory files beyond the limit are errors to report.
  std::signal(SIGXFSZ, SIG_IGN);
  auto options = parseOptions(argc, argv);
  if (!options)
    return 2;
  return std::visit(
      [&](const auto &verb) {
        llvm::Expected<LaunchInfo> launch =
            recognise(verb.launcher, verb.rendezvous, environmentOf);
        if (!launch)
          return report(launch.takeError());
        if (isLauncher(*launch, verb))
          return launchProcesses(verb.processes, argv, verb);
        return runAs(verb, *launch);
      },
      *options);
}
