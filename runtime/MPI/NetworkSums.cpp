// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of several machines, in the order of ranks.

#include "NetworkCommunicator.h"
#include "Rows.h"
#include "colrow/runtime/Plan/DType.h"
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

static plan::Reduction reductionOf(const CollectiveCall &call) {
  return call.kind == plan::CollectiveKind::all_reduce ? call.reduction
                                                       : plan::Reduction::sum;
}

/// A term of this machine's, of a piece of a slice, without gaps.
void NetworkCommunicator::makeTerm(const CollectiveCall &call, unsigned term,
                                   const Slice &slice, int64_t first,
                                   int64_t count, char *out) {
  int64_t item = elementBytes(call.dtype);
  plan::DType type = termType(call.dtype);
  unsigned begin = term * group.termMembers - group.first;
  auto members = MutableArrayRef(sources).take_front(group.termMembers);
  forRows(slice.width, first, count,
          [&](int64_t at, int64_t row, int64_t column, int64_t n) {
            int64_t offset = slice.offset + row * slice.stride + column;
            char *to = out + at * elementBytes(type);
            for (unsigned m = 0; m < members.size(); ++m)
              members[m] = bases[begin + m] + offset * item;
            if (members.size() == 1)
              std::memcpy(to, members[0], n * item);
            else
              reduceParts(call.dtype, type, reductionOf(call), group.innerAxes,
                          members, to, n);
          });
}

void NetworkCommunicator::receiveTerms(const CollectiveCall &call,
                                       int64_t count) {
  termMessages.clear();
  int64_t bytes = count * elementBytes(termType(call.dtype));
  for (unsigned term = 0; bytes > 0 && term < group.terms(); ++term)
    if (!group.isTermHere(term))
      termMessages.push_back(receive(termRoom(term), bytes,
                                     group.senderOf(term, group.self),
                                     Phase::term));
}

/// Of each served member's slice, the piece from `first`.
void NetworkCommunicator::sendTerms(const CollectiveCall &call, int64_t first) {
  int64_t item = elementBytes(termType(call.dtype));
  for (unsigned i = 0; i < group.served.size(); ++i) {
    Slice slice = sliceOf(call, group.served[i]);
    int64_t count = pieceOf(slice, first);
    if (count == 0)
      continue;
    makeTerm(call, group.ownTerm(), slice, first, count, sendRoom(i));
    send(sendRoom(i), count * item, group.served[i], Phase::term);
  }
}

/// Adds up the terms of a piece of a slice and writes it to all targets.
bool NetworkCommunicator::sum(const CollectiveCall &call, const Slice &slice,
                              int64_t first, int64_t count) {
  plan::DType type = termType(call.dtype);
  int64_t item = elementBytes(call.dtype);
  bool isMade = group.termMembers > 1;
  for (unsigned term = 0; isMade && term < group.terms(); ++term)
    if (group.isTermHere(term))
      makeTerm(call, term, slice, first, count, termRoom(term));
  for (size_t message : termMessages)
    if (!messages.wait(message))
      return false;
  auto terms = MutableArrayRef(sources).take_front(group.terms());
  forRows(slice.width, first, count,
          [&](int64_t at, int64_t row, int64_t column, int64_t n) {
            int64_t offset = slice.offset + row * slice.stride + column;
            for (unsigned term = 0; term < terms.size(); ++term)
              terms[term] = group.isTermHere(term) && !isMade
                                ? bases[term - group.first] + offset * item
                                : termRoom(term) + at * elementBytes(type);
            destinations.clear();
            for (const Target &to : targets)
              destinations.push_back(
                  to.base + (to.offset + row * to.stride + column) * item);
            reduceParts(type, call.dtype, reductionOf(call), group.outerAxes,
                        terms, destinations, n);
          });
  return true;
}

/// One way to all: everybody gets all terms.
bool NetworkCommunicator::smallAllReduce(const CollectiveCall &call) {
  int64_t item = elementBytes(call.dtype);
  std::memcpy(own().shared->slots[parity], call.src, call.count * item);
  if (!meet())
    return false;
  for (unsigned local = 0; local < group.count; ++local)
    bases[local] = localMembers[local].shared->slots[parity];
  parity ^= 1;
  const Slice whole = {1, call.count, 0, 0};
  receiveTerms(call, call.count);
  if (!group.served.empty())
    makeTerm(call, group.ownTerm(), whole, 0, call.count, sendRoom(0));
  for (unsigned member : group.served)
    send(sendRoom(0), call.count * elementBytes(termType(call.dtype)), member,
         Phase::term);
  targets.clear();
  targets.push_back({static_cast<char *>(call.dst), 0, 0});
  return sum(call, whole, 0, call.count) && messages.finish();
}

/// Where this member's sum goes: to all of this machine and to messages, or,
/// scattered, to itself.
void NetworkCommunicator::aimAt(const CollectiveCall &call, const Slice &slice,
                                int64_t first) {
  targets.clear();
  if (call.kind == plan::CollectiveKind::reduce_scatter) {
    targets.push_back({own().dst, call.block, 0});
    return;
  }
  for (const LocalMember &local : localMembers)
    targets.push_back({local.dst, 0, slice.offset});
  targets.push_back({resultRoom(), 0, -first});
}

bool NetworkCommunicator::reducePiece(const CollectiveCall &call,
                                      int64_t first) {
  int64_t item = elementBytes(call.dtype);
  bool isScatter = call.kind == plan::CollectiveKind::reduce_scatter;
  Slice mine = sliceOf(call, group.self);
  int64_t count = pieceOf(mine, first);
  receiveTerms(call, count);
  if (!isScatter)
    receiveResults(call, first);
  sendTerms(call, first);
  aimAt(call, mine, first);
  if (count > 0 && !sum(call, mine, first, count))
    return false;
  if (count > 0 && !isScatter)
    sendResult(count * item);
  if (!isScatter && !takeResults(call, first))
    return false;
  // Padding is zero.
  for (int64_t row = 0; isScatter && first == 0 && row < call.outer; ++row)
    std::memset(own().dst + (row * call.block + mine.width) * item, 0,
                (call.block - mine.width) * item);
  return messages.finish();
}

} // namespace colrow::runtime
