// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What processes of a machine share: barriers, also without a member, the page,
// and memory itself.

#include "SharedRanks.h"
#include "TestPlan.h"
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>

namespace colrow::runtime::test {
namespace {

JobPage pageOf(unsigned ranks) {
  Mesh mesh = meshOf({ranks});
  return take(JobPage::create(PageLayout(mesh, {{0}}, 0, ranks)));
}

BarrierWords &barrierOf(const JobPage &page) {
  return page.barrier(*page.layout().group(0, {0}));
}

/// Between two meetings each member sees what all wrote before the first: with
/// and without spinning. Members map the page at places of their own, and no
/// failure flag wakes those that sleep.
TEST(Barrier, ProcessesMeet) {
  constexpr unsigned members = 3;
  for (unsigned spins : {0u, 10000u}) {
    JobPage page = pageOf(members);
    EXPECT_TRUE(inProcesses(members, [&](unsigned process) {
      JobPage own = take(JobPage::map(page.file(), page.layout()));
      Barrier barrier(barrierOf(own), members, spins);
      for (int64_t round = 1; round <= 200; ++round) {
        own.status(process).step.store(round, std::memory_order_relaxed);
        EXPECT_TRUE(barrier.wait());
        for (unsigned other = 0; other < members; ++other)
          EXPECT_EQ(own.status(other).step.load(std::memory_order_relaxed),
                    round);
        EXPECT_TRUE(barrier.wait());
      }
    }));
  }
}

/// A member is killed: who waits for it can be seen to, and is let go once
/// somebody says so. From then on nobody waits at all.
TEST(Barrier, LetsGoWhenAMemberIsDead) {
  JobPage page = pageOf(2);
  pid_t victim = ::fork();
  if (victim == 0) {
    ::alarm(60);
    ::pause();
    ::_exit(0);
  }
  EXPECT_TRUE(inProcesses(1, [&](unsigned) {
    JobPage own = take(JobPage::map(page.file(), page.layout()));
    Barrier barrier(barrierOf(own), 2, 10, &own.failed());
    std::atomic<int64_t> &since = own.status(0).waitingSince;
    std::thread monitor([&] {
      while (since == 0)
        std::this_thread::yield();
      ::kill(victim, SIGKILL);
      own.failed() = 1;
    });
    EXPECT_FALSE(barrier.wait(&since));
    monitor.join();
    EXPECT_EQ(since, 0);
    EXPECT_FALSE(barrier.wait(&since));
  }));
  int status;
  EXPECT_EQ(::waitpid(victim, &status, 0), victim);
  EXPECT_TRUE(WIFSIGNALED(status));
}

/// The time since when a member waits is one, and is taken back.
TEST(Barrier, SaysSinceWhenItWaits) {
  BarrierWords words{};
  Barrier barrier(words, 2, 0);
  std::atomic<int64_t> since{0}, seen{0};
  auto now = [] {
    return std::chrono::steady_clock::now().time_since_epoch() /
           std::chrono::nanoseconds(1);
  };
  int64_t begin = now();
  std::thread other([&] {
    while ((seen = since.load()) == 0)
      std::this_thread::yield();
    EXPECT_TRUE(barrier.wait());
  });
  EXPECT_TRUE(barrier.wait(&since));
  other.join();
  EXPECT_GE(seen, begin);
  EXPECT_LE(seen, now());
  EXPECT_EQ(since, 0);
}

/// A collective of a group that has lost a member ends when that is known.
TEST(JobPage, CollectivesEndWhenTheJobHasFailed) {
  Mesh mesh = meshOf({2});
  JobPage page = take(JobPage::create(PageLayout(mesh, {{0}}, 0, 2)));
  SharedMemoryTransport transport(mesh, page, anywhere(2), 2);
  page.failed() = 1;
  auto group = transport.communicator(0, {0});
  for (int64_t count : {1, 4000}) {
    std::vector<float> data(count);
    group->run({plan::CollectiveKind::all_reduce, plan::Reduction::sum,
                plan::DType::f32, count, 0, 0, 0, data.data(), data.data()});
  }
  EXPECT_EQ(page.status(0).waitingSince, 0);
}

/// More ranks than files may be open: a process alone keeps none.
TEST(JobPage, ThreadsNeedNoFiles) {
  TestPlan builder;
  builder.mesh = {{"tp", 64}};
  LoadedPlan plan = builder.load();
  EXPECT_TRUE(inProcesses(1, [&](unsigned) {
    rlimit limit{32, 32};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_EQ(textOf(Executor::create(plan.get())), "");
  }));
}

TEST(JobPage, OneProcessClaims) {
  JobPage page = pageOf(2);
  JobPage other = take(JobPage::map(page.file(), page.layout()));
  EXPECT_TRUE(other.claim(1));
  EXPECT_FALSE(page.claim(0));
  EXPECT_FALSE(other.claim(1));
}

/// Ranks 3 to 5 of 2 x 3 on this machine: what is here of groups over each axis
/// and over both; nothing overlaps.
TEST(JobPage, HoldsTheMachinesPartOfEachGroup) {
  Mesh mesh = meshOf({2, 3});
  PageLayout layout(mesh, {{0}, {0, 1}, {1}}, 3, 3);
  using Ranks = std::vector<unsigned>;
  EXPECT_EQ(layout.group(4, {0})->members, (Ranks{4}));
  EXPECT_EQ(layout.group(4, {0, 1})->members, (Ranks{3, 4, 5}));
  EXPECT_EQ(layout.group(4, {1})->members, (Ranks{3, 4, 5}));
  EXPECT_EQ(layout.group(4, {1}), layout.group(5, {1}));
  EXPECT_EQ(layout.group(4, {1, 0}), nullptr);
  EXPECT_EQ(layout.groups(), 5u);
  JobPage page = take(JobPage::create(layout));
  std::vector<std::pair<char *, char *>> parts;
  auto add = [&](auto &part) {
    auto *begin = reinterpret_cast<char *>(&part);
    parts.emplace_back(begin, begin + sizeof(part));
  };
  add(page.failed());
  for (unsigned rank : {3, 4, 5}) {
    add(page.status(rank));
    add(page.barrier(*layout.group(rank, {0})));
    add(page.member(*layout.group(rank, {0}), 0));
  }
  for (const std::vector<uint8_t> &axes :
       {std::vector<uint8_t>{0, 1}, std::vector<uint8_t>{1}}) {
    add(page.barrier(*layout.group(3, axes)));
    for (unsigned local : {0, 1, 2})
      add(page.member(*layout.group(3, axes), local));
  }
  std::sort(parts.begin(), parts.end());
  for (size_t i = 1; i < parts.size(); ++i)
    EXPECT_LE(parts[i - 1].second, parts[i].first) << i;
  char *start = parts[0].first; // within the header
  EXPECT_LE(parts.back().second - start, int64_t(layout.bytes()));
}

TEST(JobPage, ListsOfAxesAreThoseOfAllPrograms) {
  TestPlan builder;
  builder.mesh = {{"dp", 2}, {"tp", 2}};
  builder.scratchBytes = 256;
  CollectiveSpec sum{plan::CollectiveKind::all_reduce, plan::Reduction::sum};
  sum.count = 4;
  for (const char *program : {"train", "other"}) {
    if (program == std::string("other"))
      builder.next(program);
    builder.scratchBytes = 256;
    builder.fill({}, 256, 0);
    builder.loop(2, 1);
    sum.axes = {uint8_t(1)};
    builder.collective(sum);
    sum.axes = program == std::string("other") ? std::vector<uint8_t>{1, 0}
                                               : std::vector<uint8_t>{0, 1};
    builder.collective(sum);
  }
  LoadedPlan plan = builder.load();
  using Axes = std::vector<uint8_t>;
  EXPECT_EQ(collectiveAxes(plan.get()),
            (std::vector<Axes>{{0, 1}, {1}, {1, 0}}));
}

/// Whatever is received in place of memory of the right size is refused.
TEST(SharedArena, OnlySealedMemoryOfTheRightSizeIsMapped) {
  SharedArena arena = take(SharedArena::create("a test", 10000));
  SharedArena same = take(SharedArena::map(arena.file(), 10000));
  EXPECT_NE(arena.get(), same.get());
  arena.get()[9999] = 5;
  EXPECT_EQ(same.get()[9999], 5);
  EXPECT_NE(::ftruncate(arena.file(), 4096), 0);
  EXPECT_NE(::ftruncate(arena.file(), 1 << 20), 0);
  EXPECT_HAS(textOf(SharedArena::map(arena.file(), 4096)),
             "memory of another process has 12288 bytes, expected 4096");
  EXPECT_HAS(textOf(SharedArena::map(arena.file(), 13000)), "12288 bytes");
  FileDescriptor unsealed(::memfd_create("test", MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(unsealed.get(), 4096), 0);
  EXPECT_HAS(textOf(SharedArena::map(unsealed.get(), 4096)),
             "may still change its size");
  EXPECT_EQ(::fcntl(unsealed.get(), F_ADD_SEALS, F_SEAL_GROW), 0);
  EXPECT_HAS(textOf(SharedArena::map(unsealed.get(), 4096)),
             "may still change its size");
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  FileDescriptor out(ends[0]), in(ends[1]);
  EXPECT_HAS(textOf(SharedArena::map(ends[0], 4096)), "0 bytes, expected 4096");
  EXPECT_HAS(textOf(SharedArena::map(-1, 4096)), "Bad file descriptor");
}

TEST(SharedArena, PagesOfAnotherPlanAreRefused) {
  JobPage page = pageOf(2);
  Mesh mesh = meshOf({4});
  EXPECT_HAS(textOf(JobPage::map(page.file(), PageLayout(mesh, {{0}}, 2, 2))),
             "another version, plan or number of ranks");
  EXPECT_HAS(textOf(JobPage::map(page.file(), PageLayout(mesh, {{0}}, 0, 4))),
             "bytes, expected");
  uint64_t bytes = page.layout().bytes();
  SharedArena empty = take(SharedArena::create("a test", bytes));
  EXPECT_HAS(textOf(JobPage::map(empty.file(), page.layout())),
             "another version, plan or number of ranks");
}

/// All pages are there, zeroed, and what is more than the system has is an
/// error. Sizes around small and huge pages.
TEST(SharedArena, MemoryIsThereOrAnError) {
  for (uint64_t bytes : {uint64_t(1), uint64_t(4096), uint64_t(4 << 20),
                         uint64_t(9 << 20) + 12345}) {
    SharedArena arena = take(SharedArena::create("a test", bytes));
    EXPECT_EQ(textOf(arena.populate()), "");
    EXPECT_EQ(std::count(arena.get(), arena.get() + bytes, 0), int64_t(bytes));
    std::vector<unsigned char> resident((bytes + 4095) / 4096);
    EXPECT_EQ(::mincore(arena.get(), bytes, resident.data()), 0);
    for (unsigned char page : resident)
      EXPECT_TRUE(page & 1);
  }
  EXPECT_HAS(textOf(SharedArena::create("the batch", uint64_t(1) << 46)),
             "cannot allocate 70368744177664 bytes for the batch: Cannot "
             "allocate memory");
}

// Sanitizers need address space of their own.
#if !__has_feature(address_sanitizer)
/// A limit on address space (ulimit -v).
TEST(SharedArena, ALimitOnAddressSpaceIsAnError) {
  EXPECT_TRUE(inProcesses(1, [](unsigned) {
    rlimit limit{uint64_t(1) << 30, uint64_t(1) << 30};
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
    EXPECT_HAS(textOf(SharedArena::create("the batch", uint64_t(1) << 30)),
               "cannot allocate 1073741824 bytes for the batch: ");
  }));
}
#endif

} // namespace
} // namespace colrow::runtime::test
