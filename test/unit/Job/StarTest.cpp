// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The control plane over sockets that are connected already. Processes are
// threads here but where one of them dies or stops.

#include "Star.h"
#include "SocketPair.h"
#include "colrow/runtime/Job/Frames.h"
#include "colrow/runtime/Job/ToldByFirst.h"
#include "gtest/gtest.h"
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <random>
#include <sys/wait.h>
#include <thread>

using namespace colrow::runtime;
using namespace llvm;

namespace {

TEST(Star, EverybodysBytesInOrder) {
  for (unsigned processes = 1; processes <= 8; ++processes)
    runStar(processes, 5, [&](StarControl &star) {
      for (unsigned round = 0; round < 20; ++round) {
        auto all = star.gather(std::to_string(round * 10 + star.process()));
        ASSERT_EQ(textOf(all), "");
        ASSERT_EQ(all->size(), processes);
        for (unsigned other = 0; other < processes; ++other)
          EXPECT_EQ((*all)[other], std::to_string(round * 10 + other));
      }
      EXPECT_EQ(textOf(star.leave()), "");
    });
}

TEST(Star, LargestAndEmpty) {
  runStar(8, 10, [&](StarControl &star) {
    auto partOf = [](unsigned process, unsigned round) {
      return std::string(process == 3 ? 0 : StarControl::maxBytes,
                         char('a' + process + round));
    };
    for (unsigned round = 0; round < 3; ++round) {
      auto all = star.gather(partOf(star.process(), round));
      ASSERT_EQ(textOf(all), "");
      for (unsigned other = 0; other < 8; ++other)
        EXPECT_TRUE((*all)[other] == partOf(other, round)) << other;
    }
    EXPECT_EQ(textOf(star.leave()), "");
  });
}

TEST(Star, TooLargeIsAnError) {
  runStar(2, 5, [&](StarControl &star) {
    std::string large(StarControl::maxBytes + 1, 'x');
    EXPECT_EQ(textOf(star.gather(large)),
              "cannot tell the other processes 61441 bytes, at most 61440");
    EXPECT_EQ(textOf(star.leave()), ""); // nothing was sent
  });
}

TEST(Star, ProcessThatDoesNotComeIsNamedByAll) {
  runStar(4, 0.3, [&](StarControl &star) {
    if (star.process() == 2) {
      // Waits for the end of the others, which stop waiting for it.
      while (!star.stateOf(0).isGone)
        ::usleep(1000);
      return;
    }
    EXPECT_EQ(textOf(star.gather("x")), "process 2 does not answer for 0.3 s");
    EXPECT_EQ(textOf(star.gather("x")), "process 2 does not answer for 0.3 s");
    EXPECT_NE(textOf(star.leave()), "");
  });
}

TEST(Star, OfManyLateOnesEightAreNamed) {
  runStar(12, 0.3, [&](StarControl &star) {
    if (star.process() != 0) {
      while (!star.stateOf(0).isGone)
        ::usleep(1000);
      return;
    }
    EXPECT_EQ(textOf(star.gather("x")),
              "process 1, process 2, process 3, process 4, process 5, process "
              "6, process 7, process 8 and 3 more do not answer for 0.3 s");
  });
}

/// Process 0 comes so late that process 1 would have stopped waiting, were it
/// not told who is missing, and that process 0 is there.
TEST(Star, TimeOfACallCounts) {
  runStar(3, 100, [&](StarControl &star) {
    if (star.process() == 2) {
      while (!star.stateOf(0).isGone)
        ::usleep(1000);
      return;
    }
    if (star.process() == 0)
      ::usleep(300 * 1000);
    EXPECT_EQ(textOf(star.gather("x", 0.6)),
              "process 2 does not answer for 0.6 s");
  });
}

TEST(Star, FirstProcessThatDoesNotCome) {
  runStar(2, 0.2, [&](StarControl &star) {
    if (star.process() == 1)
      EXPECT_EQ(textOf(star.gather("x")),
                "process 0 does not answer for 0.2 s");
    else
      while (!star.stateOf(1).isGone)
        ::usleep(1000);
  });
}

TEST(Star, EndOfAConnectionIsSeenAtOnce) {
  runStar(3, 100, [&](StarControl &star) {
    ASSERT_EQ(textOf(star.gather("x")), "");
    if (star.process() == 1)
      return; // without leave()
    pollfd event = {star.eventDescriptor(), POLLIN, 0};
    ASSERT_EQ(::poll(&event, 1, 10000), 1);
    EXPECT_TRUE(star.stateOf(1).isGone);
    EXPECT_EQ(textOf(star.gather("x")), "process 1 is gone");
    star.clearEvents();
    EXPECT_EQ(::poll(&event, 1, 0), 0);
    meet(2);
  });
}

TEST(Star, EndsAfterLeaveAreNoFailures) {
  for (int round = 0; round < 20; ++round)
    runStar(4, 5, [&](StarControl &star) {
      star.beat("x");
      EXPECT_EQ(textOf(star.leave()), "");
      star.beat("late");
      EXPECT_EQ(star.failureNotice(), std::nullopt);
      for (unsigned other = 0; other < 4; ++other)
        EXPECT_FALSE(star.stateOf(other).isGone);
    });
}

TEST(Star, OneLeavesWhileOthersGoOn) {
  runStar(3, 5, [&](StarControl &star) {
    std::string text =
        star.process() == 1 ? textOf(star.leave()) : textOf(star.gather("x"));
    EXPECT_EQ(text, "process 1 takes part in another exchange than process 0");
  });
}

TEST(Star, BeatsTellOfAll) {
  std::atomic<unsigned> informed{0};
  runStar(3, 5, [&](StarControl &star) {
    std::string progress = "step " + std::to_string(star.process());
    auto knowsAll = [&] {
      for (unsigned other = 0; other < 3; ++other)
        if (star.stateOf(other).lastBeat != "step " + std::to_string(other))
          return false;
      return true;
    };
    Deadline deadline = Deadline::in(5);
    for (bool knew = false; informed < 3 && !deadline.hasPassed();) {
      star.beat(progress);
      if (!knew && knowsAll()) {
        knew = true;
        ++informed;
      }
      ::usleep(1000);
    }
    EXPECT_TRUE(knowsAll());
    meet(3);
    EXPECT_EQ(textOf(star.leave()), "");
  });
}

TEST(Star, BeatsAreCutAndDoNotWait) {
  SocketPair pair; // nobody reads the other end
  std::vector<FileDescriptor> sockets;
  sockets.push_back(std::move(pair.a));
  ASSERT_EQ(textOf(sendFrame(pair.b.get(), StringRef("p\0\0\0\0ghost", 10),
                             Deadline::in(5))),
            "");
  auto star = StarControl::create(0, 2, std::move(sockets), 5, 5);
  ASSERT_EQ(textOf(star), "");
  for (int i = 0; i < 5000; ++i)
    (*star)->beat(std::string(3000, 'x'));
  EXPECT_EQ((*star)->stateOf(0).lastBeat.size(), StarControl::maxBeatBytes);
  // What did not go at once was not kept.
  std::string bytes(1 << 20, '\0');
  EXPECT_EQ(textOf(receiveAll(pair.b.get(), bytes.data(), bytes.size(),
                              Deadline::in(0.1))),
            "the other side does not answer in time");
}

std::atomic<unsigned> signalsTaken{0};

TEST(Star, SignalsAreForOtherThreads) {
  auto star = StarControl::create(0, 1, {}, 5);
  ASSERT_EQ(textOf(star), "");
  signalsTaken = 0;
  auto before = ::signal(SIGUSR1, [](int) { ++signalsTaken; });
  sigset_t blocked, pending;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  ::kill(::getpid(), SIGUSR1);
  ::usleep(20 * 1000); // nobody else takes it
  ::sigpending(&pending);
  EXPECT_TRUE(::sigismember(&pending, SIGUSR1));
  EXPECT_EQ(signalsTaken, 0u);
  ::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  EXPECT_EQ(signalsTaken, 1u);
  ::signal(SIGUSR1, before);
}

TEST(Star, NoticeReachesAll) {
  runStar(4, 5, [&](StarControl &star) {
    if (star.process() == 2)
      star.sendFailure("rank 5 was killed");
    pollfd event = {star.eventDescriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&event, 1, 10000), 1);
    EXPECT_EQ(star.failureNotice(), "rank 5 was killed");
    EXPECT_EQ(textOf(star.gather("x")), "rank 5 was killed");
    meet(4);
  });
}

