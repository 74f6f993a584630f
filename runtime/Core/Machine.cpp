// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who shares memory with whom, and the memory.

#include "colrow/runtime/Core/Machine.h"
#include "colrow/runtime/Job/Machine.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace colrow::runtime {

/// How long the processes of a machine wait for each other's memory.
static constexpr double exchangeSeconds = 60;

Error Machine::findMembers(Job &job, unsigned ranks) {
  auto machines = job.gather(machineId());
  if (!machines)
    return machines.takeError();
  for (unsigned process = 0; process < machines->size(); ++process)
    if ((*machines)[process] == (*machines)[job.process()])
      members.push_back(process);
  if (members.back() - members.front() + 1 != members.size())
    return failure("processes {0} and {1} run on one machine, others between "
                   "them do not: start them so that a machine's processes "
                   "follow each other (mpirun --map-by slot, srun "
                   "--distribution=block)",
                   members.front(), members.back());
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
