// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forked processes map the machine's memory anew, each at places of its own.

#include "SharedRanks.h"
#include "TestPlan.h"
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>

namespace colrow::runtime::test {

Mesh meshOf(std::vector<unsigned> sizes) {
  Mesh mesh;
  mesh.sizes.assign(sizes.begin(), sizes.end());
  mesh.names.resize(sizes.size(), "x");
  return mesh;
}

MachineMemory anywhere(unsigned ranks) {
  auto *start = reinterpret_cast<char *>(uintptr_t(64));
  return {std::vector<char *>(ranks, start), uint64_t(1) << 62};
}

bool inProcesses(unsigned processes, llvm::function_ref<void(unsigned)> f,
                 unsigned seconds) {
  std::vector<pid_t> children;
  for (unsigned p = 0; p < processes; ++p) {
    pid_t child = ::fork();
    if (child == 0) {
      ::alarm(seconds);
      f(p);
      std::fflush(stdout);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  bool passed = true;
  for (pid_t child : children) {
    int status = -1;
    passed &= child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
  }
  return passed;
}

namespace {
/// The machine as one of its processes sees it.
struct View {
  std::vector<SharedArena> arenas;
  std::vector<char> constants;
  std::unique_ptr<JobPage> page;
  std::unique_ptr<SharedMemoryTransport> transport;

  void open(const Mesh &mesh, uint64_t arenaBytes, unsigned processRanks) {
    MachineMemory memory{{}, arenaBytes, constants.data()};
    for (const SharedArena &arena : arenas)
      memory.arenas.push_back(arena.get());
    transport = std::make_unique<SharedMemoryTransport>(mesh, *page, memory,
                                                        processRanks);
  }

  /// Runs f for `count` ranks from `first`, a thread each.
  void run(unsigned first, unsigned count,
           llvm::function_ref<void(const TestRank &)> f) {
    std::vector<std::thread> threads;
    threads.reserve(count);
    for (unsigned rank = first; rank < first + count; ++rank)
      threads.emplace_back(
          [=] { f({rank, *transport, arenas[rank].get(), constants.data()}); });
    for (std::thread &thread : threads)
      thread.join();
  }
};
} // namespace

bool onMachine(const Mesh &mesh, std::vector<std::vector<uint8_t>> axes,
               uint64_t arenaBytes, llvm::ArrayRef<char> constants,
               unsigned ranksPerProcess,
               llvm::function_ref<void(const TestRank &)> f) {
  unsigned ranks = mesh.ranks();
  PageLayout layout(mesh, axes, 0, ranks);
  View own;
  own.constants = constants.vec();
  own.page = std::make_unique<JobPage>(take(JobPage::create(layout)));
  for (unsigned rank = 0; rank < ranks; ++rank)
    own.arenas.push_back(take(SharedArena::create("a test", arenaBytes)));
  if (ranksPerProcess == ranks) {
    own.open(mesh, arenaBytes, ranks);
    own.run(0, ranks, f);
    return true;
  }
  return inProcesses(ranks / ranksPerProcess, [&](unsigned process) {
    View view;
    view.constants = constants.vec();
    view.page =
        std::make_unique<JobPage>(take(JobPage::map(own.page->file(), layout)));
    for (const SharedArena &arena : own.arenas)
      view.arenas.push_back(take(SharedArena::map(arena.file(), arenaBytes)));
    view.open(mesh, arenaBytes, ranksPerProcess);
    view.run(process * ranksPerProcess, ranksPerProcess, f);
  });
}

struct ForkedControl::Shared {
  static constexpr unsigned maxProcesses = 8;
  BarrierWords words;
  struct {
    size_t size;
    char bytes[1024];
  } told[maxProcesses];
};

ForkedControl::ForkedControl(unsigned processes) : count(processes) {
  void *memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  shared = static_cast<Shared *>(memory);
}

ForkedControl::~ForkedControl() { ::munmap(shared, sizeof(Shared)); }

llvm::Expected<std::vector<std::string>>
ForkedControl::gather(llvm::StringRef mine, double) {
  Barrier barrier(shared->words, count, 0);
  EXPECT_LE(mine.size(), sizeof(shared->told[0].bytes));
  shared->told[self].size = mine.size();
  std::copy(mine.begin(), mine.end(), shared->told[self].bytes);
  barrier.wait();
  std::vector<std::string> all;
  all.reserve(count);
  for (unsigned p = 0; p < count; ++p)
    all.emplace_back(shared->told[p].bytes, shared->told[p].size);
  barrier.wait();
  return all;
}

} // namespace colrow::runtime::test
