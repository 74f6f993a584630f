// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of what a plan says as a whole: mesh, sizes, memory, optimizer.

#include "Validate.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include <cfloat>
#include <climits>

using namespace llvm;

namespace colrow::runtime {

/// As many as an axis of a mesh may have; a runtime may take fewer.
static constexpr unsigned maxRanks = 65536;

static Error checkMesh(const plan::Plan &plan) {
  if (!plan.mesh() || plan.mesh()->size() == 0 ||
      plan.mesh()->size() > maxMeshAxes)
    return failure("mesh has {0} axes, not 1 to {1}",
                   plan.mesh() ? plan.mesh()->size() : 0, maxMeshAxes);
  StringSet<> names;
  uint64_t ranks = 1;
  for (const plan::MeshAxis *axis : *plan.mesh()) {
    StringRef name = textOf(axis->name());
    if (name.empty() || !names.insert(name).second)
      return failure("mesh axis '{0}' {1}", name,
                     name.empty() ? "has no name" : "is named twice");
    if (axis->size() < 1 || axis->size() > maxRanks ||
        (ranks *= axis->size()) > maxRanks)
      return failure("mesh has more than {0} ranks, or none", maxRanks);
  }
  return Error::success();
}

static Error checkSizes(const plan::Plan &plan) {
  if (plan.persistent_bytes() > maxRegionBytes ||
      plan.scratch_bytes() > maxRegionBytes)
    return failure("regions of {0} and {1} bytes are too large",
                   plan.persistent_bytes(), plan.scratch_bytes());
  if (plan.constants() && plan.constants()->size() &&
      reinterpret_cast<uintptr_t>(plan.constants()->data()) % 64 != 0)
    return failure("constants are not aligned to 64 bytes");
  if (plan.vocab() < 0 || plan.vocab() > INT_MAX || plan.seq() > INT_MAX - 1 ||
      checkedProduct({plan.batch(), plan.seq() + 1, 8}) == 0)
    return failure("batch {0}, sequence {1} and vocabulary {2} cannot be",
                   plan.batch(), plan.seq(), plan.vocab());
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

static Error checkOptimizer(const plan::Optimizer &o) {
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

static Error checkMemory(const plan::Memory &memory) {
  for (uint64_t bytes :
       {memory.parameters(), memory.gradients(), memory.optimizer(),
        memory.activations(), memory.arena()})
    if (bytes > maxRegionBytes)
      return failure("memory of {0} bytes is too large", bytes);
  return Error::success();
}

Error checkHead(const plan::Plan &plan) {
  if (Error error = checkMesh(plan))
    return error;
  if (Error error = checkSizes(plan))
    return error;
  if (plan.optimizer())
    if (Error error = checkOptimizer(*plan.optimizer()))
      return error;
  return plan.memory() ? checkMemory(*plan.memory()) : Error::success();
}

} // namespace colrow::runtime
