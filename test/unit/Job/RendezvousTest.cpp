// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rendezvous over TCP on loopback, among others who are not invited.

#include "colrow/runtime/Job/Rendezvous.h"
#include "SocketPair.h"
#include "colrow/runtime/Job/Connect.h"
#include "colrow/runtime/Job/Frames.h"
#include "colrow/runtime/Job/StarControl.h"
#include "colrow/runtime/Job/ToldByFirst.h"
#include "gtest/gtest.h"
#include <arpa/inet.h>
#include <atomic>
#include <netinet/in.h>
#include <thread>

using namespace colrow::runtime;
using namespace llvm;

namespace {

const char loopback[] = "127.0.0.1";

JobDescription jobOf(unsigned processes, std::string token = "") {
  return {"step.plan", "", processes, std::move(token)};
}

FileDescriptor connected(uint16_t port) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, loopback, &address.sin_addr);
  if (::connect(socket.get(), reinterpret_cast<sockaddr *>(&address),
                sizeof(address)) != 0)
    socket.reset();
  return socket;
}

/// A port on which nobody listens, and which nobody else is given.
struct FreePort {
  FileDescriptor holder;
  uint16_t number = 0;

  FreePort() : holder(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    int on = 1; // leaves it to those who know it
    ::setsockopt(holder.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, loopback, &address.sin_addr);
    socklen_t size = sizeof(address);
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    EXPECT_EQ(::bind(holder.get(), generic, size), 0);
    EXPECT_EQ(::getsockname(holder.get(), generic, &size), 0);
    number = ntohs(address.sin_port);
  }
};

void say(const FileDescriptor &socket, StringRef text) {
  EXPECT_EQ(textOf(sendAll(socket.get(), text, Deadline::in(5))), "");
}

/// True when the other side has closed.
bool isClosed(const FileDescriptor &socket) {
  char byte;
  return StringRef(textOf(receiveAll(socket.get(), &byte, 1, Deadline::in(5))))
      .contains("closed");
}

/// Process 0 in a thread of its own.
struct RunningHub {
  JobDescription job;
  MeetingPlace place;
  std::unique_ptr<Hub> hub;
  std::vector<FileDescriptor> sockets;
  std::string error;
  std::thread thread;

  RunningHub(JobDescription described, double seconds,
             MeetingPlace at = {loopback})
      : job(std::move(described)), place(std::move(at)) {
    auto listening = Hub::listen(place, job);
    EXPECT_EQ(textOf(listening), "");
    hub = std::move(*listening);
    place.port = hub->port();
    thread = std::thread([this, seconds] {
      auto accepted = hub->accept(seconds);
      error = textOf(accepted);
      if (accepted)
        sockets = std::move(*accepted);
    });
  }
  ~RunningHub() {
    if (thread.joinable())
      thread.join();
  }
};

/// All of a job join `hub`, and talk.
void joinAndTalk(RunningHub &hub) {
  unsigned processes = hub.job.processes;
  std::vector<std::thread> threads;
  std::atomic<unsigned> met{0};
  auto talk = [&](unsigned process, std::vector<FileDescriptor> sockets) {
    auto star = StarControl::create(process, processes, std::move(sockets), 5);
    ASSERT_EQ(textOf(star), "");
    auto all = (*star)->gather(std::to_string(process));
    ASSERT_EQ(textOf(all), "");
    for (unsigned other = 0; other < processes; ++other)
      EXPECT_EQ((*all)[other], std::to_string(other));
    EXPECT_EQ(textOf((*star)->leave()), "");
    ++met;
  };
  for (unsigned process = 1; process < processes; ++process)
    threads.emplace_back([&, process] {
      auto sockets = rendezvous(hub.place, hub.job, process, 5);
      ASSERT_EQ(textOf(sockets), "");
      talk(process, std::move(*sockets));
    });
  hub.thread.join();
  EXPECT_EQ(hub.error, "");
  if (hub.error.empty())
    talk(0, std::move(hub.sockets));
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(met, processes);
}

