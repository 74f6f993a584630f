// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of what a plan says as a whole: mesh, memory, optimizer.

#include "Check.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include <cfloat>

using namespace llvm;

namespace colrow::runtime {

Error checkMesh(const plan::Plan &plan) {
  size_t axes = lengthOf(plan.mesh());
  if (axes == 0 || axes > maxMeshAxes)
    return failure("mesh has {0} axes, not 1 to {1}", axes, maxMeshAxes);
  StringSet<> names;
  int64_t ranks = 1;
  for (const plan::MeshAxis *axis : *plan.mesh()) {
    StringRef name = textOf(axis->name());
    if (name.empty() || !names.insert(name).second)
      return failure("mesh axis '{0}' {1}", name,
                     name.empty() ? "has no name" : "is named twice");
    if (axis->size() < 1 || axis->size() > maxMeshRanks ||
        (ranks *= axis->size()) > maxMeshRanks)
      return failure("mesh has more than {0} ranks, or none", maxMeshRanks);
  }
  return Error::success();
}

std::string numberText(double value) {
  std::string text;
  raw_string_ostream(text) << format("%g", value);
  return text;
}

/// From `low` to the largest float32; NaN is not.
static bool isFrom(double low, double value) {
  return value >= low && value <= FLT_MAX;
}

Error checkOptimizer(const plan::Optimizer &o) {
  auto isDecay = [](double beta) { return beta >= 0 && beta < 1; };
  if (!isDecay(o.beta1()) || !isDecay(o.beta2()))
    return failure("optimizer decays by {0} and {1}, not by numbers from 0 to "
                   "below 1",
                   numberText(o.beta1()), numberText(o.beta2()));
  if (!isFrom(DBL_MIN, o.eps()) || !isFrom(0, o.weight_decay()) ||
      !isFrom(0, o.clip_grad_norm()))
    return failure("optimizer has eps {0}, weight decay {1} and largest norm "
                   "{2}, which must be positive, not negative, and finite",
                   numberText(o.eps()), numberText(o.weight_decay()),
                   numberText(o.clip_grad_norm()));
  return Error::success();
}

Error checkMemory(const plan::Memory &memory) {
  for (uint64_t bytes :
       {memory.parameters(), memory.gradients(), memory.optimizer(),
        memory.activations(), memory.arena()})
    if (bytes > maxRegionBytes)
      return failure("memory of {0} bytes is too large", bytes);
  return Error::success();
}

} // namespace colrow::runtime
