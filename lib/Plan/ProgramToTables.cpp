// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a program to its table, op by op.

#include "ToTables.h"
#include "colrow/dialects/TP/PlanLowering.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

namespace {
/// Translates a program.
class ProgramWriter {
public:
  ProgramWriter(ModuleWriter &writer, ProgramOp op, plan::ProgramT &program,
                std::vector<Operation *> &instructions, size_t firstBuffer)
      : writer(writer), op(op), program(program), instructions(instructions),
        firstBuffer(firstBuffer) {}

  LogicalResult run();

private:
  LogicalResult addBuffers();
  LogicalResult addBody(Block &block, uint8_t phase);
  LogicalResult addInstruction(Operation *op, plan::InstructionT &instruction);
  void addInput(InputOp input);
  void addOutput(OutputOp output);

  uint32_t addBuffer(plan::Region region, BufferType type, StringRef name,
                     uint64_t offset, uint64_t bytes);
  std::unique_ptr<plan::OperandT> operand(Value buffer, const Affine &at);
  std::unique_ptr<plan::OperandT> operand(PlanInstructionOpInterface op,
                                          unsigned i) {
    return operand(op->getOperand(i), op.getAddressStorage()[i]);
  }
  plan::GemmT gemm(GemmOp op);
  plan::LaunchT launch(LaunchOp op);
  template <typename Op> plan::CollectiveT collective(Op op);

  ModuleWriter &writer;
  ProgramOp op;
  plan::ProgramT &program;
  std::vector<Operation *> &instructions;
  size_t firstBuffer;
  llvm::DenseMap<Value, uint32_t> bufferIndex;
};
} // namespace

uint32_t ProgramWriter::addBuffer(plan::Region region, BufferType type,
                                  StringRef name, uint64_t offset,
                                  uint64_t bytes) {
  program.buffers.push_back(
      makeBuffer(region, name, type.getElementType(), offset, bytes));
  return firstBuffer + program.buffers.size() - 1;
}

void ProgramWriter::addInput(InputOp op) {
  auto whole = cast<RankedTensorType>(op.getWhole());
  auto input = std::make_unique<plan::InputT>();
  input->name = op.getName().str();
  input->role = op.getRole().str();
  input->dtype = toDType(whole.getElementType());
  input->shape = whole.getShape();
  input->dims = toDims(whole);
  input->batch_dim = op.getBatchDim();
  input->low = op.getLow();
  input->high = op.getHigh();
  input->padding = op.getPadding();
  input->buffer = bufferIndex.lookup(op.getResult());
  program.inputs.push_back(std::move(input));
}

static WalkResult interruptIf(LogicalResult result) {
  return failed(result) ? WalkResult::interrupt() : WalkResult::advance();
}

