// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes of a machine give each other files; strangers at the socket get
// and give none.

#include "colrow/runtime/CPU/ArenaExchange.h"
#include "SharedRanks.h"
#include "TestPlan.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

namespace colrow::runtime::test {
namespace {

using Processes = std::vector<unsigned>;

/// A file that says which it is.
FileDescriptor fileOf(unsigned process, unsigned index) {
  FileDescriptor file(::memfd_create("test", MFD_CLOEXEC));
  unsigned content[] = {process, index};
  EXPECT_EQ(::write(file.get(), content, sizeof(content)),
            ssize_t(sizeof(content)));
  return file;
}

void expectFile(int file, unsigned process, unsigned index) {
  unsigned content[2] = {};
  EXPECT_EQ(::pread(file, content, sizeof(content), 0),
            ssize_t(sizeof(content)));
  EXPECT_EQ(content[0], process);
  EXPECT_EQ(content[1], index);
  EXPECT_EQ(::fcntl(file, F_GETFD), FD_CLOEXEC);
}

/// The process that a pidfd stands for.
pid_t processOf(int pidfd) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(pidfd));
  std::string word;
  pid_t pid = -1;
  while (info >> word)
    if (word == "Pid:")
      info >> pid;
  return pid;
}

/// Gives `count` files and checks what comes from the others.
void exchangeAndCheck(Control &control, const Processes &members,
                      const std::vector<unsigned> &counts) {
  unsigned self = control.process();
  auto pids = take(control.gather(std::to_string(::getpid())));
  std::vector<FileDescriptor> files;
  std::vector<int> own;
  for (unsigned i = 0; i < counts[self]; ++i) {
    files.push_back(fileOf(self, i));
    own.push_back(files.back().get());
  }
  auto neighbours = take(exchangeArenas(control, members, own, 30));
  ASSERT_EQ(neighbours.size(), members.size());
  for (size_t m = 0; m < members.size(); ++m) {
    const Neighbour &neighbour = neighbours[m];
    if (members[m] == self) {
      EXPECT_TRUE(neighbour.files.empty() && !neighbour.pidfd);
      continue;
    }
    ASSERT_EQ(neighbour.files.size(), counts[members[m]]);
    for (unsigned i = 0; i < neighbour.files.size(); ++i)
      expectFile(neighbour.files[i].get(), members[m], i);
    EXPECT_EQ(std::to_string(processOf(neighbour.pidfd.get())),
              pids[members[m]]);
    EXPECT_EQ(::fcntl(neighbour.pidfd.get(), F_GETFD), FD_CLOEXEC);
  }
  take(control.gather("")); // pids stay valid until all have looked
}

/// Five processes on machines of three, one and one; one gives more files than
/// a message takes, one gives none.
TEST(ArenaExchange, FilesAndProcessesReachTheirMachine) {
  ForkedControl control(5);
  std::vector<Processes> machines = {{0, 2, 4}, {1}, {3}};
  EXPECT_TRUE(inProcesses(5, [&](unsigned process) {
    control.become(process);
    for (const Processes &machine : machines)
      if (llvm::is_contained(machine, process))
        exchangeAndCheck(control, machine, {2, 1, 450, 1, 0});
  }));
}

TEST(ArenaExchange, OneProcessNeedsNothing) {
  SingleProcess alone;
  auto neighbours = take(exchangeArenas(alone, {0}, {}, 1));
  ASSERT_EQ(neighbours.size(), 1u);
  EXPECT_TRUE(neighbours[0].files.empty());
}

/// What the first process tells, as it is on the wire.
struct Invitation {
  char name[16], secret[16];
};
struct Hello {
  uint32_t magic, process, count;
  char secret[16];
};

/// Calls a hook between what is told and what follows from it.
class Meddling : public Control {
public:
  Meddling(ForkedControl &control,
           std::function<void(std::vector<std::string> &)> hook)
      : control(control), hook(std::move(hook)) {}
  unsigned process() const override { return control.process(); }
  unsigned processes() const override { return control.processes(); }
  llvm::Expected<std::vector<std::string>> gather(llvm::StringRef mine,
                                                  double seconds) override {
    auto all = control.gather(mine, seconds);
    if (all && (*all)[0].size() == sizeof(Invitation))
      hook(*all);
    return all;
  }

private:
  ForkedControl &control;
  std::function<void(std::vector<std::string> &)> hook;
};

FileDescriptor connectTo(const Invitation &told) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string name =
      "colrow-" + llvm::toHex(llvm::StringRef(told.name, sizeof(told.name)));
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr *>(&address),
                      offsetof(sockaddr_un, sun_path) + 1 + name.size()),
            0);
  return socket;
}

