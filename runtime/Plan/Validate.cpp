// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a plan's mesh, instructions and outputs. Invariant after success:
// no instruction, in any iteration of its loops, names an address outside its
// region, so the executor checks nothing.

#include "Validate.h"
#include <climits>
#include <cmath>

using namespace llvm;

namespace colrow::runtime {

namespace {

constexpr unsigned maxLoopDepth = 4;
/// Bounds the instructions that one step can execute.
constexpr int64_t maxIterations = int64_t(1) << 32;

class StepChecker {
public:
  StepChecker(const plan::Plan &plan, const Mesh &mesh)
      : plan(plan), mesh(mesh) {}

  Error run();

private:
  Error checkBody(uint32_t begin, uint32_t end, int64_t iterations);
  Error checkOp(const plan::Instruction &instruction);
  Error checkGemm(const plan::Gemm &gemm);
  Error checkLaunch(const plan::Launch &launch);
  Error checkInteger(const plan::IntOperand &value);
  Error checkCollective(const plan::Collective &collective);
  Error checkResult(const char *name, const plan::Operand *operand);
  Error checkOutput(const plan::Output &output);

  /// `bytes` at `operand`, in every iteration, lie inside the region.
  Error checkOperand(const char *role, const plan::Operand *operand,
                     uint64_t bytes, unsigned alignment, bool written);
  Error checkApart(const plan::Operand &a, uint64_t aBytes,
                   const plan::Operand &b, uint64_t bBytes, bool maybeEqual);
  uint64_t regionBytes(plan::Region region) const;

  /// Lowest and highest value over all iterations; strides fit the loops.
  using Range = std::pair<__int128, __int128>;
  Range rangeFrom(__int128 base, ArrayRef<int64_t> strides) const;
  Range rangeOf(const plan::Operand &operand) const {
    return rangeFrom(operand.offset(), listOf(operand.strides()));
  }