LogicalResult ProgramWriter::addBuffers() {
  WalkResult result = op.walk([&](Operation *memory) {
    if (auto buffer = dyn_cast<BufferOp>(memory)) {
      if (buffer.getOffset() < 0)
        return interruptIf(reportNoPlace(buffer));
      bufferIndex[buffer.getResult()] = addBuffer(
          plan::Region::scratch, buffer.getType(),
          buffer.getName().value_or(""), buffer.getOffset(), buffer.getBytes());
    } else if (auto input = dyn_cast<InputOp>(memory)) {
      if (input.getOffset() < 0)
        return interruptIf(reportNoPlace(input));
      bufferIndex[input.getResult()] =
          addBuffer(plan::Region::input, input.getType(), input.getName(),
                    input.getOffset(), input.getBytes());
      addInput(input);
    } else if (auto global = dyn_cast<GlobalOp>(memory)) {
      bufferIndex[global.getResult()] =
          writer.bufferOf(global.getSymbolAttr().getAttr());
    } else if (auto scalars = dyn_cast<ScalarsOp>(memory)) {
      bufferIndex[scalars.getResult()] = writer.getScalars();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

std::unique_ptr<plan::OperandT> ProgramWriter::operand(Value buffer,
                                                       const Affine &at) {
  auto operand = std::make_unique<plan::OperandT>();
  operand->buffer = bufferIndex.lookup(buffer);
  operand->offset = at.base;
  operand->strides.assign(at.loops.begin(), at.loops.end());
  operand->coords.assign(at.coords.begin(), at.coords.end());
  return operand;
}

static plan::DType dtypeOf(Value buffer) {
  return toDType(cast<BufferType>(buffer.getType()).getElementType());
}

plan::GemmT ProgramWriter::gemm(GemmOp op) {
  plan::GemmT gemm;
  gemm.m = op.getM();
  gemm.n = op.getN();
  gemm.k = op.getK();
  gemm.trans_a = op.getTransA();
  gemm.trans_b = op.getTransB();
  gemm.lda = op.getLda();
  gemm.ldb = op.getLdb();
  gemm.ldc = op.getLdc();
  gemm.alpha = op.getAlpha().convertToFloat();
  gemm.beta = op.getBeta().convertToFloat();
  gemm.a_type = dtypeOf(op.getA());
  gemm.b_type = dtypeOf(op.getB());
  gemm.c_type = dtypeOf(op.getC());
  gemm.a = operand(op, 0);
  gemm.b = operand(op, 1);
  gemm.c = operand(op, 2);
  return gemm;
}

plan::LaunchT ProgramWriter::launch(LaunchOp op) {
  plan::LaunchT launch;
  launch.kernel = writer.kernelOf(op.getKernelAttr().getAttr());
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    launch.args.push_back(operand(op, i));
  launch.bytes.assign(op.getBytes().begin(), op.getBytes().end());
  for (const Affine &value : op.getInts()) {
    auto made = std::make_unique<plan::IntOperandT>();
    made->base = value.base;
    made->strides.assign(value.loops.begin(), value.loops.end());
    made->coords.assign(value.coords.begin(), value.coords.end());
    launch.ints.push_back(std::move(made));
  }
  return launch;
}

template <typename Op> plan::CollectiveT ProgramWriter::collective(Op op) {
  plan::CollectiveT collective;
  if constexpr (std::is_same_v<Op, AllReduceOp>) {
    collective.kind = plan::CollectiveKind::all_reduce;
    collective.reduction = plan::Reduction(unsigned(op.getReduction()));
    collective.count = op.getCount();
  } else {
    collective.kind = std::is_same_v<Op, AllGatherOp>
                          ? plan::CollectiveKind::all_gather
                      : std::is_same_v<Op, ReduceScatterOp>
                          ? plan::CollectiveKind::reduce_scatter
                          : plan::CollectiveKind::all_to_all;
    if (std::is_same_v<Op, ReduceScatterOp>)
      collective.reduction = plan::Reduction::sum;
    collective.outer = op.getOuter();
    collective.block = op.getBlock();
    // All blocks of all ranks are moved: there is no total to cut at.
    if (!std::is_same_v<Op, AllToAllOp>)
      collective.total = op.getTotal();
  }
  for (auto name : op.getAxes().template getAsRange<StringAttr>())
    collective.axes.push_back(writer.getMesh().find(name).value_or(255));
  collective.dtype = dtypeOf(op.getSource());
  collective.src = operand(op, 0);
  collective.dst = operand(op, 1);
  collective.payload_bytes = op.getPayload();
  return collective;
}

LogicalResult ProgramWriter::addInstruction(Operation *op,
                                            plan::InstructionT &instruction) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](GemmOp op) {
        instruction.op.Set(gemm(op));
        return success();
      })
      .Case([&](LaunchOp op) {
        instruction.op.Set(launch(op));
        return success();
      })
      .Case([&](CopyOp op) {
        plan::CopyT copy;
        copy.src = operand(op, 0);
        copy.dst = operand(op, 1);
        copy.bytes = op.getBytes();
        instruction.op.Set(std::move(copy));
        return success();
      })
      .Case([&](FillOp op) {
        plan::FillT fill;
        fill.dst = operand(op, 0);
        fill.bytes = op.getBytes();
        fill.value = op.getValue();
        instruction.op.Set(std::move(fill));
        return success();
      })
      .Case([&](RecordOp op) {
        plan::RecordT record;
        record.event = op.getEvent();
        instruction.op.Set(record);
        return success();
      })
      .Case([&](WaitOp op) {
        plan::WaitT wait;
        wait.event = op.getEvent();
        instruction.op.Set(wait);
        return success();
      })
      .Case<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp>(
          [&](auto op) {
            instruction.op.Set(collective(op));
            return success();
          })
      .Default([](Operation *op) {
        return op->emitOpError("is no instruction of a plan file; run "
                               "plan-expand-attention first");
      });
}

LogicalResult ProgramWriter::addBody(Block &block, uint8_t phase) {
  for (Operation &op : block) {
    auto item = dyn_cast<PlanInstructionOpInterface>(op);
    auto loop = dyn_cast<LoopOp>(op);
    if (!item && !loop)
      continue;
    size_t index = program.instructions.size();
    program.instructions.push_back(std::make_unique<plan::InstructionT>());
    instructions.push_back(&op);
    plan::InstructionT &instruction = *program.instructions.back();
    instruction.phase = phase;
    StringAttr name = item ? item.getNameAttr() : loop.getNameAttr();
    if (name)
      instruction.name = name.str();
    if (loop) {
      if (failed(addBody(loop.getBody().front(), phase)))
        return failure();
      plan::LoopT table;
      table.trips = loop.getTrips();
      table.body = program.instructions.size() - index - 1;
      instruction.op.Set(table);
      continue;
    }
    instruction.stream = item.getStream();
    if (auto collective = dyn_cast<PlanCollectiveOpInterface>(op))
      if (StringAttr reason = collective.getReasonAttr())
        instruction.reason = reason.str();
    if (failed(addInstruction(&op, instruction)))
      return failure();
  }
  return success();
}

void ProgramWriter::addOutput(OutputOp op) {
  auto whole = cast<RankedTensorType>(op.getWhole());
  auto output = std::make_unique<plan::OutputT>();
  output->name = op.getName().str();
  output->role = op.getRole().str();
  if (auto parameter = op.getParameterAttr())
    output->parameter = writer.parameterOf(parameter.getAttr());
  output->dtype = toDType(whole.getElementType());
  output->shape = whole.getShape();
  output->dims = toDims(whole);
  output->src = operand(op.getSource(), op.getAddresses()[0]);
  program.outputs.push_back(std::move(output));
}

LogicalResult ProgramWriter::run() {
  program.name = op.getName().str();
  if (auto ranks = op.getRanks())
    program.ranks.assign(ranks->begin(), ranks->end());
  for (auto phase : op.getPhases().getAsRange<StringAttr>())
    program.phases.push_back(phase.str());
  program.scratch_bytes = op.getScratchBytes();
  program.input_bytes = op.getInputBytes();
  if (failed(addBuffers()))
    return failure();
  for (auto [i, block] : llvm::enumerate(op.getBody()))
    if (failed(addBody(block, i)))
      return failure();
  op.walk([&](OutputOp output) { addOutput(output); });
  auto module = op->getParentOfType<ModuleOp>();
  program.memory = std::make_unique<plan::MemoryT>();
  for (auto parameter : module.getOps<tp::ParameterOp>())
    program.memory->parameters += tp::tensorBytes(parameter.getType());
  for (auto state : module.getOps<tp::StateOp>())
    program.memory->optimizer += tp::tensorBytes(state.getType());
  program.memory->gradients = op.getGradientBytes();
  program.memory->activations = op.getSavedBytes();
  program.memory->arena = op.getScratchBytes();
  return success();
}

LogicalResult planir::writeProgram(ModuleWriter &writer, ProgramOp op,
                                   plan::ProgramT &program,
                                   std::vector<Operation *> &instructions,
                                   size_t firstBuffer) {
  return ProgramWriter(writer, op, program, instructions, firstBuffer).run();
}
