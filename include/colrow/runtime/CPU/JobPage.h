// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ranks of a machine tell each other, in memory that all of its
// processes map: whether the job has failed, how far each rank is, and the
// places where groups meet. One process makes it, the others map it; where
// everything stands follows from the plan alone.

#ifndef COLROW_RUNTIME_CPU_JOBPAGE_H
#define COLROW_RUNTIME_CPU_JOBPAGE_H

#include "colrow/runtime/CPU/Barrier.h"
#include "colrow/runtime/CPU/SharedArena.h"
#include "colrow/runtime/Plan/Mesh.h"
#include <map>
#include <vector>

namespace colrow::runtime {

/// How far a rank is. Written by the rank, but for the heartbeat and the
/// signal, which its process writes; read by anyone.
struct alignas(64) RankStatus {
  /// Beats of its process.
  std::atomic<int64_t> heartbeat;
  /// What has ended its process, in the status of its first rank; 0: nothing
  /// that a process can tell of.
  std::atomic<int32_t> signal;
  std::atomic<int64_t> step;
  /// The instruction that it runs, an index into its program; -1: none.
  std::atomic<int64_t> op;
  /// Instructions that it has run in all.
  std::atomic<int64_t> executed;
  /// Since when it sleeps in a collective, in the steady clock's nanoseconds;
  /// 0: it does not.
  std::atomic<int64_t> waitingSince;
};

/// A rank's part of a group.
struct GroupMember {
  /// Collectives of at most this many bytes go through slots.
  static constexpr int64_t slotBytes = 4096;

  /// Its operands: offsets that SharedMemoryTransport makes addresses of.
  uint64_t src, dst;
  alignas(64) char slots[2][slotBytes];
};

/// Where things stand in a page.
class PageLayout {
public:
  /// Of the machine that has `count` ranks from `first`; `axes`: lists of the
  /// collectives between them, see collectiveAxes().
  PageLayout(const Mesh &mesh, std::vector<std::vector<uint8_t>> axes,
             unsigned first, unsigned count);

  unsigned firstRank() const { return first; }
  unsigned ranks() const { return count; }
  uint64_t bytes() const { return end; }

  /// A group's part on this machine.
  struct Group {
    uint64_t offset;               // of its barrier, then its members
    std::vector<unsigned> members; // ranks of this machine, rising
  };
  /// Of `rank`, which is of this machine. Null: no collective has these axes.
  const Group *group(unsigned rank, llvm::ArrayRef<uint8_t> axes) const;
  unsigned groups() const { return places.size(); }

private:
  Mesh mesh;
  unsigned first, count;
  uint64_t end = 0;
  /// By axes and the group's first rank on any machine.
  std::map<std::pair<std::vector<uint8_t>, unsigned>, Group> places;
};

/// The lists of axes of all collectives of a plan, each once, sorted.
std::vector<std::vector<uint8_t>> collectiveAxes(const plan::Plan &plan);

class JobPage {
public:
  /// A new page. Error: no memory.
  static llvm::Expected<JobPage> create(PageLayout layout,
                                        Sharing sharing = Sharing::processes);
  /// What another process created. Error: not with this layout.
  static llvm::Expected<JobPage> map(int file, PageLayout layout);

  const PageLayout &layout() const { return places; }
  /// See SharedArena.
  int file() const { return memory.file(); }
  void closeFile() { memory.closeFile(); }

  /// Not 0 once a process of the job has failed; sleeping ranks look at it.
  std::atomic<uint32_t> &failed() const;
  /// True for the first caller of all: who tells of the failure.
  bool claim(unsigned process) const;
  /// The word that claim() sets to process + 1.
  std::atomic<uint32_t> &claimed() const;
  /// Of a rank of this machine.
  RankStatus &status(unsigned rank) const;
  BarrierWords &barrier(const PageLayout::Group &group) const;
  /// `local`: position in group.members.
  GroupMember &member(const PageLayout::Group &group, unsigned local) const;

private:
  struct Header;
  JobPage(PageLayout layout, SharedArena memory)
      : places(std::move(layout)), memory(std::move(memory)) {}
  Header &header() const;

  PageLayout places;
  SharedArena memory;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_JOBPAGE_H
