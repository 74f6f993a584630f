// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events as Chrome's trace format.

#include "colrow/runtime/Core/Trace.h"
#include "colrow/runtime/Job/HostIdentity.h"
#include "colrow/runtime/Job/JointFile.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;

namespace colrow::runtime {

/// Text as a JSON string.
static std::string quoted(StringRef text) {
  return formatv("{0}", json::Value(json::fixUTF8(text))).str();
}

static void writeEvent(raw_ostream &out, unsigned rank, const TraceEvent &event,
                       int64_t origin) {
  const plan::Instruction &instruction = *event.instruction;
  StringRef name = textOf(instruction.name());
  StringRef kind = plan::EnumNameOp(instruction.op_type());
  out << "{\"ph\":\"X\",\"pid\":0,\"tid\":" << rank
      << ",\"name\":" << quoted(name.empty() ? kind : name)
      << ",\"cat\":" << quoted(kind)
      << format(",\"ts\":%.3f,\"dur\":%.3f", (event.begin - origin) * 1e-3,
                (event.end - event.begin) * 1e-3);
  if (const plan::Collective *collective = instruction.op_as_Collective())
    out << ",\"args\":{\"kind\":"
        << quoted(plan::EnumNameCollectiveKind(collective->kind()))
        << ",\"bytes\":" << collective->payload_bytes()
        << ",\"reason\":" << quoted(textOf(instruction.reason())) << "}";
  out << "}";
}

namespace {
/// Text at its place in a file, in parts. The same calls count its length when
/// there is no file.
class Track {
public:
  explicit Track(JointFile *file = nullptr, uint64_t place = 0)
      : file(file), place(place), out(text) {}

  raw_ostream &stream() { return out; }
  /// To be called between events.
  Error passOn(size_t least = 1 << 20) {
    if (text.size() < least)
      return Error::success();
    Error error = file ? file->writeAt(place, text.data(), text.size())
                       : Error::success();
    place += text.size();
    text.clear();
    return error;
  }
  uint64_t end() const { return place + text.size(); }

private:
  JointFile *file;
  uint64_t place;
  std::string text;
  raw_string_ostream out;
};
} // namespace

/// The tracks of this process' ranks; the first and the last process begin and
/// end the whole.
static Error writeTracks(const Executor &executor, int64_t origin, Track &to) {
  const Job &job = executor.job();
  raw_ostream &out = to.stream();
  if (job.isFirst())
    out << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
           "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{"
           "\"name\":\"tp-run\"}}";
  RankRange ranks = executor.ranks();
  for (unsigned rank = ranks.first; rank < ranks.end(); ++rank) {
    out << ",\n{\"ph\":\"M\",\"pid\":0,\"tid\":" << rank
        << ",\"name\":\"thread_name\",\"args\":{\"name\":\"rank " << rank
        << "\"}}";
    for (const TraceEvent &event : executor.events(rank)) {
      out << ",\n";
      writeEvent(out, rank, event, origin);
      if (Error error = to.passOn())
        return error;
    }
  }
  if (job.process() + 1 == job.processes())
    out << "\n]}\n";
  return to.passOn(/*least=*/0);
}

/// When this process' first event begins; INT64_MAX: it has none.
static int64_t firstBegin(const Executor &executor) {
  int64_t result = INT64_MAX;
  RankRange ranks = executor.ranks();
  for (unsigned rank = ranks.first; rank < ranks.end(); ++rank)
    if (!executor.events(rank).empty())
      result = std::min(result, executor.events(rank).front().begin);
  return result;
}

static Error noNumber() {
  return failure("a process does not tell of its trace");
}

/// The time that is zero in the trace: of this machine's first event. Machines
/// have clocks of their own.
static Expected<int64_t> gatherOrigin(const Executor &executor) {
  std::string machine = machineId();
  auto texts = executor.job().gather(
      formatv("{0} {1}", firstBegin(executor), machine).str());
  if (!texts)
    return texts.takeError();
  int64_t origin = INT64_MAX;
  for (StringRef text : *texts) {
    int64_t begin = 0;
    if (text.consumeInteger(10, begin) || !text.consume_front(" "))
      return noNumber();
    if (text == machine)
      origin = std::min(origin, begin);
  }
  return origin;
}

/// The numbers of all processes, in their order.
static Expected<std::vector<uint64_t>> gatherNumber(Job &job, uint64_t mine) {
  auto texts = job.gather(std::to_string(mine));
  if (!texts)
    return texts.takeError();
  std::vector<uint64_t> result;
  for (StringRef text : *texts)
    if (text.getAsInteger(10, result.emplace_back()))
      return noNumber();
  return result;
}

Error writeTrace(const Executor &executor, StringRef path) {
  Job &job = executor.job();
  Expected<JointFile> file = JointFile::create(job, path);
  if (!file)
    return file.takeError();
  Expected<int64_t> origin = gatherOrigin(executor);
  if (!origin)
    return origin.takeError();
  uint64_t place = 0;
  if (job.processes() > 1) {
    Track counting;
    if (Error error = writeTracks(executor, *origin, counting))
      return error;
    auto lengths = gatherNumber(job, counting.end());
    if (!lengths)
      return lengths.takeError();
    for (unsigned process = 0; process < job.process(); ++process)
      place += (*lengths)[process];
  }
  Track track(&*file, place);
  if (Error error = writeTracks(executor, *origin, track))
    return error;
  return file->commit();
}

} // namespace colrow::runtime
