// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times of an all-reduce of float32 between two ranks, in turns: as threads, as
// processes, through MPI's messages as between machines, and beside them Open
// MPI's own and a memcpy of as many bytes by one thread.

#include "OverMpi.h"
#include "colrow/runtime/CPU/SharedMemory.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>

using namespace llvm;
using namespace colrow;
using namespace colrow::runtime;

namespace {

cl::opt<unsigned> roundCount("rounds", cl::init(9),
                             cl::desc("Turns of each; the best is shown"));

cl::opt<bool> isServing("serve-over-mpi", cl::Hidden,
                        cl::desc("What mpirun starts"));

constexpr int64_t smallest = 1 << 10, largest = 64 << 20;
constexpr unsigned ranks = 2;

ExitOnError orExit("bench-collectives: ");

/// Two ranks' memory, as one process sees it: sources, then destinations.
class Machine {
public:
  Machine()
      : mesh(meshOfTwo()), layout(mesh, {{0}}, 0, ranks),
        page(orExit(JobPage::create(layout))) {
    for (unsigned rank = 0; rank < ranks; ++rank)
      arenas.push_back(orExit(SharedArena::create("a rank", arenaBytes)));
  }
  /// The same memory, mapped once more.
  Machine(const Machine &other)
      : mesh(other.mesh), layout(other.layout),
        page(orExit(JobPage::map(other.page.file(), layout))) {
    for (const SharedArena &arena : other.arenas)
      arenas.push_back(orExit(SharedArena::map(arena.file(), arenaBytes)));
  }

  void open(unsigned processRanks) {
    MachineMemory memory{{}, arenaBytes, nullptr};
    for (const SharedArena &arena : arenas)
      memory.arenas.push_back(arena.get());
    transport.emplace(mesh, page, memory, processRanks);
  }
  /// All of it, with values that no unit is slow at.
  void fill() {
    for (unsigned rank = 0; rank < ranks; ++rank) {
      orExit(arenas[rank].populate());
      auto *values = reinterpret_cast<float *>(arenas[rank].get());
      std::fill_n(values, arenaBytes / sizeof(float), 1.0f);
    }
  }
  char *source(unsigned rank) const { return arenas[rank].get(); }
  char *destination(unsigned rank) const {
    return arenas[rank].get() + largest;
  }
  std::unique_ptr<Communicator> group(unsigned rank) {
    return transport->communicator(rank, {0});
  }

private:
  static constexpr uint64_t arenaBytes = 2 * largest;
  static Mesh meshOfTwo() {
    Mesh mesh;
    mesh.sizes = {ranks};
    mesh.names = {"tp"};
    return mesh;
  }

  Mesh mesh;
  PageLayout layout;
  JobPage page;
  std::vector<SharedArena> arenas;
  std::optional<SharedMemoryTransport> transport;
};

/// Calls of a size that are timed as one: some milliseconds.
unsigned callsOf(int64_t bytes) {
  return std::clamp<int64_t>((int64_t(32) << 20) / bytes, 2, 2000);
}

/// Seconds of a call of f.
double timed(unsigned calls, function_ref<void()> f) {
  auto begin = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < calls; ++i)
    f();
  std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - begin;
  return passed.count() / calls;
}

/// One rank's part of a turn; both ranks do as much, so they meet.
double allReduce(const Machine &machine, Communicator &group, unsigned rank,
                 int64_t bytes) {
  auto run = [&](int64_t count) {
    group.run({plan::CollectiveKind::all_reduce, plan::Reduction::sum,
               plan::DType::f32, count, 0, 0, 0, machine.source(rank),
               machine.destination(rank)});
  };
  // Enough for the other one to be awake, and barriers to find that out.
  for (int i = 0; i < 32; ++i)
    run(1);
  return timed(callsOf(bytes), [&] { run(bytes / int64_t(sizeof(float))); });
}

/// All that a rank does, in the order in which the first does it.
void followAsRank1(Machine &machine) {
  auto group = machine.group(1);
  for (int64_t bytes = smallest; bytes <= largest; bytes *= 4)
    for (unsigned round = 0; round < roundCount; ++round)
      allReduce(machine, *group, 1, bytes);
}

double best(const std::vector<double> &values) {
  return *std::min_element(values.begin(), values.end());
}

std::string sizeText(int64_t bytes) {
  return bytes < 1 << 20 ? std::to_string(bytes >> 10) + " KiB"
                         : std::to_string(bytes >> 20) + " MiB";
}

/// Microseconds, right of a bar; a dash where there is no such pair.
std::string cell(double seconds) {
  if (seconds < 0)
    return "- | ";
  std::string text;
  raw_string_ostream(text) << format("%.1f | ", seconds * 1e6);
  return text;
}

/// The first rank's side: times, and the table.
void measure(Machine &threads, Machine &processes, bench::MpiPair &messages,
             bench::MpiPair &openMpi) {
  auto threadGroup = threads.group(0), processGroup = processes.group(0);
  outs() << "| float32, 2 ranks | memcpy us | threads us | processes us | "
            "as machines, by MPI us | Open MPI's own us | processes / threads "
            "|\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (int64_t bytes = smallest; bytes <= largest; bytes *= 4) {
    std::vector<double> copies, byThreads, byProcesses, byMessages, byOpenMpi;
    for (unsigned round = 0; round < roundCount; ++round) {
      copies.push_back(timed(callsOf(bytes), [&] {
        std::memcpy(threads.destination(0), threads.source(0), bytes);
      }));
      byThreads.push_back(allReduce(threads, *threadGroup, 0, bytes));
      byProcesses.push_back(allReduce(processes, *processGroup, 0, bytes));
      unsigned calls = std::max(2u, callsOf(bytes) / 10); // they are slower
      byMessages.push_back(messages.turn(bytes, calls));
      byOpenMpi.push_back(openMpi.turn(bytes, calls));
    }
    double thread = best(byThreads), process = best(byProcesses);
    outs() << format("| %s | %.2f | ", sizeText(bytes).c_str(),
                     best(copies) * 1e6)
           << cell(thread) << cell(process) << cell(best(byMessages))
           << cell(best(byOpenMpi)) << format("%.2f |\n", process / thread);
  }
}

/// Rank 1 in a process of its own, which maps the memory anew.
pid_t startProcess(const Machine &machine) {
  pid_t child = ::fork();
  if (child != 0)
    return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Machine own = machine;
  own.open(/*processRanks=*/1);
  followAsRank1(own);
  ::_exit(0);
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Times of collectives\n");
  if (isServing)
    return bench::serveOverMpi(largest);
  std::signal(SIGPIPE, SIG_IGN);
  SmallString<128> program;
  if (sys::fs::real_path("/proc/self/exe", program))
    return 1;
  bench::MpiPair messages({program.c_str(), "--serve-over-mpi"});
  bench::MpiPair openMpi(
      {(sys::path::parent_path(program) + "/bench-mpi-all-reduce").str()});
  Machine threads, processes;
  threads.fill();
  processes.fill();
  pid_t child = startProcess(processes);
  if (child < 0)
    orExit(createStringError("cannot start a process"));
  threads.open(/*processRanks=*/2);
  processes.open(/*processRanks=*/1);
  std::thread other([&] { followAsRank1(threads); });
  measure(threads, processes, messages, openMpi);
  other.join();
  int status = 1;
  ::waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}
