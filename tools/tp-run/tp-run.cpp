// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-run: executes compiled plans. Exit status 0 done, 1 failed, 2 usage.

#include "Agreement.h"
#include "Function.h"
#include "Options.h"
#include "Processes.h"
#include "Train.h"
#include "colrow/runtime/MPI/MpiNetwork.h"
#include "colrow/runtime/Support/LastWord.h"
#include "colrow/runtime/Support/ProgramEnd.h"
#include "colrow/runtime/Support/ShownText.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdio>
#include <new>
#include <unistd.h>

using namespace colrow::runtime;
using namespace colrow::tprun;

/// "tp-run: error: ", and which process it is if there are several; made before
/// memory is full.
static std::string errorPrefix = "tp-run: error: ";

/// Neither allocates nor waits.
[[noreturn]] static void endAtOnce(llvm::StringRef why) {
  if (takeLastWord()) {
    (void)!::write(STDERR_FILENO, errorPrefix.data(), errorPrefix.size());
    (void)!::write(STDERR_FILENO, why.data(), why.size());
  }
  ::_exit(1);
}

static void outOfMemory() { endAtOnce("out of memory\n"); }
static void onBrokenPipe(int) {
  endAtOnce("what reads its output has gone (SIGPIPE)\n");
}

/// As one of several processes, which would else have to guess why it ended.
static void prepareAsProcess(const LaunchInfo &launch) {
  if (launch.processes == 1)
    return;
  errorPrefix +=
      llvm::formatv("process {0} of {1}: ", launch.process, launch.processes)
          .str();
  std::signal(SIGPIPE, onBrokenPipe);
}

/// Returns the exit status.
static int report(llvm::Error error,
                  llvm::function_ref<bool()> mayTell = takeLastWord) {
  if (!error)
    return 0;
  llvm::handleAllErrors(
      std::move(error), [](const ToldByFirst &) {},
      [&](const llvm::ErrorInfoBase &info) {
        if (mayTell())
          llvm::errs() << "tp-run: error: " << shownText(info.message())
                       << "\n";
      });
  return 1;
}

/// Of processes that have not met. A launcher may kill all once one has ended:
/// process 0 needs a moment to print.
static int reportUnmet(llvm::Error error) {
  if (error.isA<ToldByFirst>())
    ::usleep(200000);
  return report(std::move(error));
}

template <typename T>
static int runAs(const T &options, const LaunchInfo &launch) {
  llvm::Expected<Processes> processes = Processes::join(launch, options);
  if (!processes)
    return reportUnmet(processes.takeError());
  // Told before it leaves, and so before any other process can have left and
  // ended: a launcher may kill all once one has.
  int status =
      report(run(options, *processes), [&] { return processes->mayTell(); });
  processes->leave();
  return status;
}

/// What starts tp-run may have blocked the signals that end it, or ignore the
/// ends of its own children: that is passed on.
static void resetSignals() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGCHLD, SIG_DFL);
}

int main(int argc, char **argv) {
  resetSignals();
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
        prepareAsProcess(*launch);
        if (launch->lastWordFd >= 0)
          if (llvm::Error error = useLastWord(launch->lastWordFd))
            return report(std::move(error));
        return runAs(verb, *launch);
      },
      *options);
}
