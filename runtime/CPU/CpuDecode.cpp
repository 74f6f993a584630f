// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a program's tables to what a rank runs: buffers and the rank's
// coordinates become addresses.

#include "CpuProgram.h"
#include "colrow/runtime/Plan/Programs.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace colrow::runtime {

class CpuProgram::Decoder {
public:
  Decoder(CpuProgram &to, const RankContext &context, const CpuCode &code,
          Error &error)
      : to(to), context(context), code(code), error(error),
        coordinates(context.mesh.coordinates(context.rank)) {}

  void decode(uint32_t begin, uint32_t end, unsigned depth);

private:
  void decodeOne(const plan::Instruction &instruction);
  void decodeGemm(const plan::Gemm &gemm);
  void decodeLaunch(const plan::Launch &launch);
  void decodeCollective(const plan::Collective &collective);
  void add(plan::Op kind, size_t index) {
    to.steps.push_back({kind, uint32_t(index)});
  }

  /// `base` plus the coordinates' part; strides turned outermost first.
  template <typename T, typename Operand>
  Affine<T> affine(T base, const Operand &operand) const {
    Affine<T> result{base};
    ArrayRef<int64_t> coords = listOf(operand.coords());
    for (size_t a = 0; a < coords.size(); ++a)
      result.base += coords[a] * int64_t(coordinates[a]);
    ArrayRef<int64_t> strides = listOf(operand.strides());
    for (size_t i = 0; i < strides.size(); ++i)
      result.strides[loopDepth - 1 - i] = strides[i];
    if (any_of(strides, [](int64_t stride) { return stride != 0; }))
      result.loops = loopDepth;
    return result;
  }

  Address address(const plan::Operand *operand) const {
    return affine(context.regions.at(
                      bufferOf(context.plan, to.program, operand->buffer())) +
                      operand->offset(),
                  *operand);
  }

  CpuProgram &to;
  const RankContext &context;
  const CpuCode &code;
  Error &error; // decoding ends with it
  SmallVector<unsigned, maxMeshAxes> coordinates;
  unsigned loopDepth = 0;
};

void CpuProgram::Decoder::decodeGemm(const plan::Gemm &gemm) {
  auto prepared = code.libraries.prepare(shapeOf(gemm));
  if (!prepared) {
    error = prepared.takeError();
    return;
  }
  size_t lines = divideCeil((*prepared)->workspaceBytes(), sizeof(Line));
  to.workspace.resize(std::max(to.workspace.size(), lines));
  to.gemms.push_back({std::move(*prepared), address(gemm.a()),
                      address(gemm.b()), address(gemm.c())});
}

void CpuProgram::Decoder::decodeLaunch(const plan::Launch &launch) {
  Launch result{code.kernels[launch.kernel()],
                uint32_t(to.addresses.size()),
                0,
                uint32_t(to.intValues.size()),
                0,
                /*fixed=*/true};
  if (launch.args())
    for (const plan::Operand *operand : *launch.args()) {
      to.addresses.push_back(address(operand));
      to.pointers.push_back(to.addresses.back().base);
      result.fixed &= to.addresses.back().loops == 0;
      ++result.pointerCount;
    }
  if (launch.ints())
    for (const plan::IntOperand *operand : *launch.ints()) {
      to.intValues.push_back(affine(operand->base(), *operand));
      to.ints.push_back(to.intValues.back().base);
      result.fixed &= to.intValues.back().loops == 0;
      ++result.intCount;
    }
  to.launches.push_back(result);
}

void CpuProgram::Decoder::decodeCollective(const plan::Collective &c) {
  ArrayRef<uint8_t> axes = listOf(c.axes());
  std::unique_ptr<Communicator> &group = context.groups[axes.vec()];
  if (!group)
    group = context.transport.communicator(context.rank, axes);
  CollectiveCall call{c.kind(),  c.reduction(), c.dtype(), c.count(), c.outer(),
                      c.block(), c.total(),     nullptr,   nullptr};
  to.collectives.push_back(
      {group.get(), call, address(c.src()), address(c.dst())});
}

void CpuProgram::Decoder::decodeOne(const plan::Instruction &instruction) {
  switch (instruction.op_type()) {
  case plan::Op::Gemm: {
    add(plan::Op::Gemm, to.gemms.size());
    return decodeGemm(*instruction.op_as_Gemm());
  }
  case plan::Op::Launch:
    add(plan::Op::Launch, to.launches.size());
    return decodeLaunch(*instruction.op_as_Launch());
  case plan::Op::Copy: {
    const plan::Copy &copy = *instruction.op_as_Copy();
    add(plan::Op::Copy, to.copies.size());
    to.copies.push_back(
        {address(copy.src()), address(copy.dst()), copy.bytes()});
    return;
  }
  case plan::Op::Fill: {
    const plan::Fill &fill = *instruction.op_as_Fill();
    add(plan::Op::Fill, to.fills.size());
    to.fills.push_back({address(fill.dst()), fill.bytes(), fill.value()});
    return;
  }
  case plan::Op::Collective:
    add(plan::Op::Collective, to.collectives.size());
    return decodeCollective(*instruction.op_as_Collective());
  default: // record and wait: one thread runs all streams, in the list's order
    add(instruction.op_type(), 0);
  }
}

void CpuProgram::Decoder::decode(uint32_t begin, uint32_t end, unsigned depth) {
  for (uint32_t i = begin; i < end && !error; ++i) {
    loopDepth = depth;
    const plan::Instruction &instruction = *to.program.instructions()->Get(i);
    const plan::Loop *loop = instruction.op_as_Loop();
    if (!loop) {
      decodeOne(instruction);
      continue;
    }
    add(plan::Op::Loop, to.loops.size());
    to.loops.push_back({loop->trips(), loop->body()});
    decode(i + 1, i + 1 + loop->body(), depth + 1);
    i += loop->body();
  }
}

CpuProgram::CpuProgram(const RankContext &context, const CpuCode &code,
                       const plan::Program &program, Error &error)
    : program(program), status(context.status) {
  ErrorAsOutParameter checked(error);
  if (!program.instructions())
    return;
  steps.reserve(program.instructions()->size());
  Decoder(*this, context, code, error)
      .decode(0, program.instructions()->size(), 0);
}

} // namespace colrow::runtime
