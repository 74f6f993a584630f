// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker's order of work: mesh, buffers, parameters, kernels, then
// each program, then programs that belong together.

#include "Check.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace colrow::runtime {

CheckedProgram::CheckedProgram(const plan::Plan &plan,
                               const plan::Program &program, const Mesh &mesh)
    : plan(plan), program(program), mesh(mesh) {
  for (const BufferList *list : {plan.buffers(), program.buffers()})
    if (list)
      buffers.insert(buffers.end(), list->begin(), list->end());
  for (unsigned size : mesh.sizes) {
    leastCoordinate.push_back(0);
    mostCoordinate.push_back(int64_t(size) - 1);
  }
}

static Error checkSharedBuffers(const plan::Plan &plan) {
  ArrayRef<uint8_t> constants = listOf(plan.constants());
  if (plan.persistent_bytes() > maxRegionBytes)
    return failure("region persistent of {0} bytes is too large",
                   plan.persistent_bytes());
  if (reinterpret_cast<uintptr_t>(constants.data()) % bufferAlignment != 0)
    return failure("constants are not aligned to {0} bytes", bufferAlignment);
  return checkBuffers(
      plan.buffers(),
      {plan::Region::persistent, plan::Region::constant, plan::Region::scalars},
      [&](plan::Region region) -> uint64_t {
        return region == plan::Region::persistent ? plan.persistent_bytes()
               : region == plan::Region::constant ? constants.size()
                                                  : sizeof(ScalarBlock);
      });
}

static Error checkKernels(const plan::Plan &plan) {
  StringSet<> names;
  for (size_t k = 0, n = lengthOf(plan.kernels()); k < n; ++k) {
    const plan::Kernel &kernel = *plan.kernels()->Get(k);
    StringRef symbol = textOf(kernel.symbol());
    if (symbol.empty() || !names.insert(symbol).second)
      return failure("kernel {0} has no symbol of its own: '{1}'", k, symbol);
    if (!kernel.args())
      continue;
    for (const plan::KernelArg *arg : *kernel.args())
      if (arg->dtype() > plan::DType::MAX || arg->dtype() == plan::DType::f16 ||
          arg->access() > plan::Access::MAX || arg->extent() > maxRegionBytes)
        return failure("kernel {0} has an argument of an impossible type, "
                       "access or extent",
                       symbol);
  }
  return Error::success();
}

/// Name, ranks, sizes and buffers.
static Error checkHead(CheckedProgram &view) {
  const plan::Program &program = view.program;
  if (textOf(program.name()).empty())
    return failure("has no name");
  ArrayRef<uint32_t> ranks = listOf(program.ranks());
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] >= view.mesh.ranks() || (i && ranks[i] <= ranks[i - 1]))
      return failure("rank {0} is not of the mesh, or not in rising order",
                     ranks[i]);
    auto coordinates = view.mesh.coordinates(ranks[i]);
    for (size_t a = 0; a < coordinates.size(); ++a) {
      int64_t c = coordinates[a];
      int64_t &least = view.leastCoordinate[a], &most = view.mostCoordinate[a];
      least = i ? std::min(least, c) : c;
      most = i ? std::max(most, c) : c;
    }
  }
  if (lengthOf(program.phases()) == 0)
    return failure("has no phases");
  if (program.scratch_bytes() > maxRegionBytes ||
      program.input_bytes() > maxRegionBytes)
    return failure("regions of {0} and {1} bytes are too large",
                   program.scratch_bytes(), program.input_bytes());
  if (program.memory())
    if (Error error = checkMemory(*program.memory()))
      return error;
  return checkBuffers(program.buffers(),
                      {plan::Region::scratch, plan::Region::input},
                      [&](plan::Region region) {
                        return region == plan::Region::scratch
                                   ? program.scratch_bytes()
                                   : program.input_bytes();
                      });
}

static std::optional<PlanFault> checkProgram(CheckedProgram &view) {
  auto fault = [](Error error) {
    return PlanFault{-1, -1, toString(std::move(error))};
  };
  if (Error error = checkHead(view))
    return fault(std::move(error));
  if (Error error = checkInputs(view))
    return fault(std::move(error));
  if (std::optional<PlanFault> found = checkInstructions(view))
    return found;
  if (Error error = checkOutputs(view))
    return fault(std::move(error));
  if (std::optional<PlanFault> found = checkLives(view))
    return found;
  return checkOrder(view);
}

std::optional<PlanFault> checkPlanTables(const plan::Plan &plan) {
  auto fault = [](Error error) {
    return PlanFault{-1, -1, toString(std::move(error))};
  };
  if (Error error = checkMesh(plan))
    return fault(std::move(error));
  Mesh mesh(plan);
  if (Error error = checkSharedBuffers(plan))
    return fault(std::move(error));
  if (Error error = checkParameters(plan, mesh))
    return fault(std::move(error));
  if (Error error = checkKernels(plan))
    return fault(std::move(error));
  if (plan.optimizer())
    if (Error error = checkOptimizer(*plan.optimizer()))
      return fault(std::move(error));
  for (size_t p = 0, n = lengthOf(plan.programs()); p < n; ++p) {
    CheckedProgram view(plan, *plan.programs()->Get(p), mesh);
    if (std::optional<PlanFault> found = checkProgram(view)) {
      found->program = int(p);
      return found;
    }
  }
  return checkGroups(plan, mesh);
}

std::string textOfFault(const plan::Plan &plan, const PlanFault &fault) {
  if (fault.program < 0)
    return fault.message;
  const plan::Program &program = *plan.programs()->Get(fault.program);
  std::string place = formatv("program {0}", textOf(program.name())).str();
  if (fault.instruction >= 0)
    place +=
        formatv(", instruction {0} ({1})", fault.instruction,
                textOf(program.instructions()->Get(fault.instruction)->name()))
            .str();
  return place + ": " + fault.message;
}

} // namespace colrow::runtime
