// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An executor's start: memory and threads of the ranks, how they meet, and who
// watches them.

#include "ExecutorImpl.h"
#include "colrow/runtime/CPU/SharedMemory.h"
#include "colrow/runtime/Support/Errors.h"

using namespace llvm;

namespace colrow::runtime {

/// Host memory of all ranks of this machine, and how they meet.
Error Executor::Impl::share() {
  uint64_t bytes = device.hostBytes(layout);
  auto shared = Machine::create(job, plan, layout.text(), bytes);
  if (!shared)
    return shared.takeError();
  machine = std::move(*shared);
  for (unsigned r = mine.first; r < mine.end(); ++r)
    machine->page().status(r).op.store(-1);
  watch();
  MachineMemory memory;
  RankRange all = machine->ranks();
  for (unsigned r = all.first; r < all.end(); ++r)
    memory.arenas.push_back(machine->arena(r));
  memory.arenaBytes = bytes;
  memory.constants =
      reinterpret_cast<const char *>(listOf(plan.constants()).data());
  return connect(std::move(memory));
}

Error Executor::Impl::connect(MachineMemory memory) {
  const Placement &placement = machine->placement();
  if (placement.isOneMachine()) {
    transport = std::make_unique<SharedMemoryTransport>(
        mesh, machine->page(), std::move(memory), mine.count);
    return Error::success();
  }
  if (!network && placement.unplaced)
    return failure("cannot tell which processes share a machine: process {0} "
                   "does not see /proc/sys/kernel/random/boot_id and "
                   "/proc/self/ns: is /proc mounted?",
                   *placement.unplaced);
  if (!network)
    return failure("processes run on {0} machines ({1}, {2}{3}), and MPI alone "
                   "carries data between them: start them with mpirun, or "
                   "srun --mpi=pmix or --mpi=pmi2",
                   placement.hosts.size(), placement.hosts[0],
                   placement.hosts[1], placement.hosts.size() > 2 ? "..." : "");
  auto made = NetworkTransport::create(mesh, machine->page(), std::move(memory),
                                       placement, collectiveAxes(plan),
                                       *network, networkOptions);
  if (!made)
    return made.takeError();
  transport = std::move(*made);
  return Error::success();
}

/// The ranks' memory, each near its thread.
Error Executor::Impl::allocate() {
  std::vector<std::optional<std::string>> faults(mine.count);
  threads.run([&](unsigned r) {
    auto regions =
        device.allocate(plan, layout, *machine, r, [this] { job.progress(); });
    if (regions)
      of(r).regions = *regions;
    else
      faults[r - mine.first] = toString(regions.takeError());
  });
  for (const std::optional<std::string> &fault : faults)
    if (fault)
      return failure("{0}", *fault);
  for (unsigned r = mine.first; r < mine.end(); ++r) {
    auto coordinates = mesh.coordinates(r);
    for (size_t axis = 0; axis < coordinates.size(); ++axis)
      of(r).scalars.coordinates[axis] = coordinates[axis];
  }
  return Error::success();
}

/// "step 5, tp.all_reduce at ...": all processes run one program at a time.
static std::string placeOf(const RankStatus &status, unsigned rank,
                           const LoadedProgram *program) {
  int64_t step = status.step.load(), op = status.op.load();
  if (step == 0 || !program)
    return "the start";
  auto *instructions = program->tables().of(rank).instructions();
  if (op < 0 || !instructions || op >= int64_t(instructions->size()))
    return formatv("step {0}, between two programs", step);
  const plan::Instruction &at = *instructions->Get(op);
  StringRef name = textOf(at.name());
  return formatv("step {0}, {1} ({2})", step,
                 name.empty() ? "instruction" : name,
                 plan::EnumNameOp(at.op_type()));
}

void Executor::Impl::watch() {
  if (!monitor)
    return;
  monitor->watch({machine, mine, [this](unsigned rank) {
                    return placeOf(machine->page().status(rank), rank,
                                   running.load());
                  }});
}

static Error checkShares(const Mesh &mesh, unsigned processes) {
  unsigned ranks = mesh.ranks();
  if (ranks % processes != 0)
    return failure("was compiled for {0} rank{1} ({2}), which {3} processes "
                   "cannot share evenly: start another number of them, or "
                   "compile it with --mesh tp={3}",
                   ranks, ranks == 1 ? "" : "s", mesh.text(), processes);
  if (ranks / processes > Executor::maxRanks)
    return failure("is for {0} ranks, at most {1} can be threads of a process",
                   ranks, Executor::maxRanks);
  return Error::success();
}

Expected<std::unique_ptr<Executor>>
Executor::create(const plan::Plan &plan, const ExecutorOptions &options) {
  if (Error error =
          checkShares(Mesh(plan), options.job ? options.job->processes() : 1))
    return std::move(error);
  auto impl = std::make_unique<Impl>(plan, options);
  if (Error error = impl->share())
    return std::move(error);
  if (Error error = impl->device.load(plan, impl->mine.count))
    return std::move(error);
  if (Error error = impl->threads.start())
    return std::move(error);
  if (Error error = impl->allocate())
    return std::move(error);
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

} // namespace colrow::runtime
