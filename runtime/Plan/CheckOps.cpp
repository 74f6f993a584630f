// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One operation: sizes, types, and addresses in all iterations of the loops
// around it.

#include "Check.h"
#include "llvm/ADT/STLExtras.h"
#include <climits>
#include <cmath>

using namespace llvm;

namespace colrow::runtime {

namespace {
class OpChecker {
public:
  OpChecker(CheckedProgram &program, ArrayRef<int64_t> trips, uint32_t index)
      : program(program), trips(trips), index(index) {}

  Error check(const plan::Instruction &instruction);

private:
  Error checkGemm(const plan::Gemm &gemm);
  Error checkLaunch(const plan::Launch &launch);
  Error checkInt(const plan::IntOperand &value);
  Error checkCollectiveForm(const plan::Collective &collective);
  Error checkCollective(const plan::Collective &collective);
  Error checkCopy(const plan::Copy &copy);
  Error checkFill(const plan::Fill &fill);

  /// Addresses of the operation, which become its accesses, reads first.
  Error checkUses(ArrayRef<AddressUse> uses);
  /// The nth access from the end.
  const BufferAccess &last(unsigned n) const {
    return program.accesses[program.accesses.size() - n];
  }

  CheckedProgram &program;
  ArrayRef<int64_t> trips; // of loops around, innermost first
  uint32_t index;
};
} // namespace

Error OpChecker::checkUses(ArrayRef<AddressUse> uses) {
  for (bool reads : {true, false})
    for (const AddressUse &use : uses)
      if ((use.access != plan::Access::write) == reads)
        if (Error error = checkAddress(program, use, trips, index))
          return error;
  return Error::success();
}

static ArrayRef<int64_t> withoutZeros(ArrayRef<int64_t> list) {
  while (!list.empty() && list.back() == 0)
    list = list.drop_back();
  return list;
}

/// Two addresses of one instruction do not meet. Where both move alike, each
/// iteration is compared; else all that either reaches.
static Error checkApart(const AddressUse &a, const AddressUse &b,
                        const BufferAccess &aReach, const BufferAccess &bReach,
                        bool maybeEqual) {
  const plan::Operand &x = *a.operand, &y = *b.operand;
  if (x.buffer() != y.buffer())
    return Error::success();
  bool alike =
      withoutZeros(listOf(x.strides())) == withoutZeros(listOf(y.strides())) &&
      withoutZeros(listOf(x.coords())) == withoutZeros(listOf(y.coords()));
  if (alike && maybeEqual && x.offset() == y.offset())
    return Error::success();
  bool meet = alike ? x.offset() < y.offset() + b.bytes &&
                          y.offset() < x.offset() + a.bytes
                    : aReach.low < bReach.high && bReach.low < aReach.high;
  if (meet)
    return failure("operands {0} and {1} overlap", a.role, b.role);
  return Error::success();
}

/// Bytes that a row-major matrix spans, or more than any region.
static uint64_t matrixBytes(int64_t rows, int64_t columns, int64_t ld,
                            plan::DType type) {
  __int128 bytes = (__int128(rows - 1) * ld + columns) * elementBytes(type);
  return uint64_t(std::min(bytes, __int128(maxRegionBytes) + 1));
}

Error OpChecker::checkGemm(const plan::Gemm &g) {
  for (int64_t size : {g.m(), g.n(), g.k(), g.lda(), g.ldb(), g.ldc()})
    if (size < 1 || size > INT_MAX)
      return failure("gemm has a size of {0}", size);
  for (plan::DType type : {g.a_type(), g.b_type(), g.c_type()})
    if (type != plan::DType::f32 && type != plan::DType::bf16)
      return failure("gemm of a type other than f32 and bf16");
  if (!std::isfinite(g.alpha()) || !std::isfinite(g.beta()))
    return failure("gemm has a factor of {0} or {1}", g.alpha(), g.beta());
  int64_t aRows = g.trans_a() ? g.k() : g.m();
  int64_t aColumns = g.trans_a() ? g.m() : g.k();
  int64_t bRows = g.trans_b() ? g.n() : g.k();
  int64_t bColumns = g.trans_b() ? g.k() : g.n();
  if (g.lda() < aColumns || g.ldb() < bColumns || g.ldc() < g.n())
    return failure("gemm has rows of {0}, {1} and {2} elements, longer than "
                   "leading dimensions of {3}, {4} and {5}",
                   aColumns, bColumns, g.n(), g.lda(), g.ldb(), g.ldc());
  uint64_t aBytes = matrixBytes(aRows, aColumns, g.lda(), g.a_type());
  uint64_t bBytes = matrixBytes(bRows, bColumns, g.ldb(), g.b_type());
  uint64_t cBytes = matrixBytes(g.m(), g.n(), g.ldc(), g.c_type());
  plan::Access access =
      g.beta() == 0 ? plan::Access::write : plan::Access::accumulate;
  AddressUse a{"a", g.a(), g.a_type(), aBytes, aBytes, plan::Access::read};
  AddressUse b{"b", g.b(), g.b_type(), bBytes, bBytes, plan::Access::read};
  AddressUse c{"c", g.c(), g.c_type(), cBytes, cBytes, access};
  if (Error error = checkUses({a, b, c}))
    return error;
  if (Error error = checkApart(a, c, last(3), last(1), /*maybeEqual=*/false))
    return error;
  return checkApart(b, c, last(2), last(1), /*maybeEqual=*/false);
}

Error OpChecker::checkInt(const plan::IntOperand &value) {
  ArrayRef<int64_t> strides = listOf(value.strides());
  ArrayRef<int64_t> coords = listOf(value.coords());
  if (strides.size() > trips.size() ||
      coords.size() > program.mesh.sizes.size())
    return failure("launch has an integer with more strides than loops, or "
                   "more coordinates than the mesh");
  __int128 low = value.base(), high = low;
  auto add = [&](__int128 far) { (far < 0 ? low : high) += far; };
  for (size_t i = 0; i < strides.size(); ++i)
    add(__int128(trips[i] - 1) * strides[i]);
  for (size_t a = 0; a < coords.size(); ++a)
    add(__int128(program.mostCoordinate[a]) * coords[a]);
  if (low < INT64_MIN || high > INT64_MAX)
    return failure("launch has an integer beyond 64 bits");
  return Error::success();
}

Error OpChecker::checkLaunch(const plan::Launch &launch) {
  size_t kernels = lengthOf(program.plan.kernels());
  if (launch.kernel() >= kernels)
    return failure("launches kernel {0} of {1}", launch.kernel(), kernels);
  const plan::Kernel &kernel = *program.plan.kernels()->Get(launch.kernel());
  size_t args = lengthOf(launch.args()), wanted = lengthOf(kernel.args());
  ArrayRef<uint64_t> bytes = listOf(launch.bytes());
  if (args != wanted || bytes.size() != wanted ||
      lengthOf(launch.ints()) != kernel.ints())
    return failure("gives kernel {0} {1} operands, {2} sizes and {3} integers; "
                   "it takes {4} and {5}",
                   textOf(kernel.symbol()), args, bytes.size(),
                   lengthOf(launch.ints()), wanted, kernel.ints());
  std::vector<std::string> roles(args);
  std::vector<AddressUse> uses;
  for (size_t i = 0; i < args; ++i) {
    const plan::KernelArg &arg = *kernel.args()->Get(i);
    if (bytes[i] < arg.extent() || bytes[i] == 0)
      return failure("gives kernel {0} {1} bytes of operand {2}, of which it "
                     "touches {3}",
                     textOf(kernel.symbol()), bytes[i], i, arg.extent());
    roles[i] = std::to_string(i);
    uses.push_back({roles[i].c_str(), launch.args()->Get(i), arg.dtype(),
                    bytes[i], arg.extent(), arg.access()});
  }
  if (Error error = checkUses(uses))
    return error;
  if (launch.ints())
    for (const plan::IntOperand *value : *launch.ints())
      if (Error error = checkInt(*value))
        return error;
  return Error::success();
}

Error OpChecker::checkCollectiveForm(const plan::Collective &c) {
  if (c.kind() > plan::CollectiveKind::MAX ||
      c.reduction() > plan::Reduction::MAX ||
      c.payload_bytes() > maxRegionBytes)
    return failure("collective of an unknown kind or reduction, or an "
                   "impossible payload");
  if (!is_contained({plan::DType::f32, plan::DType::bf16, plan::DType::i32,
                     plan::DType::i64},
                    c.dtype()))
    return failure("collective of a type other than f32, bf16, i32 and i64");
  unsigned seen = 0;
  for (uint8_t axis : listOf(c.axes())) {
    bool known = axis < program.mesh.sizes.size();
    if (!known || (seen & (1u << axis)))
      return failure("collective names mesh axis {0} {1}", unsigned(axis),
                     known ? "twice" : "of a smaller mesh");
    seen |= 1u << axis;
  }
  if (seen == 0)
    return failure("collective names no mesh axis");
  bool reduces = c.kind() == plan::CollectiveKind::all_reduce;
  bool scatters = c.kind() == plan::CollectiveKind::reduce_scatter;
  if ((c.reduction() != plan::Reduction::none) != (reduces || scatters) ||
      (scatters && c.reduction() != plan::Reduction::sum))
    return failure("{0} with reduction {1}",
                   plan::EnumNameCollectiveKind(c.kind()),
                   plan::EnumNameReduction(c.reduction()));
  return Error::success();
}

Error OpChecker::checkCollective(const plan::Collective &c) {
  if (Error error = checkCollectiveForm(c))
    return error;
  int64_t ranks = program.mesh.groupSize(listOf(c.axes()));
  int64_t item = elementBytes(c.dtype());
  bool reduces = c.kind() == plan::CollectiveKind::all_reduce;
  int64_t src, dst;
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
  AddressUse from{"src",         c.src(),       c.dtype(),
                  uint64_t(src), uint64_t(src), plan::Access::read};
  AddressUse to{"dst",         c.dst(),       c.dtype(),
                uint64_t(dst), uint64_t(dst), plan::Access::write};
  if (Error error = checkUses({from, to}))
    return error;
  return checkApart(from, to, last(2), last(1), /*maybeEqual=*/reduces);
}

/// The element type that bytes at `operand` have.
static plan::DType typeAt(const CheckedProgram &program,
                          const plan::Operand *operand) {
  return operand && operand->buffer() < program.buffers.size()
             ? program.buffers[operand->buffer()]->dtype()
             : plan::DType::i8;
}

Error OpChecker::checkCopy(const plan::Copy &copy) {
  plan::DType type = typeAt(program, copy.dst());
  if (type == plan::DType::i8)
    type = typeAt(program, copy.src());
  if (copy.bytes() == 0 || copy.bytes() % elementBytes(type) != 0)
    return failure("copies {0} bytes of {1}", copy.bytes(),
                   plan::EnumNameDType(type));
  AddressUse from{"src",        copy.src(),   type,
                  copy.bytes(), copy.bytes(), plan::Access::read};
  AddressUse to{"dst",        copy.dst(),   type,
                copy.bytes(), copy.bytes(), plan::Access::write};
  if (Error error = checkUses({from, to}))
    return error;
  return checkApart(from, to, last(2), last(1), /*maybeEqual=*/false);
}

Error OpChecker::checkFill(const plan::Fill &fill) {
  plan::DType type = typeAt(program, fill.dst());
  if (fill.bytes() == 0 || fill.bytes() % elementBytes(type) != 0)
    return failure("fills {0} bytes of {1}", fill.bytes(),
                   plan::EnumNameDType(type));
  return checkUses({{"dst", fill.dst(), type, fill.bytes(), fill.bytes(),
                     plan::Access::write}});
}

Error OpChecker::check(const plan::Instruction &instruction) {
  switch (instruction.op_type()) {
  case plan::Op::Gemm:
    return checkGemm(*instruction.op_as_Gemm());
  case plan::Op::Launch:
    return checkLaunch(*instruction.op_as_Launch());
  case plan::Op::Collective:
    return checkCollective(*instruction.op_as_Collective());
  case plan::Op::Copy:
    return checkCopy(*instruction.op_as_Copy());
  case plan::Op::Fill:
    return checkFill(*instruction.op_as_Fill());
  case plan::Op::Record:
  case plan::Op::Wait:
    return Error::success(); // see checkOrder()
  default:
    return failure("unknown operation");
  }
}

Error checkOp(CheckedProgram &program, ArrayRef<int64_t> trips,
              uint32_t index) {
  return OpChecker(program, trips, index)
      .check(*program.program.instructions()->Get(index));
}

} // namespace colrow::runtime