TEST(Star, OneMayReport) {
  for (int round = 0; round < 10; ++round) {
    std::atomic<unsigned> granted{0}, taken{0};
    runStar(4, 5, [&](StarControl &star) {
      for (int i = 0; i < 2; ++i) {
        Claim claim = star.claim(5);
        granted += i == 0 && claim == Claim::granted;
        taken += i == 0 && claim == Claim::taken;
      }
      EXPECT_EQ(textOf(star.leave()), "");
    });
    EXPECT_EQ(granted, 1u);
    EXPECT_EQ(taken, 3u);
  }
}

TEST(Star, AClaimThatIsAskedAgainIsOne) {
  runStar(2, 5, [&](StarControl &star) {
    if (star.process() == 1) {
      for (int i = 0; i < 10; ++i)
        (void)star.claim(0);
      EXPECT_EQ(star.claim(5), Claim::granted);
    }
    ASSERT_EQ(textOf(star.gather("all answers are there")), "");
    if (star.process() == 1)
      EXPECT_EQ(star.claim(0), Claim::granted);
    EXPECT_EQ(textOf(star.leave()), "");
  });
}

TEST(Star, ClaimWithoutProcess0) {
  runStar(2, 5, [&](StarControl &star) {
    if (star.process() == 0)
      return;
    while (!star.stateOf(0).isGone)
      ::usleep(1000);
    EXPECT_EQ(star.claim(5), Claim::unknown);
  });
}