TEST(Rendezvous, AllMeetAndNobodyListensAfter) {
  for (unsigned processes : {2u, 3u, 8u})
    for (std::string token : {"", "secret"}) {
      RunningHub hub(jobOf(processes, token), 5);
      joinAndTalk(hub);
      EXPECT_FALSE(connected(hub.place.port));
    }
}

TEST(Rendezvous, OthersMayComeFirst) {
  FreePort port;
  JobDescription job = jobOf(2);
  std::thread other([&] {
    EXPECT_EQ(textOf(rendezvous({loopback, port.number, false}, job, 1, 5)),
              "");
  });
  ::usleep(50 * 1000);
  EXPECT_EQ(textOf(rendezvous({loopback, port.number, false}, job, 0, 5)), "");
  other.join();
}

TEST(Rendezvous, AnIPv6Address) {
  JobDescription job = jobOf(2);
  auto hub = Hub::listen({"::1", 0, false}, job);
  if (!hub) { // a machine without IPv6 says so
    EXPECT_TRUE(StringRef(textOf(hub)).contains("cannot listen on [::1]:0"));
    return;
  }
  std::thread other([&, port = (*hub)->port()] {
    EXPECT_EQ(textOf(rendezvous({"::1", port, false}, job, 1, 5)), "");
  });
  EXPECT_EQ(textOf((*hub)->accept(5)), "");
  other.join();
}

