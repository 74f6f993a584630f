// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoding and running a rank's instructions.

#include "RankProgram.h"
#include "colrow/runtime/Errors.h"
#include <cblas.h>
#include <chrono>
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

//===- Decoding -----------------------------------------------------------===//

RankProgram::Address RankProgram::decode(const plan::Operand &operand) const {
  Address result;
  result.base =
      regions.start[static_cast<size_t>(operand.region())] + operand.offset();
  for (int64_t stride : listOf(operand.strides()))
    result.strides[result.loops++] = stride;
  return result;
}

Error RankProgram::decodeLaunch(const plan::Launch &launch,
                                const KernelObject &kernels) {
  Expected<Kernel> kernel = kernels.find(textOf(launch.symbol()));
  if (!kernel)
    return kernel.takeError();
  Launch result{*kernel, uint32_t(addresses.size()),
                0,       uint32_t(intValues.size()),
                0,       /*fixed=*/true};
  if (launch.args())
    for (const plan::Operand *operand : *launch.args()) {
      addresses.push_back(decode(*operand));
      pointers.push_back(addresses.back().base);
      result.fixed &= addresses.back().loops == 0;
      ++result.pointerCount;
    }
  if (launch.ints())
    for (const plan::IntOperand *operand : *launch.ints()) {
      Affine<int64_t> value;
      value.base = operand->base();
      for (int64_t stride : listOf(operand->strides()))
        value.strides[value.loops++] = stride;
      intValues.push_back(value);
      ints.push_back(value.base);
      result.fixed &= value.loops == 0;
      ++result.intCount;
    }
  launches.push_back(result);
  return Error::success();
}

void RankProgram::decodeCollective(const plan::Collective &c,
                                   Transport &transport, unsigned rank) {
  ArrayRef<uint8_t> axes = listOf(c.axes());
  std::unique_ptr<Communicator> &group = groups[axes.vec()];
  if (!group)
    group = transport.communicator(rank, axes);
  CollectiveCall call{c.kind(),  c.reduction(), c.dtype(), c.count(), c.outer(),
                      c.block(), c.total(),     nullptr,   nullptr};
  collectives.push_back(
      {group.get(), call, decode(*c.src()), decode(*c.dst())});
}

Error RankProgram::decode(const plan::Instruction &instruction,
                          const KernelObject &kernels) {
  switch (instruction.op_type()) {
  case plan::Op::Gemm: {
    const plan::Gemm &g = *instruction.op_as_Gemm();
    gemms.push_back({int(g.m()), int(g.n()), int(g.k()), int(g.lda()),
                     int(g.ldb()), int(g.ldc()), g.trans_a(), g.trans_b(),
                     g.alpha(), g.beta(), decode(*g.a()), decode(*g.b()),
                     decode(*g.c())});
    code.push_back({plan::Op::Gemm, uint32_t(gemms.size() - 1)});
    return Error::success();
  }
  case plan::Op::Launch:
    code.push_back({plan::Op::Launch, uint32_t(launches.size())});
    return decodeLaunch(*instruction.op_as_Launch(), kernels);
  case plan::Op::Copy: {
    const plan::Copy &copy = *instruction.op_as_Copy();
    code.push_back({plan::Op::Copy, uint32_t(copies.size())});
    copies.push_back({decode(*copy.src()), decode(*copy.dst()), copy.bytes()});
    return Error::success();
  }
  case plan::Op::Fill: {
    const plan::Fill &fill = *instruction.op_as_Fill();
    code.push_back({plan::Op::Fill, uint32_t(fills.size())});
    fills.push_back({decode(*fill.dst()), fill.bytes(), fill.value()});
    return Error::success();
  }
  case plan::Op::Loop: {
    const plan::Loop &loop = *instruction.op_as_Loop();
    code.push_back({plan::Op::Loop, uint32_t(loops.size())});
    loops.push_back({loop.trips(), loop.body()});
    return Error::success();
  }
  default:
    return failure("unknown operation");
  }
}

