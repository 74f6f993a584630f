// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles in a group follow from ranks, axes and machines alone.

#include "NetworkGroup.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace colrow::runtime {

NetworkGroup::NetworkGroup(const Mesh &mesh, const Placement &placement,
                           unsigned rank, ArrayRef<uint8_t> axes, Tag tags)
    : tags(tags) {
  unsigned leader = mesh.leader(rank, axes);
  for (unsigned other = 0; other < mesh.ranks(); ++other) {
    if (mesh.leader(other, axes) != leader)
      continue;
    if (other == rank)
      self = members.size();
    unsigned process = other / tags.share;
    members.push_back({other, process, placement.machines[process],
                       mesh.memberIndex(other, axes)});
  }
  auto isHere = [&](const Member &member) {
    return member.machine == members[self].machine;
  };
  first = find_if(members, isHere) - members.begin();
  count = count_if(members, isHere);
  findTerms(mesh, axes);
  findPartners();
}

/// The innermost axes, as long as no machine's border cuts what they make.
void NetworkGroup::findTerms(const Mesh &mesh, ArrayRef<uint8_t> axes) {
  std::vector<uint8_t> order = axes.vec();
  llvm::sort(order, std::greater<>());
  auto isWhole = [&](unsigned block) {
    for (unsigned m = 1; m < size(); ++m)
      if (members[m].machine != members[m - 1].machine && m % block != 0)
        return false;
    return true;
  };
  for (uint8_t axis : order) {
    if (outerAxes.empty() && isWhole(termMembers * mesh.sizes[axis])) {
      termMembers *= mesh.sizes[axis];
      innerAxes.push_back(mesh.sizes[axis]);
    } else {
      outerAxes.push_back(mesh.sizes[axis]);
    }
  }
  // Axes of one rank make no sum.
  if (termMembers == 1)
    innerAxes.clear();
}

unsigned NetworkGroup::takerOf(unsigned machine, unsigned member) const {
  auto isOn = [&](const Member &other) { return other.machine == machine; };
  unsigned begin = find_if(members, isOn) - members.begin();
  return begin + member % unsigned(count_if(members, isOn));
}

void NetworkGroup::findPartners() {
  unsigned last = members[self].machine;
  for (unsigned m = 0; m < size(); ++m) {
    unsigned machine = members[m].machine;
    if (machine == members[self].machine)
      continue;
    if (senderOf(ownTerm(), m) == self)
      served.push_back(m);
    if (takerOf(members[self].machine, m) == self)
      taken.push_back(m);
    if (machine != last)
      takers.push_back(takerOf(machine, self));
    last = machine;
  }
}

uint64_t tagsOf(uint64_t lists, uint64_t share) {
  return lists * 2 * share * share;
}

unsigned NetworkGroup::tagFrom(unsigned sender, unsigned receiver,
                               Phase phase) const {
  unsigned kind = tags.list * 2 + (phase == Phase::result);
  unsigned from = members[sender].rank % tags.share;
  unsigned to = members[receiver].rank % tags.share;
  return (kind * tags.share + from) * tags.share + to;
}

} // namespace colrow::runtime
