// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looking programs up by name.

#include "colrow/runtime/Plan/Programs.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace colrow::runtime {

const plan::Buffer &bufferOf(const plan::Plan &plan,
                             const plan::Program &program, uint32_t index) {
  uint32_t shared = plan.buffers() ? plan.buffers()->size() : 0;
  return index < shared ? *plan.buffers()->Get(index)
                        : *program.buffers()->Get(index - shared);
}

int64_t elementsOf(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

Expected<Programs> Programs::find(const plan::Plan &plan, StringRef name) {
  Programs result;
  result.title = name.str();
  result.ofRank.assign(Mesh(plan).ranks(), 0);
  std::string others;
  StringSet<> seen;
  if (plan.programs())
    for (const plan::Program *program : *plan.programs()) {
      StringRef other = textOf(program->name());
      if (other != name) {
        if (seen.insert(other).second)
          others += (others.empty() ? "" : ", ") + other.str();
        continue;
      }
      for (uint32_t rank : listOf(program->ranks()))
        result.ofRank[rank] = unsigned(result.list.size());
      result.list.push_back(program);
    }
  if (result.list.empty())
    return failure("has no program {0}; programs: {1}", name,
                   others.empty() ? "none" : others);
  return result;
}

std::vector<const plan::Input *> Programs::inputs() const {
  std::vector<const plan::Input *> result;
  StringSet<> seen;
  for (const plan::Program *program : list)
    if (program->inputs())
      for (const plan::Input *input : *program->inputs())
        if (seen.insert(textOf(input->name())).second)
          result.push_back(input);
  return result;
}

const plan::Input *Programs::inputOfRole(StringRef role) const {
  for (const plan::Input *input : inputs())
    if (textOf(input->role()) == role)
      return input;
  return nullptr;
}

std::vector<Programs::Leaving> Programs::outputs() const {
  std::vector<Leaving> result;
  for (const plan::Program *program : list) {
    ArrayRef<uint32_t> ranks = listOf(program->ranks());
    if (program->outputs())
      for (const plan::Output *output : *program->outputs())
        result.push_back({output, program, ranks.empty() ? 0 : ranks.front()});
  }
  return result;
}

Programs::Leaving Programs::outputOfRole(StringRef role) const {
  for (const Leaving &leaving : outputs())
    if (textOf(leaving.output->role()) == role)
      return leaving;
  return {nullptr, nullptr, 0};
}

int64_t Programs::batchRows() const {
  const plan::Input *ids = inputOfRole("ids");
  if (ids && ids->batch_dim() >= 0)
    return ids->shape()->Get(ids->batch_dim());
  for (const plan::Input *input : inputs())
    if (input->batch_dim() >= 0)
      return input->shape()->Get(input->batch_dim());
  return 0;
}

int64_t Programs::tokens() const {
  const plan::Input *ids = inputOfRole("ids");
  return ids ? elementsOf(listOf(ids->shape())) : 0;
}

} // namespace colrow::runtime
