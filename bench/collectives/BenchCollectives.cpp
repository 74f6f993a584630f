// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times of an all-reduce of float32 between two ranks, in turns: as threads, as
// processes, and beside them a memcpy of as many bytes by one thread. Started
// by mpirun -n 2: also by our transport over MPI, and by MPI itself.

#include "MpiPair.h"
#include "colrow/runtime/CPU/SharedMemory.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Format.h"
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

/// Seconds of a call of `run`, which takes a number of elements: one rank's
/// part of a turn. All ranks do as much, so they meet.
double turn(int64_t bytes, function_ref<void(int64_t)> run) {
  // Enough for the other one to be awake, and barriers to find that out.
  for (int i = 0; i < 32; ++i)
    run(1);
  return timed(callsOf(bytes), [&] { run(bytes / int64_t(sizeof(float))); });
}

double allReduce(Communicator &group, const void *source, void *destination,
                 int64_t bytes) {
  return turn(bytes, [&](int64_t count) {
    group.run({plan::CollectiveKind::all_reduce, plan::Reduction::sum,
               plan::DType::f32, count, 0, 0, 0, source, destination});
  });
}

double allReduce(const Machine &machine, Communicator &group, unsigned rank,
                 int64_t bytes) {
  return allReduce(group, machine.source(rank), machine.destination(rank),
                   bytes);
}

/// By our transport, and by MPI.
std::pair<double, double> allReduce(MpiPair &pair, int64_t bytes) {
  pair.meet();
  double ours =
      allReduce(pair.ours(), pair.source(), pair.destination(), bytes);
  pair.meet();
  double theirs = turn(bytes, [&](int64_t count) {
    if (pair.theirs(int(count)) != 0)
      orExit(createStringError("MPI_Allreduce failed"));
  });
  return {ours, theirs};
}

/// All that a rank does, in the order in which the first does it.
void followAsRank1(Machine &machine) {
  auto group = machine.group(1);
  for (int64_t bytes = smallest; bytes <= largest; bytes *= 4)
    for (unsigned round = 0; round < roundCount; ++round)
      allReduce(machine, *group, 1, bytes);
}

/// The same for the other process of mpirun's.
void followByMpi(MpiPair &pair) {
  for (int64_t bytes = smallest; bytes <= largest; bytes *= 4)
    for (unsigned round = 0; round < roundCount; ++round)
      allReduce(pair, bytes);
}

std::string sizeText(int64_t bytes) {
  return bytes < 1 << 20 ? std::to_string(bytes >> 10) + " KiB"
                         : std::to_string(bytes >> 20) + " MiB";
}

/// The best seconds of all turns of a size.
struct Row {
  static constexpr double never = 1e9;
  double copy = never, threads = never, processes = never, ours = never,
         theirs = never;

  void print(int64_t bytes) const {
    outs() << format("| %s | %.2f | %.1f | %.1f |", sizeText(bytes).c_str(),
                     copy * 1e6, threads * 1e6, processes * 1e6);
    if (ours < never)
      outs() << format(" %.1f | %.1f |", ours * 1e6, theirs * 1e6);
    outs() << format(" %.2f |\n", processes / threads);
    outs().flush();
  }
};

void keepLess(double &best, double seconds) { best = std::min(best, seconds); }

void printHead(bool hasMpi) {
  outs() << "| float32, 2 ranks | memcpy us | threads us | processes us |"
         << (hasMpi ? " ours over MPI us | MPI_Allreduce us |" : "")
         << " processes / threads |\n|" << (hasMpi ? " --- | --- |" : "")
         << " --- | --- | --- | --- | --- |\n";
}

/// The first rank's side: times, and the table. `pair` may be null.
void measure(Machine &threads, Machine &processes, MpiPair *pair) {
  auto threadGroup = threads.group(0), processGroup = processes.group(0);
  printHead(pair);
  for (int64_t bytes = smallest; bytes <= largest; bytes *= 4) {
    Row row;
    for (unsigned round = 0; round < roundCount; ++round) {
      keepLess(row.copy, timed(callsOf(bytes), [&] {
                 std::memcpy(threads.destination(0), threads.source(0), bytes);
               }));
      keepLess(row.threads, allReduce(threads, *threadGroup, 0, bytes));
      keepLess(row.processes, allReduce(processes, *processGroup, 0, bytes));
      if (!pair)
        continue;
      auto [ours, theirs] = allReduce(*pair, bytes);
      keepLess(row.ours, ours);
      keepLess(row.theirs, theirs);
    }
    row.print(bytes);
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

/// All of it; MPI starts when the other process is there, which has none.
int run(const LaunchInfo &launch) {
  Machine threads, processes;
  threads.fill();
  processes.fill();
  pid_t child = startProcess(processes);
  if (child < 0)
    orExit(createStringError("cannot start a process"));
  std::unique_ptr<MpiPair> pair;
  if (launch.isMpi())
    pair = orExit(MpiPair::start(launch, largest));
  threads.open(/*processRanks=*/2);
  processes.open(/*processRanks=*/1);
  std::thread other([&] { followAsRank1(threads); });
  measure(threads, processes, pair.get());
  other.join();
  int status = 1;
  ::waitpid(child, &status, 0);
  if (pair)
    pair->finish();
  return status == 0 ? 0 : 1;
}

int runAsSecond(const LaunchInfo &launch) {
  auto pair = orExit(MpiPair::start(launch, largest));
  followByMpi(*pair);
  pair->finish();
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Times of collectives\n");
  LaunchInfo launch = orExit(recognise("", "", environmentOf));
  if (launch.processes > 2)
    orExit(createStringError("is for two processes: mpirun -n 2"));
  return launch.process == 0 ? run(launch) : runAsSecond(launch);
}
