// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes of a machine that come to watch each other at different times.

#include "SharedRanks.h"
#include "TestPlan.h"
#include "colrow/runtime/Core/Machine.h"
#include "colrow/runtime/Core/Monitor.h"
#include "colrow/runtime/Job/Connect.h"
#include "gtest/gtest.h"
#include <sys/socket.h>
#include <unistd.h>

using namespace colrow::runtime;
using namespace colrow::runtime::test;

namespace {

constexpr double limit = 0.5;

TEST(Monitor, WhoDoesNotWatchYetIsHeard) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  TestPlan two;
  two.mesh = {{"tp", 2}};
  LoadedPlan plan = two.load();
  EXPECT_TRUE(inProcesses(2, [&](unsigned process) {
    int end = ::dup(pair[process]);
    LaunchInfo launch;
    launch.kind = LauncherKind::own;
    launch.process = process;
    launch.processes = 2;
    launch.controlFds = {pair[process]};
    ConnectOptions options;
    options.limit = options.meetSeconds = 10;
    auto star = connectJob(launch, options);
    ASSERT_TRUE(bool(star)) << toString(star.takeError());
    auto made = std::make_unique<Monitor>(std::move(*star), limit, "test");
    Monitor &monitor = *made;
    Job job(std::move(made));
    auto machine = Machine::create(job, plan.get(), "a test", 1 << 16);
    ASSERT_TRUE(bool(machine)) << toString(machine.takeError());
    if (process == 0)
      monitor.watch({std::move(*machine), {0, 1}, [](unsigned) {
                       return std::string("the start");
                     }});
    ::usleep(useconds_t(2 * limit * 1e6));
    monitor.leave();
    // The end of the connection, which the test's own process has open too.
    ::shutdown(end, SHUT_RDWR);
    ::close(end);
  }));
  ::close(pair[0]);
  ::close(pair[1]);
}

} // namespace