/// Whatever a process sends, process 0 names it and goes on to its error.
TEST(Star, MessagesThatMakeNoSense) {
  auto message = [](StringRef text) { return frameOf(text); };
  std::string tooLong = "\xff\xff\xff\xff";
  for (const std::string &bytes :
       {message("?"), message("p"), message("p1"),
        message(StringRef("p\0\0\0\0", 5)),
        message(StringRef("p\1\0\0\0gx", 7)), message("a"), message("hxx"),
        message(StringRef("h\0\0\0\0\0\0\0\0\0\0\0\0", 13)),
        message(StringRef("h\1\0\0\0\0\0\0\0\xff\xff\0\0x", 14)), message("c1"),
        message("e"), message("y"), message("g"), tooLong}) {
    SocketPair pair;
    std::vector<FileDescriptor> sockets;
    sockets.push_back(std::move(pair.a));
    ASSERT_EQ(textOf(sendAll(pair.b.get(), bytes, Deadline::in(5))), "");
    auto star = StarControl::create(0, 2, std::move(sockets), 5, 5);
    EXPECT_EQ(textOf(star).substr(0, 14), "process 1 sent")
        << testing::PrintToString(bytes);
  }
}

TEST(Star, SocketsOfALauncher) {
  SocketPair pair;
  int fd = pair.a.get();
  EXPECT_EQ(textOf(takeSockets({fd, fd})),
            "COLROW_CONTROL_FDS: " + std::to_string(fd) +
                " stands there twice");
  for (int wrong : {0, 2, -1, 12345})
    EXPECT_EQ(textOf(takeSockets({fd, wrong})),
              "COLROW_CONTROL_FDS: " + std::to_string(wrong) +
                  " is no socket that tp-run -n has passed on");
  ::fcntl(fd, F_SETFD, 0);
  auto sockets = takeSockets({fd});
  ASSERT_EQ(textOf(sockets), "");
  ASSERT_EQ(sockets->size(), 1u);
  EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
  pair.b.reset();
  FileDescriptor taken = std::move(sockets->front());
  EXPECT_EQ(taken.get(), fd);
  // It has one owner.
  new (&pair.a) FileDescriptor();
}

