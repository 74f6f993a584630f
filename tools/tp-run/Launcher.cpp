// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-run -n: the parent of a run's processes. Each is connected with process 0
// by a socket pair; the parent keeps no end of them, so that the end of a
// process is seen by the others.

#include "Processes.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/FileDescriptor.h"
#include "colrow/runtime/Support/LastWord.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

namespace {

using Clock = std::chrono::steady_clock;

/// What processes are started from.
constexpr const char *self = "/proc/self/exe";

/// How long the others have to end by themselves once one has: they see it at
/// once, but may have to ask each other who is to say so. Whoever has failed by
/// itself has said why, and has ended those that it could reach.
constexpr double secondsAfterSignal = 3, secondsAfterFailure = 1;

struct Child {
  pid_t pid = -1; // -1: not started, or has ended
  int status = 0; // of waitpid, when it has ended
};

class Launcher {
public:
  Launcher(unsigned processes, char **argv, double limit)
      : argv(argv), limit(limit), children(processes) {}

  int run();

private:
  Error connect();
  Error start(unsigned process);
  [[noreturn]] void become(unsigned process, pid_t parent);
  void waitForAll();
  void reap();
  void signalAll(int signal);
  std::string endOf(int status) const;
  int report() const;

  char **argv;
  double limit;
  sigset_t awaited, before;
  std::vector<Child> children;
  /// The ends of the pairs: of process 0, and of the others.
  std::vector<FileDescriptor> hubEnds, ends;
  FileDescriptor lastWord;
  std::optional<unsigned> firstFailed;
  std::optional<Clock::time_point> deadline; // for the rest to end
  bool hasKilled = false;                    // those that did not
};

} // namespace

Error Launcher::connect() {
  if (::access(self, X_OK) != 0)
    return failure("cannot start processes: {0}: {1}: is /proc mounted?", self,
                   strerror(errno));
  Expected<FileDescriptor> word = makeLastWord();
  if (!word)
    return word.takeError();
  lastWord = std::move(*word);
  if (Error error = useLastWord(lastWord.get()))
    return error;
  for (unsigned process = 1; process < children.size(); ++process) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      return failure("cannot connect process {0} of {1}: {2}", process,
                     children.size(), strerror(errno));
    hubEnds.emplace_back(pair[0]);
    ends.emplace_back(pair[1]);
  }
  return Error::success();
}

/// In the child: only what may be done after a fork. Does not return.
void Launcher::become(unsigned process, pid_t parent) {
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  // Tied to the thread that forked, which is the parent's only one.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(1);
  std::string numbers;
  auto keep = [&](const FileDescriptor &file) {
    (void)::fcntl(file.get(), F_SETFD, 0);
    numbers += (numbers.empty() ? "" : ",") + std::to_string(file.get());
  };
  if (process == 0)
    for_each(hubEnds, keep);
  else
    keep(ends[process - 1]);
  (void)::fcntl(lastWord.get(), F_SETFD, 0);
  ::setenv("COLROW_LAST_WORD", std::to_string(lastWord.get()).c_str(), 1);
  ::setenv("COLROW_PROCESS", std::to_string(process).c_str(), 1);
  ::setenv("COLROW_PROCESSES", std::to_string(children.size()).c_str(), 1);
  ::setenv("COLROW_CONTROL_FDS", numbers.c_str(), 1);
  ::execv(self, argv);
  std::string text = formatv("tp-run: error: cannot start process {0}: {1}\n",
                             process, strerror(errno));
  if (takeLastWord())
    (void)!::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(1);
}

Error Launcher::start(unsigned process) {
  pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0)
    return failure("cannot start process {0} of {1}: {2}", process,
                   children.size(), strerror(errno));
  if (pid == 0)
    become(process, parent);
  children[process].pid = pid;
  return Error::success();
}

/// A child that was not waited for keeps its number.
void Launcher::signalAll(int signal) {
  for (const Child &child : children)
    if (child.pid > 0)
      ::kill(child.pid, signal);
}

void Launcher::reap() {
  for (unsigned process = 0; process < children.size(); ++process) {
    Child &child = children[process];
    pid_t found =
        child.pid > 0 ? ::waitpid(child.pid, &child.status, WNOHANG) : 0;
    if (found == 0 || (found < 0 && errno != ECHILD))
      continue;
    if (found < 0) // how it has ended is not known
      child.status = W_EXITCODE(1, 0);
    child.pid = -1;
    bool hasFailed = !WIFEXITED(child.status) || WEXITSTATUS(child.status) != 0;
    // All end together: none works on for long once another has ended.
    double seconds = !hasFailed                ? limit + secondsAfterFailure
                     : WIFEXITED(child.status) ? secondsAfterFailure
                                               : secondsAfterSignal;
    if (hasFailed && !firstFailed)
      firstFailed = process;
    Clock::time_point then =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(seconds));
    deadline = deadline ? std::min(*deadline, then) : then;
  }
}

void Launcher::waitForAll() {
  while (any_of(children, [](const Child &child) { return child.pid > 0; })) {
    timespec tick = {0, 100'000'000};
    siginfo_t info;
    int signal = ::sigtimedwait(&awaited, &info, &tick);
    // What a terminal sends goes to all processes anyway.
    if (signal > 0 && signal != SIGCHLD && info.si_code <= 0)
      signalAll(signal);
    reap();
    hasKilled = deadline && Clock::now() > *deadline;
    if (hasKilled)
      signalAll(SIGKILL);
  }
}

/// "was ended by signal 11 (Segmentation fault)"
std::string Launcher::endOf(int status) const {
  if (hasKilled && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return "did not end when the others had";
  if (WIFSIGNALED(status))
    return formatv("was ended by signal {0} ({1})", WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
  return formatv("has ended with exit status {0}", WEXITSTATUS(status));
}

/// Speaks for those that could not.
int Launcher::report() const {
  if (!firstFailed)
    return 0;
  if (takeLastWord())
    errs() << "tp-run: error: process " << *firstFailed << " of "
           << children.size() << " " << endOf(children[*firstFailed].status)
           << "\n";
  for (const Child &child : children)
    if (WIFEXITED(child.status) && WEXITSTATUS(child.status) > 1)
      return WEXITSTATUS(child.status);
  return 1;
}

int Launcher::run() {
  ::sigemptyset(&awaited);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    ::sigaddset(&awaited, signal);
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  Error error = connect();
  for (unsigned process = 0; !error && process < children.size(); ++process)
    error = start(process);
  std::string fault = error ? toString(std::move(error)) : "";
  // Before those that have started find out.
  if (!fault.empty() && takeLastWord())
    errs() << "tp-run: error: " << fault << "\n";
  hubEnds.clear();
  ends.clear();
  if (!fault.empty())
    signalAll(SIGKILL);
  waitForAll();
  return fault.empty() ? report() : 1;
}

int launchProcesses(unsigned processes, char **argv,
                    const ProcessOptions &options) {
  return Launcher(processes, argv, options.limit).run();
}

} // namespace colrow::tprun
