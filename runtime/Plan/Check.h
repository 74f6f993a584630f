// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of checkPlanTables(). Each reports the first fault that it finds.

#ifndef COLROW_RUNTIME_PLAN_CHECK_H
#define COLROW_RUNTIME_PLAN_CHECK_H

#include "colrow/runtime/Plan/CheckPlan.h"
#include "colrow/runtime/Plan/DType.h"
#include "colrow/runtime/Plan/Mesh.h"
#include "colrow/runtime/Plan/PlanFile.h"
#include "colrow/runtime/Support/Errors.h"
#include <vector>

namespace colrow::runtime {

/// Product of positive numbers, or 0 when one is not positive or the product
/// exceeds maxRegionBytes.
inline int64_t checkedProduct(llvm::ArrayRef<int64_t> factors) {
  int64_t product = 1;
  for (int64_t factor : factors) {
    if (factor <= 0 || product > int64_t(maxRegionBytes) / factor)
      return 0;
    product *= factor;
  }
  return product;
}

/// Length of a vector that may be absent.
template <typename T> size_t lengthOf(const flatbuffers::Vector<T> *vector) {
  return vector ? vector->size() : 0;
}

/// "1e+30".
std::string numberText(double value);

/// "[2, 3]".
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Refuses a name under which no tensor can stand in a Safetensors file.
llvm::Error checkTensorName(llvm::StringRef name);

using BufferList = flatbuffers::Vector<flatbuffers::Offset<plan::Buffer>>;

/// "buffer 3 (%h.0.attn)".
std::string bufferText(llvm::ArrayRef<const plan::Buffer *> buffers,
                       uint32_t index);

/// Instructions [begin, end): a Loop and its body.
struct LoopSpan {
  int parent; // index, -1: the program
  uint32_t begin, end;
  int64_t trips;
};

/// Bytes of a buffer that an instruction touches, over all iterations and
/// ranks.
struct BufferAccess {
  uint32_t instruction; // the number of instructions: the host, afterwards
  uint32_t buffer;
  plan::Access access;
  uint64_t low, high; // what may be touched
  uint64_t sure;      // [low, sure): the first and the last byte surely are

  bool reads() const { return access != plan::Access::write; }
  bool writes() const { return access != plan::Access::read; }
};

/// A program and what its checks learn about it.
struct CheckedProgram {
  CheckedProgram(const plan::Plan &plan, const plan::Program &program,
                 const Mesh &mesh);

  const plan::Plan &plan;
  const plan::Program &program;
  const Mesh &mesh;
  /// Plan.buffers, then the program's.
  std::vector<const plan::Buffer *> buffers;
  /// Least and largest coordinate of the program's ranks on each axis.
  llvm::SmallVector<int64_t, maxMeshAxes> leastCoordinate, mostCoordinate;
  std::vector<LoopSpan> loops;
  /// Innermost loop around each instruction, -1: none.
  std::vector<int> loopOf;
  /// In the order of the instructions, an instruction's reads first.
  std::vector<BufferAccess> accesses;

  uint32_t instructionCount() const {
    return uint32_t(lengthOf(program.instructions()));
  }
};

llvm::Error checkMesh(const plan::Plan &plan);
llvm::Error checkOptimizer(const plan::Optimizer &optimizer);
llvm::Error checkMemory(const plan::Memory &memory);

/// Buffers of `list`: regions among `allowed`, types, places, no overlap but in
/// scratch. `bytes` gives a region's size.
llvm::Error checkBuffers(const BufferList *list,
                         llvm::ArrayRef<plan::Region> allowed,
                         llvm::function_ref<uint64_t(plan::Region)> bytes);

/// Parameters: names, layouts, buffers, sources.
llvm::Error checkParameters(const plan::Plan &plan, const Mesh &mesh);

/// The layout `dims` of a tensor of `shape`; gives the elements stored on a
/// rank, padding included.
llvm::Expected<int64_t>
checkLayout(llvm::ArrayRef<int64_t> shape,
            const flatbuffers::Vector<flatbuffers::Offset<plan::Dim>> *dims,
            const Mesh &mesh);

/// An address outside all loops or in `trips` (innermost first): adds the
/// access to `program` when all of it lies inside its buffer.
struct AddressUse {
  const char *role;
  const plan::Operand *operand;
  plan::DType type;
  uint64_t bytes, sure;
  plan::Access access;
};
llvm::Error checkAddress(CheckedProgram &program, const AddressUse &use,
                         llvm::ArrayRef<int64_t> trips, uint32_t instruction);

/// The operation of an instruction, in loops of `trips` (innermost first); adds
/// its accesses, reads first.
llvm::Error checkOp(CheckedProgram &program, llvm::ArrayRef<int64_t> trips,
                    uint32_t index);

/// Instructions one by one; fills loops, loopOf and accesses.
std::optional<PlanFault> checkInstructions(CheckedProgram &program);

llvm::Error checkInputs(const CheckedProgram &program);
/// Adds the host's reads to the accesses.
llvm::Error checkOutputs(CheckedProgram &program);

/// Contents of buffers: scratch is written before it is read and two buffers at
/// one place do not live at once; a parameter is written once.
std::optional<PlanFault> checkLives(const CheckedProgram &program);

/// Streams: events, accesses of the same bytes, collectives.
std::optional<PlanFault> checkOrder(const CheckedProgram &program);

/// Programs of one name: ranks, inputs, outputs, the order of collectives.
std::optional<PlanFault> checkGroups(const plan::Plan &plan, const Mesh &mesh);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_PLAN_CHECK_H
