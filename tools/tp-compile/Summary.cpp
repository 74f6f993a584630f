// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The summary is read from the plan's tables, so it says what is written.

#include "Summary.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;
using namespace colrow;

/// The elements of a list that the file leaves out where it is empty.
template <typename T>
static auto entriesOf(const flatbuffers::Vector<T> *list) {
  using Iterator = typename flatbuffers::Vector<T>::const_iterator;
  return list ? make_range(list->begin(), list->end())
              : make_range(Iterator(nullptr, 0), Iterator(nullptr, 0));
}

static std::string bytesText(uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes);
  unsigned unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  return formatv(unit ? "{0:F1} {1}" : "{0:F0} {1}", value, units[unit]);
}

/// "split 0 over tp", or "replicated".
static std::string layoutText(const plan::Plan &plan,
                              const plan::Parameter &parameter) {
  std::string text;
  for (auto [d, dim] : enumerate(entriesOf(parameter.dims())))
    for (const plan::Factor *factor : entriesOf(dim->factors())) {
      if (entriesOf(factor->axes()).empty())
        continue;
      text += formatv("{0}split {1}", text.empty() ? "" : ", ", d);
      for (uint8_t axis : *factor->axes())
        text += " over " + plan.mesh()->Get(axis)->name()->str();
    }
  return text.empty() ? "replicated" : text;
}

/// "h.*.attn.weight" for "h.3.attn.weight": layers share a line.
static std::string withoutNumbers(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  for (StringRef &part : parts)
    if (!part.empty() && all_of(part, isDigit))
      part = "*";
  return join(parts, ".");
}

static void printParameters(const plan::Plan &plan, raw_ostream &os) {
  std::map<std::pair<std::string, std::string>, unsigned> lines;
  std::vector<std::pair<std::string, std::string>> order;
  uint64_t elements = 0, count = 0;
  for (const plan::Parameter *parameter : entriesOf(plan.parameters())) {
    if (parameter->state_of() >= 0)
      continue;
    uint64_t n = llvm::product_of(entriesOf(parameter->shape()), uint64_t(1));
    elements += n;
    ++count;
    std::pair<std::string, std::string> key(
        withoutNumbers(parameter->name()->str()), layoutText(plan, *parameter));
    if (lines[key]++ == 0)
      order.push_back(key);
  }
  os << formatv("parameters   {0} in {1} tensors\n", elements, count);
  for (auto &key : order)
    os << formatv("  {0,-48} x{1,-3} {2}\n", key.first, lines[key], key.second);
}

static void printCollectives(const plan::Program &program, raw_ostream &os) {
  std::map<std::string, std::pair<unsigned, uint64_t>> kinds;
  for (const plan::Instruction *instruction : entriesOf(program.instructions()))
    if (const plan::Collective *c = instruction->op_as_Collective()) {
      std::string kind = plan::EnumNameCollectiveKind(c->kind());
      kind += c->reduction() == plan::Reduction::max ? " (max)" : "";
      ++kinds[kind].first;
      kinds[kind].second += c->payload_bytes();
    }
  os << "collectives a step\n";
  if (kinds.empty())
    os << "  none\n";
  for (auto &[kind, total] : kinds)
    os << formatv("  {0,-18} x{1,-5} {2}\n", kind, total.first,
                  bytesText(total.second));
}

/// "train: input_ids [2, 16], labels [2, 17], 34 instructions".
static void printHead(const plan::Program &program, raw_ostream &os) {
  os << program.name()->str() << ": ";
  for (const plan::Input *input : entriesOf(program.inputs())) {
    os << input->name()->str() << " [";
    interleaveComma(entriesOf(input->shape()), os);
    os << "], ";
  }
  auto instructions = entriesOf(program.instructions());
  os << std::distance(instructions.begin(), instructions.end())
     << " instructions\n";
}

static void printMemory(const plan::Memory &m, raw_ostream &os) {
  os << formatv("memory a rank  parameters {0}, gradients {1}, optimizer {2}, "
                "saved activations {3}, arena {4}\n",
                bytesText(m.parameters()), bytesText(m.gradients()),
                bytesText(m.optimizer()), bytesText(m.activations()),
                bytesText(m.arena()));
}

/// Mesh axes that some parameter is split over, or some collective works on.
static SmallVector<bool> usedAxes(const plan::Plan &plan) {
  SmallVector<bool> used(plan.mesh()->size(), false);
  auto use = [&](const flatbuffers::Vector<uint8_t> *axes) {
    for (unsigned i = 0; axes && i < axes->size(); ++i)
      used[axes->Get(i)] = true;
  };
  for (const plan::Parameter *parameter : entriesOf(plan.parameters()))
    for (const plan::Dim *dim : entriesOf(parameter->dims()))
      for (const plan::Factor *factor : entriesOf(dim->factors()))
        use(factor->axes());
  for (const plan::Program *program : *plan.programs())
    for (const plan::Instruction *instruction :
         entriesOf(program->instructions()))
      if (const plan::Collective *collective = instruction->op_as_Collective())
        use(collective->axes());
  return used;
}

static void printNotes(const plan::Plan &plan, const cost::Topology &topology,
                       raw_ostream &os) {
  SmallVector<bool> used = usedAxes(plan);
  for (unsigned axis = 0; axis < used.size(); ++axis) {
    const plan::MeshAxis *entry = plan.mesh()->Get(axis);
    if (!used[axis] && entry->size() > 1)
      os << formatv("note: nothing is split over {0}={1}: every rank does the "
                    "same work, since that is faster on topology '{2}' (see "
                    "--topology and --pin)\n",
                    entry->name()->str(), entry->size(), topology.name);
  }
  uint64_t scratch = 0;
  for (const plan::Program *program : *plan.programs())
    scratch = std::max(scratch, program->scratch_bytes());
  uint64_t bytes = plan.persistent_bytes() + scratch;
  if (double(bytes) > topology.memoryBytes)
    os << formatv("note: a rank needs {0}, more than the {1} that one of "
                  "topology '{2}' has\n",
                  bytesText(bytes), bytesText(uint64_t(topology.memoryBytes)),
                  topology.name);
}

void colrow::printSummary(StringRef path, const plan::Plan &p,
                          const cost::Topology &topology, raw_ostream &os) {
  os << formatv("{0}: ", path);
  interleaveComma(*p.mesh(), os, [&](const plan::MeshAxis *axis) {
    os << axis->name()->str() << '=' << axis->size();
  });
  os << '\n';
  printParameters(p, os);
  for (const plan::Program *program : *p.programs()) {
    printHead(*program, os);
    printCollectives(*program, os);
    if (program->memory())
      printMemory(*program->memory(), os);
  }
  printNotes(p, topology, os);
}
