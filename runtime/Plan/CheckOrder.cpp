// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs before what, by streams and events: a clock a stream, which counts
// its instructions and knows how far it has waited for the others. A loop whose
// body has several streams is walked twice, so that neighbouring iterations are
// compared too.

#include "Check.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;

namespace colrow::runtime {

namespace {

/// When something ran: the nth of its stream.
struct Moment {
  unsigned stream = 0; // index
  uint32_t time = 0;   // 0: never
  uint32_t instruction = 0;
};

/// The last accesses of consecutive bytes.
struct Cell {
  uint64_t end;
  Moment writer;
  SmallVector<Moment, 2> readers; // the last of each stream
};

class OrderChecker {
public:
  explicit OrderChecker(const CheckedProgram &program)
      : program(program), instructions(program.program.instructions()) {}

  std::optional<PlanFault> run();

private:
  std::optional<PlanFault> walk(uint32_t begin, uint32_t end);
  std::optional<PlanFault> visit(uint32_t i);
  std::optional<PlanFault> visitAccess(const BufferAccess &access);
  std::optional<PlanFault> visitCollective(const plan::Collective &collective,
                                           uint32_t i);
  bool hasSeveralStreams(uint32_t begin, uint32_t end) const;
  /// The earlier moment has surely passed when the current instruction runs.
  bool isBefore(const Moment &earlier) const {
    return earlier.time <= clocks[now.stream][earlier.stream];
  }
  std::optional<PlanFault> conflict(const BufferAccess &access,
                                    const Moment &other) const;
  /// Cells begin at `byte` or end there.
  void split(std::map<uint64_t, Cell> &cells, uint64_t byte);

  const CheckedProgram &program;
  const flatbuffers::Vector<flatbuffers::Offset<plan::Instruction>>
      *instructions;
  std::vector<size_t> firstAccess; // of each instruction
  SmallVector<unsigned, 8> streamIndex = SmallVector<unsigned, 8>(256, 0);
  std::vector<std::vector<uint32_t>> clocks; // of a stream, a time a stream
  std::map<uint32_t, std::vector<uint32_t>> events;
  std::map<std::vector<uint8_t>, Moment> communicators;
  std::map<uint64_t, Cell> scratch, persistent; // by first byte in the region
  Moment now;
};

} // namespace

bool OrderChecker::hasSeveralStreams(uint32_t begin, uint32_t end) const {
  int stream = -1;
  for (uint32_t i = begin; i < end; ++i) {
    const plan::Instruction &instruction = *instructions->Get(i);
    if (instruction.op_type() == plan::Op::Loop)
      continue;
    if (stream >= 0 && stream != instruction.stream())
      return true;
    stream = instruction.stream();
  }
  return false;
}

void OrderChecker::split(std::map<uint64_t, Cell> &cells, uint64_t byte) {
  auto it = cells.upper_bound(byte);
  if (it == cells.begin() || (--it)->first == byte || it->second.end <= byte)
    return;
  Cell rest = it->second;
  it->second.end = byte;
  cells.emplace(byte, std::move(rest));
}

std::optional<PlanFault> OrderChecker::conflict(const BufferAccess &access,
                                                const Moment &other) const {
  const plan::Instruction &there = *instructions->Get(other.instruction);
  return PlanFault{
      -1, int(access.instruction),
      formatv("{0} bytes of {1} without waiting for instruction {2} ({3}) on "
              "stream {4}, which uses them too",
              access.writes() ? "writes" : "reads",
              bufferText(program.buffers, access.buffer), other.instruction,
              textOf(there.name()), unsigned(there.stream()))
          .str()};
}

std::optional<PlanFault> OrderChecker::visitAccess(const BufferAccess &access) {
  const plan::Buffer &buffer = *program.buffers[access.buffer];
  if (buffer.region() != plan::Region::scratch &&
      buffer.region() != plan::Region::persistent)
    return std::nullopt;
  auto &cells = buffer.region() == plan::Region::scratch ? scratch : persistent;
  uint64_t low = buffer.offset() + access.low;
  uint64_t high = buffer.offset() + access.high;
  split(cells, low);
  split(cells, high);
  auto it = cells.lower_bound(low);
  for (uint64_t at = low; at < high;) {
    if (it == cells.end() || it->first > at) {
      uint64_t end = it == cells.end() ? high : std::min(high, it->first);
      it = cells.emplace_hint(it, at, Cell{end, {}, {}});
    }
    Cell &cell = it->second;
    if (!isBefore(cell.writer))
      return conflict(access, cell.writer);
    if (access.writes())
      for (const Moment &reader : cell.readers)
        if (!isBefore(reader))
          return conflict(access, reader);
    at = cell.end;
    if (access.writes()) {
      it = cells.erase(it);
      continue;
    }
    auto same = find_if(cell.readers, [&](const Moment &reader) {
      return reader.stream == now.stream;
    });
    if (same == cell.readers.end())
      cell.readers.push_back(now);
    else
      *same = now;
    ++it;
  }
  if (access.writes())
    cells.emplace_hint(it, low, Cell{high, now, {}});
  return std::nullopt;
}

std::optional<PlanFault>
OrderChecker::visitCollective(const plan::Collective &collective, uint32_t i) {
  Moment &last = communicators[listOf(collective.axes()).vec()];
  if (!isBefore(last))
    return PlanFault{
        -1, int(i),
        formatv("does not wait for instruction {0} ({1}), the collective over "
                "the same axes before it",
                last.instruction,
                textOf(instructions->Get(last.instruction)->name()))
            .str()};
  last = now;
  return std::nullopt;
}

std::optional<PlanFault> OrderChecker::visit(uint32_t i) {
  const plan::Instruction &instruction = *instructions->Get(i);
  unsigned stream = streamIndex[instruction.stream()];
  std::vector<uint32_t> &clock = clocks[stream];
  now = {stream, ++clock[stream], i};
  if (const plan::Record *record = instruction.op_as_Record()) {
    events[record->event()] = clock;
    return std::nullopt;
  }
  if (const plan::Wait *wait = instruction.op_as_Wait()) {
    ArrayRef<uint32_t> event = events.find(wait->event())->second;
    for (size_t s = 0; s < clock.size(); ++s)
      clock[s] = std::max(clock[s], event[s]);
    return std::nullopt;
  }
  for (size_t a = firstAccess[i]; a < firstAccess[i + 1]; ++a)
    if (std::optional<PlanFault> found = visitAccess(program.accesses[a]))
      return found;
  if (const plan::Collective *collective = instruction.op_as_Collective())
    return visitCollective(*collective, i);
  return std::nullopt;
}

std::optional<PlanFault> OrderChecker::walk(uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; ++i) {
    const plan::Loop *loop = instructions->Get(i)->op_as_Loop();
    if (!loop) {
      if (std::optional<PlanFault> found = visit(i))
        return found;
      continue;
    }
    uint32_t bodyEnd = i + 1 + loop->body();
    bool twice = loop->trips() > 1 && hasSeveralStreams(i + 1, bodyEnd);
    for (int pass = 0; pass < 1 + twice; ++pass)
      if (std::optional<PlanFault> found = walk(i + 1, bodyEnd))
        return found;
    i = bodyEnd - 1;
  }
  return std::nullopt;
}

