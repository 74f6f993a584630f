// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers in their regions, and addresses in their buffers.

#include "Check.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace colrow::runtime {

std::string bufferText(ArrayRef<const plan::Buffer *> buffers, uint32_t index) {
  StringRef name = textOf(buffers[index]->name());
  return formatv(name.empty() ? "buffer {0}" : "buffer {0} ({1})", index, name)
      .str();
}

static Error checkBuffer(const plan::Buffer &buffer,
                         ArrayRef<plan::Region> allowed,
                         function_ref<uint64_t(plan::Region)> bytes) {
  if (!is_contained(allowed, buffer.region()))
    return failure("stands in a region that is none, or not its list's");
  if (buffer.dtype() > plan::DType::MAX || buffer.dtype() == plan::DType::f16)
    return failure("has a type that no buffer has");
  uint64_t size = bytes(buffer.region());
  if (buffer.bytes() < 1 || buffer.bytes() > size ||
      buffer.offset() > size - buffer.bytes())
    return failure("has {0} bytes at {1} of region {2}, which has {3}",
                   buffer.bytes(), buffer.offset(),
                   plan::EnumNameRegion(buffer.region()), size);
  if (buffer.offset() % bufferAlignment != 0)
    return failure("begins at byte {0}, which is no multiple of {1}",
                   buffer.offset(), bufferAlignment);
  return Error::success();
}

static bool mayOverlap(plan::Region region) {
  return region == plan::Region::scratch || region == plan::Region::scalars;
}

Error checkBuffers(const BufferList *list, ArrayRef<plan::Region> allowed,
                   function_ref<uint64_t(plan::Region)> bytes) {
  if (!list)
    return Error::success();
  std::vector<const plan::Buffer *> buffers(list->begin(), list->end());
  std::vector<uint32_t> order;
  for (uint32_t b = 0; b < buffers.size(); ++b) {
    if (Error error = checkBuffer(*buffers[b], allowed, bytes))
      return prefixed(bufferText(buffers, b), std::move(error));
    if (!mayOverlap(buffers[b]->region()))
      order.push_back(b);
  }
  auto key = [&](uint32_t b) {
    return std::make_pair(buffers[b]->region(), buffers[b]->offset());
  };
  sort(order, [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  for (size_t i = 1; i < order.size(); ++i) {
    const plan::Buffer &a = *buffers[order[i - 1]], &b = *buffers[order[i]];
    if (a.region() == b.region() && a.offset() + a.bytes() > b.offset())
      return failure("{0} and {1} overlap", bufferText(buffers, order[i - 1]),
                     bufferText(buffers, order[i]));
  }
  return Error::success();
}

/// The least and the largest value of a sum of indices times strides.
namespace {
struct Span {
  __int128 low = 0, high = 0;
  bool aligned = true;

  void add(int64_t stride, int64_t least, int64_t most, int64_t alignment) {
    __int128 a = __int128(stride) * least, b = __int128(stride) * most;
    low += std::min(a, b);
    high += std::max(a, b);
    aligned &= stride % alignment == 0;
  }
};
} // namespace

static Error checkUse(const CheckedProgram &program, const AddressUse &use,
                      ArrayRef<int64_t> trips) {
  if (!use.operand)
    return failure("operand {0} is missing", use.role);
  uint32_t index = use.operand->buffer();
  if (index >= program.buffers.size())
    return failure("operand {0} is buffer {1} of {2}", use.role, index,
                   program.buffers.size());
  const plan::Buffer &buffer = *program.buffers[index];
  if (use.access != plan::Access::read &&
      buffer.region() != plan::Region::persistent &&
      buffer.region() != plan::Region::scratch)
    return failure("operand {0} is written, but region {1} is read only",
                   use.role, plan::EnumNameRegion(buffer.region()));
  if (buffer.dtype() != use.type && buffer.dtype() != plan::DType::i8)
    return failure("operand {0} is taken as {1}, but {2} holds {3}", use.role,
                   plan::EnumNameDType(use.type),
                   bufferText(program.buffers, index),
                   plan::EnumNameDType(buffer.dtype()));
  size_t strides = lengthOf(use.operand->strides());
  if (strides > trips.size())
    return failure("operand {0} has {1} strides in {2} loops", use.role,
                   strides, trips.size());
  if (lengthOf(use.operand->coords()) > program.mesh.sizes.size())
    return failure("operand {0} has {1} factors of coordinates on a mesh of "
                   "{2} axes",
                   use.role, lengthOf(use.operand->coords()),
                   program.mesh.sizes.size());
  return Error::success();
}

Error checkAddress(CheckedProgram &program, const AddressUse &use,
                   ArrayRef<int64_t> trips, uint32_t instruction) {
  if (Error error = checkUse(program, use, trips))
    return error;
  const plan::Operand &operand = *use.operand;
  const plan::Buffer &buffer = *program.buffers[operand.buffer()];
  int64_t alignment = elementBytes(use.type);
  Span span;
  ArrayRef<int64_t> strides = listOf(operand.strides());
  for (size_t i = 0; i < strides.size(); ++i)
    span.add(strides[i], 0, trips[i] - 1, alignment);
  ArrayRef<int64_t> coords = listOf(operand.coords());
  for (size_t a = 0; a < coords.size(); ++a)
    span.add(coords[a], program.leastCoordinate[a], program.mostCoordinate[a],
             alignment);
  __int128 low = span.low + operand.offset();
  __int128 high = span.high + operand.offset() + use.bytes;
  if (low < 0 || high > buffer.bytes())
    return failure("operand {0} reaches {1} byte {2} of {3}, which has {4}",
                   use.role, low < 0 ? "below" : "to",
                   low < 0 ? 0 : uint64_t(std::min(high, __int128(UINT64_MAX))),
                   bufferText(program.buffers, operand.buffer()),
                   buffer.bytes());
  if (!span.aligned || operand.offset() % alignment != 0)
    return failure("operand {0} is not aligned to {1} bytes", use.role,
                   alignment);
  uint64_t most = uint64_t(high) - use.bytes;
  program.accesses.push_back({instruction, operand.buffer(), use.access,
                              uint64_t(low), uint64_t(high),
                              use.sure ? most + use.sure : uint64_t(low)});
  return Error::success();
}

} // namespace colrow::runtime
