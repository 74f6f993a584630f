// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group of ranks of several machines, as one of its ranks sees it: who sums
// what, and who sends what to whom. Every member derives the same.
//
// A sum has terms: where the innermost axes lie within machines, a term is the
// sum over them, made on its machine and sent once; else it is a member's own
// value. Members count in the order of their ranks, as sums do.

#ifndef COLROW_RUNTIME_MPI_NETWORKGROUP_H
#define COLROW_RUNTIME_MPI_NETWORKGROUP_H

#include "colrow/runtime/MPI/NetworkTransport.h"

namespace colrow::runtime {

/// What a message is of.
enum class Phase { term, result };

struct NetworkGroup {
  struct Member {
    unsigned rank, process, machine;
    unsigned position; // in the order of the list of axes
  };
  struct Tag {
    unsigned list;  // which of the plan's lists of axes
    unsigned share; // ranks of a process
  };

  NetworkGroup(const Mesh &mesh, const Placement &placement, unsigned rank,
               llvm::ArrayRef<uint8_t> axes, Tag tags);

  unsigned size() const { return members.size(); }
  unsigned terms() const { return size() / termMembers; }
  bool isHere(unsigned member) const { return member - first < count; }
  bool isTermHere(unsigned term) const { return isHere(term * termMembers); }
  unsigned ownTerm() const { return self / termMembers; }
  /// The member that sends a term to `receiver`, on another machine.
  unsigned senderOf(unsigned term, unsigned receiver) const {
    return term * termMembers + receiver % termMembers;
  }
  unsigned tagFrom(unsigned sender, unsigned receiver, Phase phase) const;

  /// By rank.
  std::vector<Member> members;
  unsigned self = 0;
  /// The members of this machine follow each other.
  unsigned first = 0, count = 0;
  /// Members of a term.
  unsigned termMembers = 1;
  /// Sizes of the axes within a term, and over terms; the innermost first.
  std::vector<unsigned> innerAxes, outerAxes;

  /// Members of other machines to which this one sends its term.
  std::vector<unsigned> served;
  /// Members of other machines whose results this one receives for its machine.
  std::vector<unsigned> taken;
  /// The members, one a machine, that receive this one's results.
  std::vector<unsigned> takers;

private:
  void findTerms(const Mesh &mesh, llvm::ArrayRef<uint8_t> axes);
  void findPartners();
  unsigned takerOf(unsigned machine, unsigned member) const;

  Tag tags;
};

/// Tags that all groups of so many lists need.
uint64_t tagsOf(uint64_t lists, uint64_t share);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_MPI_NETWORKGROUP_H
