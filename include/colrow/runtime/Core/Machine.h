// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ranks of this process' machine: memory that all of its processes map, and
// the processes themselves.

#ifndef COLROW_RUNTIME_CORE_MACHINE_H
#define COLROW_RUNTIME_CORE_MACHINE_H

#include "colrow/runtime/CPU/ArenaExchange.h"
#include "colrow/runtime/CPU/JobPage.h"
#include "colrow/runtime/CPU/SharedArena.h"
#include "colrow/runtime/Job/Job.h"
#include "colrow/runtime/Job/Placement.h"
#include <memory>
#include <optional>
#include <vector>

namespace colrow::runtime {

class Machine {
public:
  /// Makes an arena of `arenaBytes` for each of this process' ranks and maps
  /// those of the machine's other processes; all processes of the job call it
  /// at once. `use`: what an arena is for, in errors. Errors: not enough
  /// memory; a machine's processes that do not follow each other.
  static llvm::Expected<std::unique_ptr<Machine>> create(Job &job,
                                                         const plan::Plan &plan,
                                                         llvm::StringRef use,
                                                         uint64_t arenaBytes);

  /// Of this machine; with those of other machines they are the mesh.
  RankRange ranks() const { return all; }
  /// Start of the memory of one of them, as this process sees it.
  char *arena(unsigned rank) const { return arenas[rank - all.first].get(); }
  /// See SharedArena::populate(): of one of this process' ranks.
  llvm::Error populate(unsigned rank, llvm::function_ref<void()> onPart) {
    return arenas[rank - all.first].populate(onPart);
  }
  const JobPage &page() const { return *shared; }

  /// This machine among those of the job.
  const Placement &placement() const { return where; }
  /// Its processes, rising.
  llvm::ArrayRef<unsigned> processes() const { return members; }
  /// Of one of them but this: a handle that ends with it.
  int pidfd(unsigned process) const;

private:
  Machine() = default;
  llvm::Error findMembers(Job &job, unsigned ranks);
  Sharing sharing() const {
    return members.size() == 1 ? Sharing::threads : Sharing::processes;
  }
  llvm::Error allocate(llvm::StringRef use, uint64_t bytes);
  llvm::Error meet(Job &job, PageLayout layout, uint64_t arenaBytes);

  Placement where;
  std::vector<unsigned> members;
  RankRange all, mine;
  std::vector<SharedArena> arenas;
  std::optional<JobPage> shared;
  std::vector<Neighbour> neighbours; // as members; of itself nothing
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_MACHINE_H
