// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header, a line a rank, then the groups: a barrier and the members of each.

#include "colrow/runtime/CPU/JobPage.h"
#include "colrow/runtime/Support/Errors.h"
#include <set>

using namespace llvm;

namespace colrow::runtime {

struct alignas(64) JobPage::Header {
  /// Says also how the page is laid out: other versions have another number.
  static constexpr uint64_t wanted = 0x3147504c4f43; // "COLPG1"

  uint64_t magic, bytes;
  uint32_t firstRank, ranks, groups;
  std::atomic<uint32_t> failed;
  std::atomic<uint32_t> claimed; // by process + 1
};

static constexpr uint64_t headerBytes = 64;

std::vector<std::vector<uint8_t>> collectiveAxes(const plan::Plan &plan) {
  std::set<std::vector<uint8_t>> lists;
  if (plan.programs())
    for (const plan::Program *program : *plan.programs()) {
      if (!program->instructions())
        continue;
      for (const plan::Instruction *instruction : *program->instructions())
        if (const plan::Collective *c = instruction->op_as_Collective())
          lists.insert(listOf(c->axes()).vec());
    }
  return {lists.begin(), lists.end()};
}

PageLayout::PageLayout(const Mesh &mesh, std::vector<std::vector<uint8_t>> axes,
                       unsigned first, unsigned count)
    : mesh(mesh), first(first), count(count) {
  end = headerBytes + count * sizeof(RankStatus);
  for (const std::vector<uint8_t> &list : axes)
    for (unsigned rank = first; rank < first + count; ++rank)
      places[{list, mesh.leader(rank, list)}].members.push_back(rank);
  for (auto &[key, group] : places) {
    group.offset = end;
    end += sizeof(BarrierWords) + group.members.size() * sizeof(GroupMember);
  }
}

const PageLayout::Group *PageLayout::group(unsigned rank,
                                           ArrayRef<uint8_t> axes) const {
  auto found = places.find({axes.vec(), mesh.leader(rank, axes)});
  return found == places.end() ? nullptr : &found->second;
}

JobPage::Header &JobPage::header() const {
  return *reinterpret_cast<Header *>(memory.get());
}

Expected<JobPage> JobPage::create(PageLayout layout, Sharing sharing) {
  static_assert(sizeof(Header) == headerBytes);
  Expected<SharedArena> memory = SharedArena::create(
      "what ranks tell each other", layout.bytes(), sharing);
  if (!memory)
    return memory.takeError();
  if (Error error = memory->populate())
    return std::move(error);
  JobPage page(std::move(layout), std::move(*memory));
  Header &header = page.header();
  header.magic = Header::wanted;
  header.bytes = page.places.bytes();
  header.firstRank = page.places.firstRank();
  header.ranks = page.places.ranks();
  header.groups = page.places.groups();
  return std::move(page);
}

Expected<JobPage> JobPage::map(int file, PageLayout layout) {
  Expected<SharedArena> memory = SharedArena::map(file, layout.bytes());
  if (!memory)
    return memory.takeError();
  JobPage page(std::move(layout), std::move(*memory));
  const Header &header = page.header();
  if (header.magic != Header::wanted || header.bytes != page.places.bytes() ||
      header.firstRank != page.places.firstRank() ||
      header.ranks != page.places.ranks() ||
      header.groups != page.places.groups())
    return failure("the processes of this machine run another version, plan or "
                   "number of ranks");
  return std::move(page);
}

std::atomic<uint32_t> &JobPage::failed() const { return header().failed; }

bool JobPage::claim(unsigned process) const {
  uint32_t nobody = 0;
  return claimed().compare_exchange_strong(nobody, process + 1);
}

std::atomic<uint32_t> &JobPage::claimed() const { return header().claimed; }

RankStatus &JobPage::status(unsigned rank) const {
  char *first = memory.get() + headerBytes;
  return reinterpret_cast<RankStatus *>(first)[rank - places.firstRank()];
}

BarrierWords &JobPage::barrier(const PageLayout::Group &group) const {
  return *reinterpret_cast<BarrierWords *>(memory.get() + group.offset);
}

GroupMember &JobPage::member(const PageLayout::Group &group,
                             unsigned local) const {
  char *members = memory.get() + group.offset + sizeof(BarrierWords);
  return reinterpret_cast<GroupMember *>(members)[local];
}

} // namespace colrow::runtime