/// Any messages in any order: an error at last, and nothing else.
TEST(Star, AnyMessages) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    SocketPair pair;
    std::vector<FileDescriptor> sockets;
    sockets.push_back(std::move(pair.a));
    std::string bytes;
    for (unsigned i = random() % 8; i > 0; --i) {
      std::string message(1, "paecgyhfw?"[random() % 10]);
      for (unsigned j = random() % 30; j > 0; --j)
        message += char(random() % 3 ? random() % 3 : random());
      bytes += frameOf(message);
    }
    (void)textOf(sendAll(pair.b.get(), bytes, Deadline::in(5)));
    pair.b.reset();
    EXPECT_NE(
        textOf(StarControl::create(round % 2, 2, std::move(sockets), 5, 5)),
        "");
  }
}

/// Of processes that all see that one has not come, one says so.
TEST(Star, ProcessThatDoesNotBegin) {
  SocketPair late, other;
  std::vector<FileDescriptor> first, second;
  first.push_back(std::move(late.a));
  first.push_back(std::move(other.a));
  second.push_back(std::move(other.b));
  bool leavesItToFirst = false;
  std::thread process([&] {
    auto star = StarControl::create(2, 3, std::move(second), 5, 0.2);
    ASSERT_FALSE(star);
    leavesItToFirst = star.errorIsA<ToldByFirst>();
    consumeError(star.takeError());
  });
  EXPECT_EQ(textOf(StarControl::create(0, 3, std::move(first), 5, 0.2)),
            "process 1 does not answer for 0.2 s");
  process.join();
  EXPECT_TRUE(leavesItToFirst);
}

/// Processes 1 and 2 of three, as processes that gather for ever.
struct Children {
  std::vector<FileDescriptor> sockets;
  std::vector<pid_t> pids;

  Children() {
    for (unsigned process : {1, 2}) {
      SocketPair pair;
      pid_t child = ::fork();
      if (child == 0) {
        sockets.clear();
        pair.a.reset();
        gatherForEver(process, std::move(pair.b));
      }
      pids.push_back(child);
      sockets.push_back(std::move(pair.a));
    }
  }
  [[noreturn]] static void gatherForEver(unsigned process,
                                         FileDescriptor socket) {
    std::vector<FileDescriptor> own;
    own.push_back(std::move(socket));
    auto star = StarControl::create(process, 3, std::move(own), 0.3);
    while (star) {
      auto all = (*star)->gather("x");
      if (!all)
        ::_exit(toString(all.takeError()).find("process 1 ") == 0 ? 7 : 8);
    }
    ::_exit(9);
  }
  /// What process 0 says when `signal` has come to process 1.
  std::string end(int signal) {
    auto star = StarControl::create(0, 3, std::move(sockets), 0.3);
    if (!star)
      return toString(star.takeError());
    for (int i = 0;; ++i) {
      if (i == 10)
        ::kill(pids[0], signal);
      auto all = (*star)->gather("x");
      if (!all)
        return toString(all.takeError());
    }
  }
  /// 7: process 2 has named process 1.
  int statusOfOther() {
    int status = 0;
    ::waitpid(pids[1], &status, 0);
    pids.pop_back();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  ~Children() {
    for (pid_t pid : pids) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
};

TEST(Star, ProcessThatIsKilled) {
  Children children;
  EXPECT_EQ(children.end(SIGKILL), "process 1 is gone");
  EXPECT_EQ(children.statusOfOther(), 7);
}

TEST(Star, ProcessThatIsStopped) {
  Children children;
  EXPECT_EQ(children.end(SIGSTOP), "process 1 does not answer for 0.3 s");
  EXPECT_EQ(children.statusOfOther(), 7);
}

} // namespace
