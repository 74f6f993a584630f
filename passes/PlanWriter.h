// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a program of instructions over buffers to the bytes of a plan's tables.

#ifndef COLROW_PASSES_PLANWRITER_H
#define COLROW_PASSES_PLANWRITER_H

#include "colrow/Passes/Passes.h"
#include "colrow/TP/PlanLowering.h"
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace colrow::passes {

/// An address in a region of the plan: bytes, strides in bytes per loop.
struct Address {
  uint8_t region = 0; ///< plan::Region
  uint64_t offset = 0;
  llvm::SmallVector<int64_t, 4> strides;
};

struct GemmCall {
  tp::GemmShape shape{0, 0, 0};
  Address a, b, c;
};

struct KernelCall {
  unsigned kernel = 0; ///< index into PlanProgram::kernels
  std::vector<Address> args;
  std::vector<uint64_t> bytes;
  std::vector<tp::PlanInt> ints;
};

struct FillCall {
  Address dst;
  uint64_t bytes = 0;
};

struct CopyCall {
  Address src, dst;
  uint64_t bytes = 0;
};

struct CollectiveCall {
  enum Kind : uint8_t { AllReduce, AllGather, ReduceScatter } kind = AllReduce;
  bool isMax = false;
  llvm::SmallVector<uint8_t> axes;
  int64_t count = 0, outer = 0, block = 0, total = 0;
  Address src, dst;
  uint64_t payloadBytes = 0;
  std::string reason;
};

struct LoopBegin {
  int64_t trips = 0;
  uint32_t body = 0; ///< instructions that follow and belong to it
};

struct PlanInstruction {
  std::variant<GemmCall, KernelCall, FillCall, CopyCall, CollectiveCall,
               LoopBegin>
      call;
  std::string name;
};

/// A parameter or state in the persistent region.
struct PersistentSymbol {
  mlir::Operation *op = nullptr; ///< tp.parameter or tp.state
  uint64_t offset = 0, bytes = 0;
};

struct PlanOutputValue {
  std::string name;
  int32_t parameter = -1;       ///< index into PlanProgram::symbols
  mlir::RankedTensorType whole; ///< shape and layout of the whole tensor
  Address src;
};

/// All that a plan file says, in plain structs.
struct PlanProgram {
  mlir::ModuleOp module;
  tp::MeshAttr mesh;
  std::vector<PlanInstruction> instructions;
  std::vector<kernel::RowKernel> kernels;
  std::vector<float> constants;
  std::vector<PersistentSymbol> symbols;
  std::vector<PlanOutputValue> outputs;
  uint64_t persistentBytes = 0, scratchBytes = 0;
  int64_t batch = 0, seq = 0, vocabulary = 0;
  Address loss, gradNorm;
  bool hasGradNorm = false;
  std::optional<Address> tokenCount; ///< what the loss is the mean of
  uint64_t parameterBytes = 0, gradientBytes = 0, optimizerBytes = 0,
           activationBytes = 0;
};

/// Compiles the kernels and writes the tables.
llvm::Expected<std::vector<uint8_t>>
writePlanTables(const PlanProgram &program);

} // namespace colrow::passes

#endif // COLROW_PASSES_PLANWRITER_H
