// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process that was stopped while the others gave up, and who may tell of it.

#include "colrow/runtime/Core/Monitor.h"
#include "colrow/runtime/Support/LastWord.h"
#include "gtest/gtest.h"
#include <csignal>
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
  std::vector<Socket> sockets;
  sockets.emplace_back(socket);
  auto star = StarControl::create(1, 2, std::move(sockets), limit);
  if (!star)
    ::_exit(neverMet);
  Monitor monitor(std::move(*star), limit, "test");
  ::raise(SIGSTOP);
  ::_exit(monitor.hasFailed() ? failed : wouldRename);
}

TEST(Monitor, AProcessThatWasStoppedLooksFirstAndIsSilent) {
  int pair[2], errors[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  ASSERT_EQ(::pipe(errors), 0);
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(pair[0]);
    stopAndAsk(pair[1], errors[1]);
  }
  ::close(pair[1]);
  ::close(errors[1]);
  int status = 0;
  {
    std::vector<Socket> sockets;
    sockets.emplace_back(pair[0]);
    auto star = StarControl::create(0, 2, std::move(sockets), limit);
    ASSERT_TRUE(bool(star)) << toString(star.takeError());
    ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
    ASSERT_TRUE(WIFSTOPPED(status));
    ::usleep(useconds_t(2 * limit * 1e6));
    (*star)->sendFailure("process 1 does not answer");
  }
  ::kill(child, SIGCONT);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  // Its monitor may be faster and end it.
  EXPECT_TRUE(WEXITSTATUS(status) == failed || WEXITSTATUS(status) == 1)
      << WEXITSTATUS(status);
  char text[200] = "";
  EXPECT_EQ(::read(errors[0], text, sizeof(text) - 1), 0) << text;
  ::close(errors[0]);
}

TEST(LastWord, IsTakenOnceByAnyProcess) {
  auto word = makeLastWord();
  ASSERT_TRUE(bool(word)) << toString(word.takeError());
  int status = 0;
  // Each in a process of its own, since what is shared stays shared.
  for (int wanted : {1, 0}) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      ::_exit(useLastWord(word->get()) ? 2 : takeLastWord());
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), wanted);
  }
}

TEST(LastWord, OfSharedMemoryStaysWithItsOwner) {
  EXPECT_TRUE(takeLastWord());
  std::atomic<uint32_t> word{0};
  useLastWord(&word, 3);
  EXPECT_TRUE(takeLastWord());
  EXPECT_EQ(word.load(), 3u);
  EXPECT_TRUE(takeLastWord());
  useLastWord(&word, 4); // another process
  EXPECT_FALSE(takeLastWord());
  useLastWord(nullptr, 0);
  EXPECT_TRUE(takeLastWord());
}

TEST(LastWord, TakesNothingElseForOne) {
  for (int descriptor : {STDIN_FILENO, 1 << 20}) {
    Error error = useLastWord(descriptor);
    EXPECT_TRUE(bool(error));
    consumeError(std::move(error));
  }
  EXPECT_TRUE(takeLastWord());
}

} // namespace
