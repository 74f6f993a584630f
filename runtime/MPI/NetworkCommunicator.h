// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank's membership in a group of several machines.
//
// Each member sums a chunk of the data from its terms, and its result goes once
// to each other machine, where one member writes it to all. Data travels in
// pieces through memory that was taken beforehand. Within a machine members
// meet at a collective's begin and end only: between them, what a message
// brings says that its sender has read what it needed.

#ifndef COLROW_RUNTIME_MPI_NETWORKCOMMUNICATOR_H
#define COLROW_RUNTIME_MPI_NETWORKCOMMUNICATOR_H

#include "../CPU/Operands.h"
#include "../CPU/Reduce.h"
#include "Messages.h"
#include "NetworkGroup.h"
#include <algorithm>

namespace colrow::runtime {

/// Part of a rank's data: `rows` of `width` elements each, `stride` apart.
struct Slice {
  int64_t rows, width, stride, offset; // in elements

  int64_t elements() const { return rows * width; }
};

class NetworkCommunicator : public Communicator {
public:
  /// `place`: of the group in the page; `bufferBytes`: about how much memory
  /// this rank takes for messages.
  NetworkCommunicator(NetworkGroup group, const JobPage &page,
                      const PageLayout::Group &place,
                      const MachineMemory &memory, unsigned spins,
                      Network &network, size_t bufferBytes);
  ~NetworkCommunicator() override;

  void run(const CollectiveCall &call) override;

private:
  struct LocalMember { // a member of this machine
    GroupMember *shared;
    char *arena;
    // Of the collective that runs.
    const char *src;
    char *dst;
  };
  /// Where a sum goes: as a slice's, in elements.
  struct Target {
    char *base;
    int64_t stride, offset;
  };

  bool meet() { return barrier.wait(&status.waitingSince); }
  LocalMember &own() { return localMembers[group.self - group.first]; }
  bool publish(const CollectiveCall &call);
  size_t send(const void *from, int64_t bytes, unsigned member, Phase phase);
  size_t receive(void *to, int64_t bytes, unsigned member, Phase phase);

  bool smallAllReduce(const CollectiveCall &call);
  bool reducePiece(const CollectiveCall &call, int64_t first);
  bool gatherPiece(const CollectiveCall &call, int64_t first);
  bool allToAll(const CollectiveCall &call);
  template <typename F> bool inPieces(const CollectiveCall &call, F f);

  void makeTerm(const CollectiveCall &call, unsigned term, const Slice &slice,
                int64_t first, int64_t count, char *out);
  void sendTerms(const CollectiveCall &call, int64_t first);
  void receiveTerms(const CollectiveCall &call, int64_t count);
  bool sum(const CollectiveCall &call, const Slice &slice, int64_t first,
           int64_t count);
  void aimAt(const CollectiveCall &call, const Slice &slice, int64_t first);

  void receiveResults(const CollectiveCall &call, int64_t first);
  void sendResult(int64_t bytes);
  bool takeResults(const CollectiveCall &call, int64_t first);
  void gatherHere(const CollectiveCall &call);

  /// What a member sums, of everybody's source; or, of a gather, what it gives,
  /// in everybody's destination.
  Slice sliceOf(const CollectiveCall &call, unsigned member) const;
  int64_t pieceOf(const Slice &slice, int64_t first) const {
    return std::clamp<int64_t>(slice.elements() - first, 0, pieceElements);
  }
  /// A term of several members is not rounded.
  plan::DType termType(plan::DType dtype) const {
    return group.termMembers == 1 ? dtype : sumType(dtype);
  }

  char *termRoom(unsigned term) { return room.get() + term * pieceBytes; }
  char *sendRoom(unsigned i) { return termRoom(group.terms() + i); }
  char *takenRoom(unsigned i) { return sendRoom(group.served.size() + i); }
  char *resultRoom() { return takenRoom(group.taken.size()); }

  NetworkGroup group;
  Operands operands;
  RankStatus &status;
  Barrier barrier;
  Messages messages;
  unsigned parity = 0;
  std::vector<LocalMember> localMembers;
  int64_t pieceBytes, pieceElements = 0;
  std::unique_ptr<char[]> room;
  // Scratch, so that a step allocates nothing.
  std::vector<const char *> bases; // of the members of this machine
  std::vector<const char *> sources;
  std::vector<Target> targets;
  std::vector<char *> destinations;
  std::vector<size_t> termMessages, resultMessages;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_MPI_NETWORKCOMMUNICATOR_H