  const plan::Plan &plan;
  const Mesh &mesh;
  SmallVector<int64_t, maxLoopDepth> trips; // of the enclosing loops
};

uint64_t StepChecker::regionBytes(plan::Region region) const {
  switch (region) {
  case plan::Region::persistent:
    return plan.persistent_bytes();
  case plan::Region::scratch:
    return plan.scratch_bytes();
  case plan::Region::input:
    return inputBytes(plan.batch(), plan.seq());
  case plan::Region::constant:
    return plan.constants() ? plan.constants()->size() : 0;
  case plan::Region::scalars:
    return scalarBlockBytes;
  }
  return 0;
}

StepChecker::Range StepChecker::rangeFrom(__int128 base,
                                          ArrayRef<int64_t> strides) const {
  Range range(base, base);
  for (size_t i = 0; i < strides.size(); ++i) {
    __int128 far = __int128(trips[i] - 1) * strides[i];
    (far < 0 ? range.first : range.second) += far;
  }
  return range;
}

Error StepChecker::checkOperand(const char *role, const plan::Operand *operand,
                                uint64_t bytes, unsigned alignment,
                                bool written) {
  if (!operand || operand->region() > plan::Region::MAX)
    return failure("operand {0} is missing", role);
  if (written && operand->region() != plan::Region::persistent &&
      operand->region() != plan::Region::scratch)
    return failure("operand {0} is written, but region {1} is read only", role,
                   plan::EnumNameRegion(operand->region()));
  if (operand->region() == plan::Region::input && plan.vocab() == 0)
    return failure("operand {0} reads tokens, but there is a vocabulary of 0",
                   role);
  ArrayRef<int64_t> strides = listOf(operand->strides());
  if (strides.size() > trips.size())
    return failure("operand {0} has {1} strides in {2} loops", role,
                   strides.size(), trips.size());
  uint64_t size = regionBytes(operand->region());
  if (bytes > maxRegionBytes || operand->offset() > maxRegionBytes)
    return failure("operand {0} is outside region {1}", role,
                   plan::EnumNameRegion(operand->region()));
  auto [low, last] = rangeOf(*operand);
  __int128 high = last + bytes;
  bool aligned = operand->offset() % alignment == 0;
  for (int64_t stride : strides)
    aligned &= stride % alignment == 0;
  if (low < 0 || high > size)
    return failure("operand {0} reaches {1} byte {2} of region {3}, which has "
                   "{4}",
                   role, low < 0 ? "below" : "to",
                   low < 0 ? 0 : uint64_t(std::min(high, __int128(UINT64_MAX))),
                   plan::EnumNameRegion(operand->region()), size);
  if (!aligned)
    return failure("operand {0} is not aligned to {1} bytes", role, alignment);
  return Error::success();
}

/// Operands of a copy or collective must not overlap, unless they are equal
/// and the operation allows that. Both move with the same strides; else not
/// even what they touch in all iterations may meet.
Error StepChecker::checkApart(const plan::Operand &a, uint64_t aBytes,
                              const plan::Operand &b, uint64_t bBytes,
                              bool maybeEqual) {
  if (a.region() != b.region())
    return Error::success();
  if (maybeEqual && a.offset() == b.offset() &&
      listOf(a.strides()) == listOf(b.strides()))
    return Error::success();
  bool together = listOf(a.strides()) == listOf(b.strides());
  auto [aLow, aHigh] = together ? Range{a.offset(), a.offset()} : rangeOf(a);
  auto [bLow, bHigh] = together ? Range{b.offset(), b.offset()} : rangeOf(b);
  if (aLow < bHigh + bBytes && bLow < aHigh + aBytes)
    return failure("source and destination overlap");
  return Error::success();
}

/// Bytes that a row-major float32 matrix spans.
static uint64_t matrixBytes(int64_t rows, int64_t columns, int64_t ld) {
  return (uint64_t(rows - 1) * ld + columns) * 4;
}

Error StepChecker::checkGemm(const plan::Gemm &gemm) {
  for (int64_t size :
       {gemm.m(), gemm.n(), gemm.k(), gemm.lda(), gemm.ldb(), gemm.ldc()})
    if (size < 1 || size > INT_MAX)
      return failure("gemm has a size of {0}", size);
  int64_t aRows = gemm.trans_a() ? gemm.k() : gemm.m();
  int64_t aColumns = gemm.trans_a() ? gemm.m() : gemm.k();
  int64_t bRows = gemm.trans_b() ? gemm.n() : gemm.k();
  int64_t bColumns = gemm.trans_b() ? gemm.k() : gemm.n();
  if (!std::isfinite(gemm.alpha()) || !std::isfinite(gemm.beta()))
    return failure("gemm scales by a number that is not finite");
  if (gemm.lda() < aColumns || gemm.ldb() < bColumns || gemm.ldc() < gemm.n())
    return failure("gemm has rows longer than its leading dimension");
  if (Error error =
          checkOperand("a", gemm.a(), matrixBytes(aRows, aColumns, gemm.lda()),
                       4, /*written=*/false))
    return error;
  if (Error error =
          checkOperand("b", gemm.b(), matrixBytes(bRows, bColumns, gemm.ldb()),
                       4, /*written=*/false))
    return error;
  return checkOperand("c", gemm.c(),
                      matrixBytes(gemm.m(), gemm.n(), gemm.ldc()), 4,
                      /*written=*/true);
}

/// The integer stays one in every iteration.
Error StepChecker::checkInteger(const plan::IntOperand &value) {
  ArrayRef<int64_t> strides = listOf(value.strides());
  if (strides.size() > trips.size())
    return failure("launch has an integer with {0} strides in {1} loops",
                   strides.size(), trips.size());
  auto [low, high] = rangeFrom(value.base(), strides);
  if (low < INT64_MIN || high > INT64_MAX)
    return failure("launch has an integer that overflows");
  return Error::success();
}

Error StepChecker::checkLaunch(const plan::Launch &launch) {
  if (textOf(launch.symbol()).empty())
    return failure("launch names no kernel");
  if (!plan.kernels() || plan.kernels()->size() == 0)
    return failure("launches {0}, but the plan holds no kernels",
                   textOf(launch.symbol()));
  size_t args = launch.args() ? launch.args()->size() : 0;
  ArrayRef<uint64_t> bytes = listOf(launch.bytes());
  if (bytes.size() != args)
    return failure("launch has {0} operands and {1} extents", args,
                   bytes.size());
  for (size_t i = 0; i < args; ++i)
    if (Error error = checkOperand(std::to_string(i).c_str(),
                                   launch.args()->Get(i), bytes[i], 1,
                                   /*written=*/false))
      return error;
  if (launch.ints())
    for (const plan::IntOperand *value : *launch.ints())
      if (Error error = checkInteger(*value))
        return error;
  return Error::success();
}

Error StepChecker::checkCollective(const plan::Collective &c) {
  if (c.kind() > plan::CollectiveKind::MAX ||
      c.reduction() > plan::Reduction::MAX || c.dtype() > plan::DType::MAX)
    return failure("collective of an unknown kind, reduction or type");
  unsigned seen = 0;
  for (uint8_t axis : listOf(c.axes())) {
    if (axis >= mesh.sizes.size() || (seen & (1u << axis)))
      return failure("collective names mesh axis {0} {1}", unsigned(axis),
                     axis < mesh.sizes.size() ? "twice" : "of a smaller mesh");
    seen |= 1u << axis;
  }
  if (seen == 0)
    return failure("collective names no mesh axis");
  int64_t ranks = mesh.groupSize(listOf(c.axes()));
  int64_t item = c.dtype() == plan::DType::i64 ? 8 : 4;
  bool reduces = c.kind() == plan::CollectiveKind::all_reduce;
  if (reduces && c.reduction() == plan::Reduction::none)
    return failure("all_reduce without a reduction");
  if (c.kind() == plan::CollectiveKind::reduce_scatter &&
      c.reduction() != plan::Reduction::sum)
    return failure("reduce_scatter sums, nothing else");
  bool sums = reduces || c.kind() == plan::CollectiveKind::reduce_scatter;
  if (!sums && c.reduction() != plan::Reduction::none)
    return failure("collective that only moves data has a reduction");
  int64_t src = 0, dst = 0;
  if (reduces)
    src = dst = checkedProduct({c.count(), item});
  else if (c.kind() == plan::CollectiveKind::all_to_all)
    src = dst = checkedProduct({ranks, c.outer(), c.block(), item});
  else {
    int64_t block = checkedProduct({c.outer(), c.block(), item});
    int64_t total = checkedProduct({c.outer(), c.total(), item});
    if (block && total && c.total() > checkedProduct({c.block(), ranks}))
      return failure("collective gathers {0} columns from {1} ranks of {2}",
                     c.total(), ranks, c.block());
    bool gathers = c.kind() == plan::CollectiveKind::all_gather;
    src = gathers ? block : total;
    dst = gathers ? total : block;
  }
  if (src == 0 || dst == 0)
    return failure("collective has a size that is not positive or too large");
  if (Error error = checkOperand("src", c.src(), src, item, /*written=*/false))
    return error;
  if (Error error = checkOperand("dst", c.dst(), dst, item, /*written=*/true))
    return error;
  if (c.payload_bytes() > maxRegionBytes)
    return failure("collective has an impossible payload");
  return checkApart(*c.src(), src, *c.dst(), dst, /*maybeEqual=*/reduces);
}

Error StepChecker::checkOp(const plan::Instruction &instruction) {
  switch (instruction.op_type()) {
  case plan::Op::Gemm:
    return checkGemm(*instruction.op_as_Gemm());
  case plan::Op::Launch:
    return checkLaunch(*instruction.op_as_Launch());
  case plan::Op::Collective:
    return checkCollective(*instruction.op_as_Collective());
  case plan::Op::Copy: {
    const plan::Copy &copy = *instruction.op_as_Copy();
    if (Error error =
            checkOperand("src", copy.src(), copy.bytes(), 1, /*written=*/false))
      return error;
    if (Error error =
            checkOperand("dst", copy.dst(), copy.bytes(), 1, /*written=*/true))
      return error;
    return checkApart(*copy.src(), copy.bytes(), *copy.dst(), copy.bytes(),
                      /*maybeEqual=*/false);
  }
  case plan::Op::Fill:
    return checkOperand("dst", instruction.op_as_Fill()->dst(),
                        instruction.op_as_Fill()->bytes(), 1, /*written=*/true);
  default:
    return failure("unknown operation");
  }
}

Error StepChecker::checkBody(uint32_t begin, uint32_t end, int64_t iterations) {
  for (uint32_t i = begin; i < end; ++i) {
    const plan::Instruction &instruction = *plan.instructions()->Get(i);
    auto fail = [&](Error error) {
      return failure("instruction {0} ({1}): {2}", i,
                     textOf(instruction.name()), toString(std::move(error)));
    };
    if (instruction.op_type() == plan::Op::NONE || !instruction.op())
      return fail(failure("has no operation"));
    if (instruction.op_type() != plan::Op::Loop) {
      if (Error error = checkOp(instruction))
        return fail(std::move(error));
      continue;
    }
    const plan::Loop &loop = *instruction.op_as_Loop();
    if (trips.size() == maxLoopDepth)
      return fail(failure("loops are nested deeper than {0}", maxLoopDepth));
    if (loop.trips() < 1 || loop.trips() > maxIterations / iterations)
      return fail(failure("loop of {0} trips", loop.trips()));
    if (loop.body() < 1 || loop.body() > end - i - 1)
      return fail(failure("loop over {0} instructions where {1} follow",
                          loop.body(), end - i - 1));
    trips.push_back(loop.trips());
    if (Error error =
            checkBody(i + 1, i + 1 + loop.body(), iterations * loop.trips()))
      return error;
    trips.pop_back();
    i += loop.body();
  }
  return Error::success();
}

Error StepChecker::checkResult(const char *name, const plan::Operand *operand) {
  if (Error error = checkOperand(name, operand, 4, 4, /*written=*/false))
    return error;
  return Error::success();
}

Error StepChecker::checkOutput(const plan::Output &output) {
  StringRef name = textOf(output.name());
  if (name.empty())
    return failure("output without a name");
  Expected<int64_t> local =
      checkLayout(listOf(output.shape()), output.dims(), mesh);
  if (!local)
    return failure("output {0}: {1}", name, toString(local.takeError()));
  if (output.parameter() != -1) {
    int32_t index = output.parameter();
    if (index < 0 || !plan.parameters() ||
        uint32_t(index) >= plan.parameters()->size())
      return failure("output {0}: belongs to parameter {1}, which is none",
                     name, index);
    if (listOf(plan.parameters()->Get(index)->shape()) !=
        listOf(output.shape()))
      return failure("output {0}: has another shape than its parameter", name);
  }
  if (Error error = checkOperand("src", output.src(), *local * 4, 4,
                                 /*written=*/false))
    return failure("output {0}: {1}", name, toString(std::move(error)));
  return Error::success();
}

Error StepChecker::run() {
  if (plan.instructions() && plan.instructions()->size())
    if (Error error = checkBody(0, plan.instructions()->size(), 1))
      return error;
  if (Error error = checkResult("loss", plan.loss()))
    return error;
  if (plan.token_count())
    if (Error error = checkResult("token_count", plan.token_count()))
      return error;
  if (plan.grad_norm())
    if (Error error = checkResult("grad_norm", plan.grad_norm()))
      return error;
  if (plan.outputs())
    for (const plan::Output *output : *plan.outputs())
      if (Error error = checkOutput(*output))
        return error;
  return Error::success();
}

} // namespace

Error validatePlan(StringRef name, const plan::Plan &plan) {
  auto invalid = [&](Error error) {
    return failure("{0}: invalid plan: {1}", name, toString(std::move(error)));
  };
  if (Error error = checkHead(plan))
    return invalid(std::move(error));
  Mesh mesh(plan);
  if (Error error = checkParameters(plan, mesh))
    return invalid(std::move(error));
  if (Error error = StepChecker(plan, mesh).run())
    return invalid(std::move(error));
  return Error::success();
}

} // namespace colrow::runtime
