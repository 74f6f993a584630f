// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events as Chrome's trace format.

#include "colrow/runtime/Core/Trace.h"
#include "colrow/runtime/Support/AtomicFile.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

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

Error writeTrace(const Executor &executor, StringRef path) {
  auto file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  int64_t origin = INT64_MAX;
  for (unsigned rank = 0; rank < executor.mesh().ranks(); ++rank)
    if (!executor.events(rank).empty())
      origin = std::min(origin, executor.events(rank).front().begin);
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  raw_string_ostream out(text);
  out << "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{"
         "\"name\":\"tp-run\"}}";
  for (unsigned rank = 0; rank < executor.mesh().ranks(); ++rank) {
    out << ",\n{\"ph\":\"M\",\"pid\":0,\"tid\":" << rank
        << ",\"name\":\"thread_name\",\"args\":{\"name\":\"rank " << rank
        << "\"}}";
    for (const TraceEvent &event : executor.events(rank)) {
      out << ",\n";
      writeEvent(out, rank, event, origin);
      if (text.size() < (1 << 20))
        continue;
      if (Error error = (*file)->write(text))
        return error;
      text.clear();
    }
  }
  out << "\n]}\n";
  if (Error error = (*file)->write(text))
    return error;
  return (*file)->commit();
}

} // namespace colrow::runtime