Expected<std::unique_ptr<RankProgram>>
RankProgram::create(const plan::Plan &plan, const Regions &regions,
                    const KernelObject &kernels, Transport &transport,
                    unsigned rank) {
  auto program = std::make_unique<RankProgram>();
  program->regions = regions;
  if (!plan.instructions())
    return program;
  program->code.reserve(plan.instructions()->size());
  for (const plan::Instruction *instruction : *plan.instructions()) {
    if (const plan::Collective *collective = instruction->op_as_Collective()) {
      program->code.push_back(
          {plan::Op::Collective, uint32_t(program->collectives.size())});
      program->decodeCollective(*collective, transport, rank);
      continue;
    }
    if (Error error = program->decode(*instruction, kernels))
      return failure("instruction {0}: {1}", textOf(instruction->name()),
                     toString(std::move(error)));
  }
  return program;
}

//===- Running ------------------------------------------------------------===//

template <typename T> T RankProgram::at(const Affine<T> &affine) const {
  T result = affine.base;
  for (unsigned i = 0; i < affine.loops; ++i)
    result += index[i] * affine.strides[i];
  return result;
}

void RankProgram::runGemm(const Gemm &g) {
  cblas_sgemm(CblasRowMajor, g.transA ? CblasTrans : CblasNoTrans,
              g.transB ? CblasTrans : CblasNoTrans, g.m, g.n, g.k, g.alpha,
              reinterpret_cast<const float *>(at(g.a)), g.lda,
              reinterpret_cast<const float *>(at(g.b)), g.ldb, g.beta,
              reinterpret_cast<float *>(at(g.c)), g.ldc);
}

void RankProgram::runLaunch(const Launch &launch) {
  void **args = pointers.data() + launch.firstPointer;
  int64_t *values = ints.data() + launch.firstInt;
  if (!launch.fixed) {
    for (uint32_t i = 0; i < launch.pointerCount; ++i)
      args[i] = at(addresses[launch.firstPointer + i]);
    for (uint32_t i = 0; i < launch.intCount; ++i)
      values[i] = at(intValues[launch.firstInt + i]);
  }
  launch.kernel(args, values);
}

void RankProgram::runOne(const Step &step) {
  switch (step.kind) {
  case plan::Op::Gemm:
    return runGemm(gemms[step.index]);
  case plan::Op::Launch:
    return runLaunch(launches[step.index]);
  case plan::Op::Copy: {
    const Copy &copy = copies[step.index];
    std::memmove(at(copy.dst), at(copy.src), copy.bytes);
    return;
  }
  case plan::Op::Fill: {
    const Fill &fill = fills[step.index];
    std::memset(at(fill.dst), fill.value, fill.bytes);
    return;
  }
  case plan::Op::Collective: {
    Collective &collective = collectives[step.index];
    collective.call.src = at(collective.src);
    collective.call.dst = at(collective.dst);
    return collective.group->run(collective.call);
  }
  default:
    return;
  }
}

static int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <bool traced>
void RankProgram::runRange(uint32_t begin, uint32_t end, unsigned depth) {
  for (uint32_t i = begin; i < end; ++i) {
    const Step &step = code[i];
    if (step.kind == plan::Op::Loop) {
      const Loop &loop = loops[step.index];
      for (index[depth] = 0; index[depth] < loop.trips; ++index[depth])
        runRange<traced>(i + 1, i + 1 + loop.body, depth + 1);
      i += loop.body;
      continue;
    }
    int64_t start = traced ? now() : 0;
    runOne(step);
    if (traced && trace.size() < Executor::maxTraceEvents)
      trace.push_back({i, start, now()});
  }
}

void RankProgram::run() { runRange<false>(0, code.size(), 0); }
void RankProgram::runTraced() { runRange<true>(0, code.size(), 0); }

} // namespace colrow::runtime