std::optional<PlanFault> OrderChecker::run() {
  unsigned streams = 0;
  std::vector<bool> seen(256, false);
  for (const plan::Instruction *instruction : *instructions)
    if (!seen[instruction->stream()]) {
      seen[instruction->stream()] = true;
      streamIndex[instruction->stream()] = streams++;
    }
  clocks.assign(streams, std::vector<uint32_t>(streams, 0));
  firstAccess.assign(instructions->size() + 1, program.accesses.size());
  for (size_t a = program.accesses.size(); a-- > 0;)
    firstAccess[program.accesses[a].instruction] = a;
  for (size_t i = instructions->size(); i-- > 0;)
    firstAccess[i] = std::min(firstAccess[i], firstAccess[i + 1]);
  return walk(0, instructions->size());
}

/// Each event is recorded by one instruction, which stands before its waits.
static std::optional<PlanFault> checkEvents(const CheckedProgram &program) {
  std::map<uint32_t, uint32_t> recorded;
  for (uint32_t i = 0; i < program.instructionCount(); ++i) {
    const plan::Instruction &instruction =
        *program.program.instructions()->Get(i);
    if (const plan::Record *record = instruction.op_as_Record()) {
      auto [entry, isNew] = recorded.try_emplace(record->event(), i);
      if (!isNew)
        return PlanFault{-1, int(i),
                         formatv("records event {0}, as instruction {1} does",
                                 record->event(), entry->second)
                             .str()};
    } else if (const plan::Wait *wait = instruction.op_as_Wait()) {
      if (!recorded.count(wait->event()))
        return PlanFault{-1, int(i),
                         formatv("waits for event {0}, which no instruction "
                                 "before it records",
                                 wait->event())
                             .str()};
    }
  }
  return std::nullopt;
}

std::optional<PlanFault> checkOrder(const CheckedProgram &program) {
  if (std::optional<PlanFault> found = checkEvents(program))
    return found;
  const auto *instructions = program.program.instructions();
  bool single = !instructions || all_of(*instructions, [&](const auto *i) {
    return i->stream() == instructions->Get(0)->stream() ||
           i->op_type() == plan::Op::Loop;
  });
  // On one stream the list's order is the order.
  return single ? std::nullopt : OrderChecker(program).run();
}

} // namespace colrow::runtime
