// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening of data files, and the range of an input's values.

#include "colrow/runtime/Data/InputData.h"
#include "Inputs.h"
#include "colrow/runtime/Plan/DType.h"
#include "colrow/runtime/Support/Errors.h"
#include <algorithm>
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

InputData::InputData(const Programs &programs, const DataPlace &place)
    : list(programs.inputs()), place(place),
      batch(std::max<int64_t>(programs.batchRows(), 1)) {}

Expected<std::unique_ptr<InputData>> InputData::open(StringRef path,
                                                     TokenType type,
                                                     const Programs &programs,
                                                     const DataPlace &place) {
  return path.ends_with(".safetensors")
             ? openTensors(path, programs, place)
             : openTokens(path, type, programs, place);
}

/// The least and the largest value of a type; floats hold integers exactly as
/// far as float32 does.
static std::pair<int64_t, int64_t> rangeOf(plan::DType type) {
  switch (type) {
  case plan::DType::i64:
    return {INT64_MIN, INT64_MAX};
  case plan::DType::i32:
    return {INT32_MIN, INT32_MAX};
  case plan::DType::i1:
    return {0, 1};
  default:
    return {-(1 << 24), 1 << 24};
  }
}

ValueWriter::ValueWriter(const plan::Input &input)
    : input(input), type(input.dtype()), low(input.low()),
      last(input.high() - 1), padding(input.padding()) {
  if (input.low() == input.high())
    std::tie(low, last) = rangeOf(type);
}

Error ValueWriter::outside(int64_t value, const ValuePlace &place) const {
  StringRef role = textOf(input.role());
  bool isToken = (role == "ids" || role == "labels") && low == 0;
  StringRef what = role == "ids"      ? "token id"
                   : role == "labels" ? "label"
                                      : textOf(input.name());
  std::string range =
      isToken ? formatv("outside the plan's vocabulary of {0}", last + 1).str()
              : formatv("not from {0} to {1}", low, last).str();
  return failure("{0}: {1} {2} at step {3}, batch row {4}, position {5} is {6}",
                 place.file, what, value, place.step, place.row, place.position,
                 range);
}

template <typename T> static void putAs(T value, char *out, int64_t index) {
  std::memcpy(out + index * int64_t(sizeof(T)), &value, sizeof(T));
}

void ValueWriter::put(int64_t value, char *out, int64_t index) const {
  switch (type) {
  case plan::DType::i64:
    return putAs(value, out, index);
  case plan::DType::i32:
    return putAs(int32_t(value), out, index);
  case plan::DType::f32:
  case plan::DType::bf16:
    return storeFloat(float(value), out, index);
  default:
    return putAs(char(value), out, index);
  }
}

void ValueWriter::storeFloat(float value, char *out, int64_t index) const {
  if (type == plan::DType::bf16)
    return putAs(toBf16(value), out, index);
  return putAs(value, out, index);
}

Error changedMeanwhile(int64_t step, Error error) {
  return failure("{0} (the inputs of step {1}: was the file changed during the "
                 "run?)",
                 toString(std::move(error)), step);
}

} // namespace colrow::runtime