Hello helloOf(const Invitation &told, unsigned process) {
  Hello hello{0x314c4f43, process, 0, {}};
  std::copy(std::begin(told.secret), std::end(told.secret), hello.secret);
  return hello;
}

/// Whoever is refused may be so before it has said anything.
void say(const FileDescriptor &socket, const void *bytes, size_t count) {
  (void)::send(socket.get(), bytes, count, MSG_NOSIGNAL);
}

/// Whether the other end hangs up, and gave nothing before.
bool isRefused(const FileDescriptor &socket) {
  char byte;
  return ::recv(socket.get(), &byte, 1, 0) <= 0;
}

/// Connects in every wrong way, with one that stays silent.
std::vector<FileDescriptor> strangersAt(const Invitation &told) {
  std::vector<FileDescriptor> strangers;
  auto connect = [&]() -> FileDescriptor & {
    strangers.push_back(connectTo(told));
    return strangers.back();
  };
  Hello right = helloOf(told, 1), wrong = right;
  wrong.secret[15] ^= 1;
  say(connect(), &wrong, sizeof(wrong));
  wrong = right, wrong.magic ^= 1;
  say(connect(), &wrong, sizeof(wrong));
  wrong = right, wrong.process = 0; // the one that listens
  say(connect(), &wrong, sizeof(wrong));
  wrong = right, wrong.process = 7; // of another machine
  say(connect(), &wrong, sizeof(wrong));
  wrong = right, wrong.count = 1u << 30;
  say(connect(), &wrong, sizeof(wrong));
  say(connect(), &right, sizeof(right) - 1);
  std::vector<char> much(4096, 'x');
  std::memcpy(much.data(), &right, sizeof(right));
  say(connect(), much.data(), much.size());
  strangers.push_back(connectTo(told)); // says nothing
  connectTo(told);                      // goes again
  return strangers;
}

TEST(ArenaExchange, StrangersDoNotDisturb) {
  ForkedControl control(2);
  EXPECT_TRUE(inProcesses(2, [&](unsigned process) {
    control.become(process);
    std::vector<FileDescriptor> strangers;
    Meddling meddling(control, [&](std::vector<std::string> &all) {
      if (process == 1)
        strangers =
            strangersAt(*reinterpret_cast<const Invitation *>(all[0].data()));
    });
    exchangeAndCheck(meddling, {0, 1}, {1, 1});
    for (const FileDescriptor &stranger : strangers)
      EXPECT_TRUE(isRefused(stranger));
  }));
}

/// Somebody of another user who knows the secret is refused: to be run as root,
/// who alone can become another user.
TEST(ArenaExchange, OtherUsersAreRefused) {
  if (::geteuid() != 0)
    return;
  ForkedControl control(2);
  EXPECT_TRUE(inProcesses(2, [&](unsigned process) {
    control.become(process);
    Meddling meddling(control, [&](std::vector<std::string> &all) {
      if (process != 1)
        return;
      const auto &told = *reinterpret_cast<const Invitation *>(all[0].data());
      EXPECT_TRUE(inProcesses(1, [&](unsigned) {
        EXPECT_EQ(::setuid(65534), 0);
        FileDescriptor socket = connectTo(told);
        Hello hello = helloOf(told, 1);
        say(socket, &hello, sizeof(hello));
        EXPECT_TRUE(isRefused(socket));
      }));
    });
    exchangeAndCheck(meddling, {0, 1}, {1, 1});
  }));
}

/// A member that does not know the secret is missing, and learns that it is not
/// wanted; nobody waits for longer than the limit.
TEST(ArenaExchange, AMemberWithoutTheSecretIsMissing) {
  ForkedControl control(2);
  EXPECT_TRUE(inProcesses(2, [&](unsigned process) {
    control.become(process);
    Meddling meddling(control, [&](std::vector<std::string> &all) {
      if (process == 1)
        all[0].back() ^= 1;
    });
    EXPECT_HAS(textOf(exchangeArenas(meddling, {0, 1}, {}, 0.2)),
               process == 0 ? "process 1 of this machine does not come"
                            : "cannot share memory: ");
  }));
}

/// The first process cannot listen, or is of another version.
TEST(ArenaExchange, WithoutAnInvitationThereIsAnError) {
  ForkedControl control(2);
  EXPECT_TRUE(inProcesses(2, [&](unsigned process) {
    control.become(process);
    Meddling meddling(control,
                      [&](std::vector<std::string> &all) { all[0].clear(); });
    EXPECT_HAS(textOf(exchangeArenas(meddling, {0, 1}, {}, 0.2)),
               "the first process of this machine could not listen");
  }));
}

} // namespace
} // namespace colrow::runtime::test