TEST(Rendezvous, UninvitedDoNotStopIt) {
  RunningHub hub(jobOf(3, "secret"), 5);
  std::vector<FileDescriptor> others;
  auto come = [&](StringRef text) {
    others.push_back(connected(hub.place.port));
    say(others.back(), text);
  };
  come("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(isClosed(others.back()));
  come(std::string(100000, 'x'));
  come(protocolLine.take_front(5)); // and no more
  come(std::string("\0\xff\0\xff", 4));
  come(protocolLine.str() + "J" + std::string(300, 'x'));
  for (int i = 0; i < 10; ++i)
    others.push_back(connected(hub.place.port)); // says nothing
  connected(hub.place.port).reset();
  for (std::string token : {"", "Secret"})
    EXPECT_NE(textOf(rendezvous(hub.place, jobOf(3, token), 1, 5)), "");
  joinAndTalk(hub);
}

TEST(Rendezvous, AHundredSilentConnections) {
  RunningHub hub(jobOf(3), 5);
  std::vector<FileDescriptor> others;
  others.reserve(100);
  for (int i = 0; i < 100; ++i)
    others.push_back(connected(hub.place.port));
  // It comes behind them, so the oldest have to go.
  auto first = rendezvous(hub.place, hub.job, 1, 5);
  EXPECT_EQ(textOf(first), "");
  for (size_t i = 0; i < 100 - maxPending; ++i)
    EXPECT_TRUE(isClosed(others[i])) << i;
  EXPECT_EQ(textOf(rendezvous(hub.place, hub.job, 2, 5)), "");
  hub.thread.join();
  EXPECT_EQ(hub.error, "");
}

TEST(Rendezvous, TimeoutTellsWhatCame) {
  RunningHub hub(jobOf(4, "secret"), 0.4);
  FileDescriptor silent = connected(hub.place.port);
  say(connected(hub.place.port), "HELO x\r\n");
  connected(hub.place.port).reset();
  EXPECT_NE(textOf(rendezvous(hub.place, jobOf(4, "other"), 1, 5)), "");
  EXPECT_NE(textOf(rendezvous(hub.place, jobOf(5, "secret"), 1, 5)), "");
  auto first = rendezvous(hub.place, hub.job, 1, 5);
  ASSERT_EQ(textOf(first), "");
  EXPECT_EQ(textOf(rendezvous(hub.place, hub.job, 1, 5)),
            "process 1 cannot join process 0 at 127.0.0.1:" +
                std::to_string(hub.place.port) +
                ": process 1 has joined already: two processes were given the "
                "same number");
  hub.thread.join();
  EXPECT_EQ(hub.error,
            "processes 2 and 3 of 4 did not join at 127.0.0.1:" +
                std::to_string(hub.place.port) +
                " for 0.4 s; connections: 1 dropped that sent garbage, 1 "
                "dropped that ended early, 1 dropped with a wrong token, 1 "
                "dropped with another number of processes, 1 dropped of a "
                "process that had joined already");
  // Those that have joined know it, and leave it to process 0.
  auto star = StarControl::create(1, 4, std::move(*first), 5);
  ASSERT_FALSE(star);
  EXPECT_TRUE(star.errorIsA<ToldByFirst>());
  consumeError(star.takeError());
}

TEST(Rendezvous, OfManyWhoAreLateTheFirstAreNamed) {
  RunningHub hub(jobOf(4096), 0.01);
  hub.thread.join();
  EXPECT_TRUE(StringRef(hub.error).starts_with(
      "processes 1, 2, 3, 4, 5, 6, 7, 8 and 4087 more "
      "of 4096 did not join at 127.0.0.1:"));
}

TEST(Rendezvous, NameOfLoopbackIsTold) {
  // No address as text, so a name.
  MeetingPlace place = {"127.1", 0};
  RunningHub hub(jobOf(2), 0.05, place);
  hub.thread.join();
  EXPECT_EQ(
      hub.error,
      "process 1 of 2 did not join at 127.1:" + std::to_string(hub.place.port) +
          " for 0.05 s; it listens on loopback only, where no other "
          "machine can reach it: give --rendezvous ADDRESS:PORT");
}

TEST(Rendezvous, SlowOnesAreDropped) {
  MeetingPlace place = {loopback, 0, false, /*pendingSeconds=*/0.1};
  RunningHub hub(jobOf(2), 0.5, place);
  FileDescriptor silent = connected(hub.place.port),
                 slow = connected(hub.place.port);
  // A byte now and then keeps no place.
  for (char c : protocolLine) {
    (void)textOf(sendAll(slow.get(), StringRef(&c, 1), Deadline::in(5)));
    ::usleep(10 * 1000);
  }
  EXPECT_TRUE(isClosed(slow));
  EXPECT_TRUE(isClosed(silent));
  hub.thread.join();
  EXPECT_TRUE(StringRef(hub.error).ends_with(
      "; connections: 2 dropped that were too slow"))
      << hub.error;
}

/// As a launcher by hand would have it.
TEST(Rendezvous, FromLaunchToControl) {
  FreePort port;
  auto run = [&](unsigned process) {
    LaunchInfo info;
    info.kind = LauncherKind::environment;
    info.process = process;
    info.processes = 3;
    info.host = loopback;
    info.port = port.number;
    auto control = connectJob(info, {"step.plan", "secret"});
    ASSERT_EQ(textOf(control), "");
    EXPECT_EQ(textOf((*control)->gather("here")), "");
    for (unsigned other = 0; other < 3; ++other)
      EXPECT_EQ((*control)->nameOf(other), "process " + std::to_string(other));
    EXPECT_EQ(textOf((*control)->leave()), "");
  };
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (unsigned process = 0; process < 3; ++process)
    threads.emplace_back(run, process);
  for (std::thread &thread : threads)
    thread.join();
  auto alone = connectJob(LaunchInfo(), {"step.plan", ""});
  ASSERT_EQ(textOf(alone), "");
  EXPECT_EQ(cantFail((*alone)->gather("x")), std::vector<std::string>{"x"});
  LaunchInfo mpi;
  mpi.kind = LauncherKind::openmpi;
  mpi.processes = 2;
  EXPECT_EQ(textOf(connectJob(mpi, {"step.plan", ""})),
            "nothing says where openmpi's processes are to meet: give "
            "--rendezvous HOST:PORT");
}

TEST(Rendezvous, AProcessThatComesAgain) {
  RunningHub hub(jobOf(3), 5);
  EXPECT_EQ(textOf(rendezvous(hub.place, hub.job, 1, 5)), ""); // and is gone
  for (int tries = 0; tries < 1000; ++tries) {
    auto again = rendezvous(hub.place, hub.job, 1, 5);
    if (!again) { // its end was not seen yet
      consumeError(again.takeError());
      ::usleep(1000);
      continue;
    }
    EXPECT_EQ(textOf(rendezvous(hub.place, hub.job, 2, 5)), "");
    hub.thread.join();
    EXPECT_EQ(hub.error, "");
    return;
  }
  FAIL() << "its place is never free again";
}

TEST(Rendezvous, SecondJobOnOnePort) {
  RunningHub hub(jobOf(2), 5);
  JobDescription second = {"other.plan", "", 2, ""};
  std::string text = textOf(Hub::listen(hub.place, second));
  EXPECT_TRUE(StringRef(text).starts_with("other.plan (pid ")) << text;
  EXPECT_TRUE(StringRef(text).contains("that is where step.plan (pid "))
      << text;
  std::string refused = textOf(rendezvous(hub.place, second, 1, 5));
  EXPECT_TRUE(StringRef(refused).contains("another job, step.plan (pid "));
  EXPECT_TRUE(StringRef(refused).contains("this one is other.plan (pid "));
  joinAndTalk(hub);
  // Now the port is free.
  EXPECT_EQ(textOf(Hub::listen(hub.place, second)), "");
}

TEST(Rendezvous, AnotherProgramsPort) {
  FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, loopback, &address.sin_addr);
  socklen_t size = sizeof(address);
  auto *generic = reinterpret_cast<sockaddr *>(&address);
  ASSERT_EQ(::bind(listener.get(), generic, size), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  ASSERT_EQ(::getsockname(listener.get(), generic, &size), 0);
  MeetingPlace place = {loopback, ntohs(address.sin_port), false};
  std::thread program([&] {
    for (int i = 0; i < 2; ++i) {
      FileDescriptor socket(::accept(listener.get(), nullptr, nullptr));
      say(socket, "SSH-2.0-x\r\n");
      (void)isClosed(socket);
    }
  });
  JobDescription job = jobOf(2);
  EXPECT_TRUE(StringRef(textOf(Hub::listen(place, job)))
                  .contains("another program has that port"));
  std::string text = textOf(rendezvous(place, job, 1, 5));
  EXPECT_TRUE(StringRef(text).contains("it says \"SSH-2.0-x")) << text;
  program.join();
}

TEST(Rendezvous, NobodyThere) {
  FreePort port;
  EXPECT_EQ(
      textOf(rendezvous({loopback, port.number, false}, jobOf(2), 1, 0.1)),
      "process 1 could not join process 0 at 127.0.0.1:" +
          std::to_string(port.number) + " for 0.1 s: Connection refused");
}

TEST(Rendezvous, OtherMachinesNeedAToken) {
  // 203.0.113.0/24 is nobody's.
  for (StringRef host : {"203.0.113.77", "0.0.0.0", "::", "2001:db8::1"})
    for (unsigned process : {0u, 1u}) {
      std::string text =
          textOf(rendezvous({host.str(), 29500, false}, jobOf(2), process, 5));
      EXPECT_TRUE(StringRef(text).contains(
          "can be reached from other machines: set COLROW_TOKEN"))
          << text;
    }
  JobDescription job = jobOf(2), secret = jobOf(2, "secret");
  EXPECT_EQ(textOf(Hub::listen({"0.0.0.0", 0, true}, job)), "");
  EXPECT_EQ(textOf(Hub::listen({"0.0.0.0", 0, false}, secret)), "");
  EXPECT_TRUE(StringRef(textOf(Hub::listen({"203.0.113.77", 0, true}, job)))
                  .contains("must be an address of process 0's machine"));
}

TEST(Rendezvous, HostsThatAreNone) {
  for (unsigned process : {0u, 1u})
    EXPECT_TRUE(StringRef(textOf(rendezvous({"no host", 1, false}, jobOf(2),
                                            process, 5)))
                    .contains("cannot find the host no host"));
}

} // namespace
