// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who shares memory with whom, and the memory.

#include "colrow/runtime/Core/Machine.h"
#include "colrow/runtime/Job/HostIdentity.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace colrow::runtime {

/// How long the processes of a machine wait for each other's memory.
static constexpr double exchangeSeconds = 60;

/// Numbers the machines in the order of their first processes, which must
/// follow each other. `told`: of each process, machine and host.
static Expected<Placement> place(ArrayRef<std::string> told) {
  Placement result;
  std::vector<StringRef> machines;
  for (unsigned process = 0; process < told.size(); ++process) {
    auto [machine, host] = StringRef(told[process]).split('\n');
    if (!isKnownMachine(machine) && !result.unplaced)
      result.unplaced = process;
    unsigned number = find(machines, machine) - machines.begin();
    if (number == machines.size()) {
      machines.push_back(machine);
      result.hosts.push_back(host.str());
    } else if (number != result.machines.back()) {
      unsigned first = find(result.machines, number) - result.machines.begin();
      return failure("processes {0} and {1} run on one machine ({2}), others "
                     "between them do not: start them so that a machine's "
                     "processes follow each other (mpirun --map-by slot, srun "
                     "--distribution=block)",
                     first, process, host);
    }
    result.machines.push_back(number);
  }
  return result;
}

Error Machine::findMembers(Job &job, unsigned ranks) {
  auto told = job.gather(machineId() + "\n" + hostName());
  if (!told)
    return told.takeError();
  Expected<Placement> placed = place(*told);
  if (!placed)
    return placed.takeError();
  where = std::move(*placed);
  for (unsigned process = 0; process < job.processes(); ++process)
    if (where.machines[process] == where.machines[job.process()])
      members.push_back(process);
  mine = job.ranksOf(job.process(), ranks);
  all.first = job.ranksOf(members.front(), ranks).first;
  all.count = mine.count * unsigned(members.size());
  return Error::success();
}

Error Machine::allocate(StringRef use, uint64_t bytes) {
  arenas.resize(all.count);
  for (unsigned rank = mine.first; rank < mine.end(); ++rank) {
    Expected<SharedArena> arena = SharedArena::create(use, bytes, sharing());
    if (!arena)
      return arena.takeError();
    arenas[rank - all.first] = std::move(*arena);
  }
  return Error::success();
}

/// Files: the page, from the machine's first process, then each one's arenas.
Error Machine::meet(Job &job, PageLayout layout, uint64_t arenaBytes) {
  bool makesPage = members.front() == job.process();
  std::vector<int> own;
  if (makesPage) {
    Expected<JobPage> page = JobPage::create(layout, sharing());
    if (!page)
      return page.takeError();
    shared.emplace(std::move(*page));
    own.push_back(shared->file());
  }
  for (unsigned rank = mine.first; rank < mine.end(); ++rank)
    own.push_back(arenas[rank - all.first].file());
  auto others = exchangeArenas(job, members, own, exchangeSeconds);
  if (!others)
    return others.takeError();
  neighbours = std::move(*others);
  for (size_t m = 0; m < members.size(); ++m) {
    if (members[m] == job.process())
      continue;
    MutableArrayRef<FileDescriptor> files = neighbours[m].files;
    if (files.size() != mine.count + (m == 0 ? 1 : 0))
      return failure("process {0} runs another number of ranks", members[m]);
    if (m == 0) {
      Expected<JobPage> page = JobPage::map(files.front().get(), layout);
      if (!page)
        return page.takeError();
      shared.emplace(std::move(*page));
      files = files.drop_front();
    }
    for (unsigned i = 0; i < mine.count; ++i) {
      Expected<SharedArena> arena =
          SharedArena::map(files[i].get(), arenaBytes);
      if (!arena)
        return arena.takeError();
      arenas[m * mine.count + i] = std::move(*arena);
    }
    neighbours[m].files.clear();
  }
  return Error::success();
}

Expected<std::unique_ptr<Machine>> Machine::create(Job &job,
                                                   const plan::Plan &plan,
                                                   StringRef use,
                                                   uint64_t arenaBytes) {
  Mesh mesh(plan);
  std::unique_ptr<Machine> result(new Machine);
  if (Error error = result->findMembers(job, mesh.ranks()))
    return std::move(error);
  if (Error error = result->allocate(use, arenaBytes))
    return std::move(error);
  PageLayout layout(mesh, collectiveAxes(plan), result->all.first,
                    result->all.count);
  if (Error error = result->meet(job, std::move(layout), arenaBytes))
    return std::move(error);
  result->shared->closeFile();
  for (SharedArena &arena : result->arenas)
    arena.closeFile();
  return std::move(result);
}

int Machine::pidfd(unsigned process) const {
  return neighbours[find(members, process) - members.begin()].pidfd.get();
}

} // namespace colrow::runtime
