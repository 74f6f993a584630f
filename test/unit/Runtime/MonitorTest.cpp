// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process that was stopped while the others gave up, and who may tell of it.

#include "colrow/runtime/Core/Monitor.h"
#include "colrow/runtime/Support/LastWord.h"
#include "gtest/gtest.h"
#include <csignal>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace colrow::runtime;
using namespace llvm;

namespace {

constexpr double limit = 0.2;
constexpr int failed = 42, wouldRename = 43, neverMet = 44;

/// Process 1 of 2: stops itself, and then asks what is asked before a rename.
[[noreturn]] void stopAndAsk(int socket, int errors) {
  ::dup2(errors, STDERR_FILENO);
  // On one CPU the thread that asks is the first to run again.
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ::sched_setaffinity(0, sizeof(one), &one);
  std::vector<FileDescriptor> sockets;
  sockets.emplace_back(socket);
  auto star = StarControl::create(1, 2, std::move(sockets), limit);
  if (!star)
    ::_exit(neverMet);
  Monitor monitor(std::move(*star), limit, "test");
  ::raise(SIGSTOP);
  ::_exit(monitor.hasFailed() ? failed : wouldRename);
}

/// The others of it, one of each job: they share nothing but `errors`.
struct Stopped {
  pid_t child = -1;
  std::unique_ptr<StarControl> star;

  explicit Stopped(int errors) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      return;
    child = ::fork();
    if (child == 0) {
      ::close(pair[0]);
      stopAndAsk(pair[1], errors);
    }
    ::close(pair[1]);
    std::vector<FileDescriptor> sockets;
    sockets.emplace_back(pair[0]);
    if (auto made = StarControl::create(0, 2, std::move(sockets), limit))
      star = std::move(*made);
    else
      consumeError(made.takeError());
  }
};

TEST(Monitor, AProcessThatWasStoppedLooksFirstAndIsSilent) {
  int errors[2], status = 0;
  ASSERT_EQ(::pipe(errors), 0);
  // Its threads race: several times.
  std::vector<Stopped> all;
  for (int job = 0; job < 4; ++job) {
    all.emplace_back(errors[1]);
    ASSERT_TRUE(all.back().star);
    ASSERT_EQ(::waitpid(all.back().child, &status, WUNTRACED),
              all.back().child);
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  ::close(errors[1]);
  ::usleep(useconds_t(2 * limit * 1e6));
  for (Stopped &one : all) {
    one.star->sendFailure("process 1 does not answer");
    one.star.reset();
    ::kill(one.child, SIGCONT);
    ASSERT_EQ(::waitpid(one.child, &status, 0), one.child);
    ASSERT_TRUE(WIFEXITED(status));
    // Its monitor may be faster and end it.
    EXPECT_TRUE(WEXITSTATUS(status) == failed || WEXITSTATUS(status) == 1)
        << WEXITSTATUS(status);
  }
  char text[200] = "";
  EXPECT_EQ(::read(errors[0], text, sizeof(text) - 1), 0) << text;
  ::close(errors[0]);
}

/// Process 0 of 2, which may tell an error before it leaves.
[[noreturn]] void tellAndLeave(int socket, int errors, bool tells) {
  ::dup2(errors, STDERR_FILENO);
  std::vector<FileDescriptor> sockets;
  sockets.emplace_back(socket);
  auto star = StarControl::create(0, 2, std::move(sockets), limit);
  if (!star)
    ::_exit(neverMet);
  Monitor monitor(std::move(*star), limit, "test");
  bool hasTold = tells && monitor.mayTell() && !monitor.mayTell();
  (void)!::write(STDERR_FILENO, hasTold ? "told" : "none", 4);
  monitor.leave();
  ::_exit(0);
}

/// What it says, and its exit status, when process 1 is gone before it leaves.
std::string saidWhenLeavingFails(bool tells) {
  int pair[2], errors[2], status = 0;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
      ::pipe(errors) != 0)
    return "no sockets";
  pid_t child = ::fork();
  if (child == 0) {
    ::close(pair[1]);
    tellAndLeave(pair[0], errors[1], tells);
  }
  ::close(pair[0]);
  ::close(errors[1]);
  std::vector<FileDescriptor> sockets;
  sockets.emplace_back(pair[1]);
  auto star = StarControl::create(1, 2, std::move(sockets), limit);
  std::string text(200, '\0');
  size_t size = std::max<ssize_t>(::read(errors[0], &text[0], 4), 0);
  consumeError(star.takeError());
  if (star)
    star->reset();
  size += std::max<ssize_t>(::read(errors[0], &text[size], 100), 0);
  text.resize(size);
  ::close(errors[0]);
  ::waitpid(child, &status, 0);
  return text + std::to_string(WEXITSTATUS(status));
}

TEST(Monitor, AnErrorOfLeavingIsToldUnlessAnotherWas) {
  std::string said = saidWhenLeavingFails(false);
  EXPECT_TRUE(StringRef(said).starts_with("nonetest: error: process 1"));
  EXPECT_TRUE(StringRef(said).ends_with(" is gone\n1")) << said;
  EXPECT_EQ(saidWhenLeavingFails(true), "told1");
}

/// What `body` returns in a process of its own, since what is shared stays
/// shared, and a process speaks once.
int inProcess(function_ref<int()> body) {
  int status = 0;
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(body());
  return ::waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}

TEST(LastWord, IsTakenOnceByAnyProcess) {
  auto word = makeLastWord();
  ASSERT_TRUE(bool(word)) << toString(word.takeError());
  for (int wanted : {1, 0})
    EXPECT_EQ(inProcess([&] {
                return useLastWord(word->get()) ? 2 : int(takeLastWord());
              }),
              wanted);
}

TEST(LastWord, OfSharedMemoryIsItsOwners) {
  for (uint32_t before : {0, 3, 4}) { // nobody, this process, another one
    std::atomic<uint32_t> word{before};
    EXPECT_EQ(inProcess([&] {
                useLastWord(&word, 3);
                bool takes = takeLastWord();
                return takes && word.load() != 3 ? 2 : int(takes);
              }),
              before != 4);
  }
}

TEST(LastWord, IsTakenOnceByOneProcess) {
  std::atomic<uint32_t> word{0};
  EXPECT_EQ(inProcess([&] {
              int taken = takeLastWord();
              useLastWord(&word, 3);
              return taken + takeLastWord();
            }),
            1);
}

TEST(LastWord, TakesNothingElseForOne) {
  for (int descriptor : {STDIN_FILENO, 1 << 20}) {
    Error error = useLastWord(descriptor);
    EXPECT_TRUE(bool(error));
    consumeError(std::move(error));
  }
  EXPECT_EQ(inProcess([] { return int(takeLastWord()); }), 1);
}

} // namespace
