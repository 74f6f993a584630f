// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dealing a whole tensor out to ranks.

#include "InputBlock.h"
#include "colrow/runtime/Plan/BlockMap.h"
#include "colrow/runtime/Plan/DType.h"
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

InputBlock::InputBlock(const plan::Input &input, const Mesh &mesh,
                       unsigned rank, char *block)
    : block(block) {
  BlockMap map(listOf(input.shape()), input.dims(), mesh, rank);
  int64_t item = elementBytes(input.dtype()), filled = 0;
  map.forEachRun([&](int64_t local, int64_t whole, int64_t count) {
    runs.push_back({local * item, whole * item, count * item});
    filled += count;
  });
  if (filled == map.localElements())
    return;
  padded.resize(map.localElements() * item);
  fillElements(input.dtype(), input.padding(), padded);
}

void InputBlock::set(Device &device, const char *whole) {
  if (!padded.empty())
    device.write(block, padded.data(), padded.size());
  for (const Run &run : runs)
    device.write(block + run.local, whole + run.whole, run.bytes);
}

template <typename T> static void fillWith(T value, MutableArrayRef<char> out) {
  for (size_t i = 0; i + sizeof(T) <= out.size(); i += sizeof(T))
    std::memcpy(out.data() + i, &value, sizeof(T));
}

void fillElements(plan::DType type, int64_t value, MutableArrayRef<char> out) {
  switch (type) {
  case plan::DType::f32:
    return fillWith(float(value), out);
  case plan::DType::bf16:
    return fillWith(toBf16(float(value)), out);
  case plan::DType::i32:
    return fillWith(int32_t(value), out);
  case plan::DType::i64:
    return fillWith(value, out);
  default:
    return fillWith(char(value), out);
  }
}

} // namespace colrow::runtime
