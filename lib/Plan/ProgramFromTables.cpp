// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a program's table to IR, instruction by instruction.

#include "FromTables.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

namespace {
class ProgramReader {
public:
  ProgramReader(const plan::PlanT &plan, const plan::ProgramT &program,
                tp::MeshAttr mesh, OpBuilder &builder)
      : plan(plan), program(program), mesh(mesh), builder(builder),
        loc(builder.getUnknownLoc()) {}

  void run();

private:
  void addBuffers();
  void addInput(const plan::InputT &input);
  /// Instructions [begin, end) at the builder's place.
  void addBody(size_t begin, size_t end);
  void addInstruction(const plan::InstructionT &instruction);
  void addCollective(const plan::CollectiveT &collective, StringAttr name,
                     const plan::InstructionT &instruction);
  void addOutput(const plan::OutputT &output);

  /// What an operand's index stands for; references to symbols and scalars are
  /// made at the first use.
  Value bufferOf(uint32_t index);
  Place place(const plan::OperandT &operand) {
    return {bufferOf(operand.buffer),
            Affine(operand.offset, operand.strides, operand.coords)};
  }
  BufferType typeOf(plan::DType type) {
    return BufferType::get(builder.getContext(),
                           fromDType(type, builder.getContext()));
  }
  StringAttr text(const std::string &text) {
    return text.empty() ? StringAttr() : builder.getStringAttr(text);
  }

  const plan::PlanT &plan;
  const plan::ProgramT &program;
  tp::MeshAttr mesh;
  OpBuilder &builder;
  Location loc;
  ProgramOp op;
  llvm::DenseMap<uint32_t, Value> buffers;
  Operation *lastAtStart = nullptr;
};
} // namespace

void ProgramReader::addInput(const plan::InputT &input) {
  const plan::BufferT &buffer =
      *program.buffers[input.buffer - plan.buffers.size()];
  auto whole = fromDims(input.shape, input.dtype, input.dims, mesh,
                        /*withLayout=*/false);
  buffers[input.buffer] = InputOp::create(
      builder, loc, typeOf(buffer.dtype), buffer.bytes,
      builder.getStringAttr(input.name), builder.getStringAttr(input.role),
      TypeAttr::get(whole), input.batch_dim, input.low, input.high,
      input.padding, buffer.offset);
}

void ProgramReader::addBuffers() {
  llvm::DenseMap<uint32_t, const plan::InputT *> inputs;
  for (const auto &input : program.inputs)
    inputs[input->buffer] = input.get();
  for (auto [i, buffer] : llvm::enumerate(program.buffers)) {
    uint32_t index = plan.buffers.size() + i;
    if (const plan::InputT *input = inputs.lookup(index))
      addInput(*input);
    else
      buffers[index] =
          BufferOp::create(builder, loc, typeOf(buffer->dtype), buffer->bytes,
                           text(buffer->name), buffer->offset);
  }
}

Value ProgramReader::bufferOf(uint32_t index) {
  Value &known = buffers[index];
  if (known)
    return known;
  const plan::BufferT &buffer = *plan.buffers[index];
  OpBuilder::InsertionGuard guard(builder);
  if (lastAtStart)
    builder.setInsertionPointAfter(lastAtStart);
  else
    builder.setInsertionPointToStart(&op.getBody().front());
  if (buffer.region == plan::Region::scalars)
    lastAtStart = ScalarsOp::create(builder, loc, typeOf(buffer.dtype));
  else
    lastAtStart = GlobalOp::create(builder, loc, typeOf(buffer.dtype),
                                   StringRef(buffer.name));
  return known = lastAtStart->getResult(0);
}

void ProgramReader::addCollective(const plan::CollectiveT &c, StringAttr name,
                                  const plan::InstructionT &instruction) {
  Place from = place(*c.src), to = place(*c.dst);
  SmallVector<Attribute> names;
  int64_t ranks = 1;
  for (uint8_t axis : c.axes) {
    names.push_back(mesh.getNames()[axis]);
    ranks *= mesh.getSizes()[axis];
  }
  ArrayAttr axes = builder.getArrayAttr(names);
  StringAttr reason = text(instruction.reason);
  int64_t stream = instruction.stream, payload = c.payload_bytes;
  AffineList starts = startsOf({from, to});
  switch (c.kind) {
  case plan::CollectiveKind::all_reduce:
    AllReduceOp::create(builder, loc, Reduction(unsigned(c.reduction)), c.count,
                        from.buffer, to.buffer, axes, payload, reason, starts,
                        stream, name);
    return;
  case plan::CollectiveKind::all_gather:
    AllGatherOp::create(builder, loc, c.outer, c.block, c.total, from.buffer,
                        to.buffer, axes, payload, reason, starts, stream, name);
    return;
  case plan::CollectiveKind::reduce_scatter:
    ReduceScatterOp::create(builder, loc, c.outer, c.block, c.total,
                            from.buffer, to.buffer, axes, payload, reason,
                            starts, stream, name);
    return;
  case plan::CollectiveKind::all_to_all:
    AllToAllOp::create(builder, loc, c.outer, c.block, c.block * ranks,
                       from.buffer, to.buffer, axes, payload, reason, starts,
                       stream, name);
    return;
  }
}

