// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report file.

#include "Report.h"
#include "colrow/runtime/Core/Statistics.h"
#include "colrow/runtime/Support/AtomicFile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <sys/resource.h>

using namespace llvm;

namespace colrow::tprun {

bool StepRecord::isLeftOut() const {
  return hasNoLabels() || (std::isfinite(loss) && !std::isfinite(gradNorm));
}

/// Nine digits: a float32 is read back to the bit.
static void number(json::OStream &json, StringRef key, double value) {
  json.attributeBegin(key);
  if (std::isfinite(value))
    json.rawValue([&](raw_ostream &out) { out << format("%.9g", value); });
  else
    json.value(nullptr);
  json.attributeEnd();
}

static void writeMemory(json::OStream &json, const plan::Program &program) {
  auto bytes = [&](StringRef key, uint64_t value) {
    json.attribute(key, int64_t(value));
  };
  const plan::Memory *memory = program.memory();
  bytes("parameters", memory ? memory->parameters() : 0);
  bytes("gradients", memory ? memory->gradients() : 0);
  bytes("optimizer", memory ? memory->optimizer() : 0);
  bytes("activations", memory ? memory->activations() : 0);
  bytes("arena", memory ? memory->arena() : program.scratch_bytes());
}

static void writeCollective(json::OStream &json,
                            const runtime::CollectiveTotal &total) {
  json.attribute("kind", plan::EnumNameCollectiveKind(total.kind));
  json.attribute("axis", total.axis);
  json.attribute("ranks", total.ranks);
  json.attribute("count", total.count);
  if (total.sentNumerator % total.sentDivisor == 0)
    json.attribute("bytes", int64_t(total.sentNumerator / total.sentDivisor));
  else
    json.attribute("bytes", total.sentBytes());
  json.attribute("payload_bytes", int64_t(total.payloadBytes));
}

Error writeReport(StringRef path, const plan::Plan &plan,
                  const plan::Program &program, ArrayRef<StepRecord> steps) {
  std::string text;
  raw_string_ostream out(text);
  json::OStream json(out, /*IndentSize=*/1);
  json.object([&] {
    json.attributeArray("steps", [&] {
      for (const StepRecord &step : steps)
        json.object([&] {
          json.attribute("step", step.step);
          number(json, "loss", step.loss);
          number(json, "grad_norm", step.gradNorm);
          number(json, "labels", step.labels.value_or(NAN));
          json.attribute("left_out", step.isLeftOut());
          number(json, "seconds", step.seconds);
          number(json, "tokens_per_second", step.tokensPerSecond);
        });
    });
    json.attribute("steps_left_out", count_if(steps, [](const auto &step) {
                     return step.isLeftOut();
                   }));
    json.attributeObject("memory", [&] { writeMemory(json, program); });
    struct rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    json.attribute("peak_rss_bytes", int64_t(usage.ru_maxrss) * 1024);
    json.attributeArray("collectives", [&] {
      for (const auto &total : runtime::collectiveTotals(plan, program))
        json.object([&] { writeCollective(json, total); });
    });
  });
  text += "\n";
  return runtime::writeFileAtomically(path, text);
}

} // namespace colrow::tprun