void ProgramReader::addInstruction(const plan::InstructionT &instruction) {
  StringAttr name = text(instruction.name);
  if (const plan::GemmT *g = instruction.op.AsGemm()) {
    GemmShape shape(g->m, g->n, g->k);
    shape.transA = g->trans_a;
    shape.transB = g->trans_b;
    shape.lda = g->lda;
    shape.ldb = g->ldb;
    shape.ldc = g->ldc;
    shape.alpha = g->alpha;
    shape.beta = g->beta;
    GemmOp::create(builder, loc, shape, place(*g->a), place(*g->b),
                   place(*g->c), name)
        .setStream(instruction.stream);
  } else if (const plan::LaunchT *launch = instruction.op.AsLaunch()) {
    SmallVector<Place> args;
    for (const auto &arg : launch->args)
      args.push_back(place(*arg));
    SmallVector<Affine> ints;
    for (const auto &value : launch->ints)
      ints.emplace_back(value->base, value->strides, value->coords);
    SmallVector<int64_t> bytes(launch->bytes.begin(), launch->bytes.end());
    auto kernel = StringRef(plan.kernels[launch->kernel]->symbol);
    LaunchOp::create(builder, loc,
                     FlatSymbolRefAttr::get(builder.getContext(), kernel), args,
                     bytes, ints, name)
        .setStream(instruction.stream);
  } else if (const plan::CopyT *copy = instruction.op.AsCopy()) {
    CopyOp::create(builder, loc, place(*copy->src), place(*copy->dst),
                   copy->bytes, name)
        .setStream(instruction.stream);
  } else if (const plan::FillT *fill = instruction.op.AsFill()) {
    Place to = place(*fill->dst);
    FillOp::create(builder, loc, to.buffer, fill->bytes, fill->value,
                   startsOf(to), instruction.stream, name);
  } else if (const plan::RecordT *record = instruction.op.AsRecord()) {
    RecordOp::create(builder, loc, record->event, ArrayRef<Affine>(),
                     instruction.stream, name);
  } else if (const plan::WaitT *wait = instruction.op.AsWait()) {
    WaitOp::create(builder, loc, wait->event, ArrayRef<Affine>(),
                   instruction.stream, name);
  } else if (const auto *collective = instruction.op.AsCollective()) {
    addCollective(*collective, name, instruction);
  }
}

void ProgramReader::addBody(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const plan::InstructionT &instruction = *program.instructions[i];
    const plan::LoopT *loop = instruction.op.AsLoop();
    if (!loop) {
      addInstruction(instruction);
      continue;
    }
    OpBuilder::InsertionGuard guard(builder);
    auto made =
        LoopOp::create(builder, loc, loop->trips, text(instruction.name));
    builder.setInsertionPointToStart(&made.getBody().emplaceBlock());
    addBody(i + 1, i + 1 + loop->body);
    i += loop->body;
  }
}

void ProgramReader::addOutput(const plan::OutputT &output) {
  Place source = place(*output.src);
  FlatSymbolRefAttr parameter;
  if (output.parameter >= 0)
    parameter = FlatSymbolRefAttr::get(builder.getContext(),
                                       plan.parameters[output.parameter]->name);
  auto whole = fromDims(output.shape, output.dtype, output.dims, mesh,
                        /*withLayout=*/false);
  OutputOp::create(builder, loc, builder.getStringAttr(output.name),
                   builder.getStringAttr(output.role), parameter, source.buffer,
                   source.at, TypeAttr::get(whole));
}

void ProgramReader::run() {
  SmallVector<StringRef> phases(program.phases.begin(), program.phases.end());
  SmallVector<int64_t> ranks(program.ranks.begin(), program.ranks.end());
  uint64_t saved = program.memory ? program.memory->activations : 0;
  uint64_t gradients = program.memory ? program.memory->gradients : 0;
  op = ProgramOp::create(builder, loc, builder.getStringAttr(program.name),
                         ranks.empty() ? DenseI64ArrayAttr()
                                       : builder.getDenseI64ArrayAttr(ranks),
                         builder.getStrArrayAttr(phases), program.scratch_bytes,
                         program.input_bytes, saved, gradients);
  for (size_t i = 0; i < phases.size(); ++i)
    op.getBody().emplaceBlock();
  size_t next = 0;
  for (auto [phase, block] : llvm::enumerate(op.getBody())) {
    builder.setInsertionPointToEnd(&block);
    if (phase == 0)
      addBuffers();
    size_t begin = next;
    while (next < program.instructions.size() &&
           program.instructions[next]->phase == phase)
      ++next;
    addBody(begin, next);
    if (Block *behind = block.getNextNode()) {
      NextOp::create(builder, loc, behind);
      continue;
    }
    for (const auto &output : program.outputs)
      addOutput(*output);
    EndOp::create(builder, loc);
  }
}

void planir::readProgram(const plan::PlanT &plan, const plan::ProgramT &program,
                         tp::MeshAttr mesh, OpBuilder &builder) {
  ProgramReader(plan, program, mesh, builder).run();
}
