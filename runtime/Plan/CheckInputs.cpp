// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs and outputs of a program: what the host writes before and reads after.

#include "Check.h"
#include "colrow/runtime/Plan/Programs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace colrow::runtime {

static bool isOneOf(plan::DType type, std::initializer_list<plan::DType> list) {
  return is_contained(list, type);
}

static bool fits(plan::DType type, int64_t value) {
  switch (type) {
  case plan::DType::i64:
    return true;
  case plan::DType::i1:
    return value == 0 || value == 1;
  case plan::DType::i32:
    return value == int32_t(value);
  default: // exact as float32
    return value >= -(1 << 24) && value <= 1 << 24;
  }
}

static Error checkRange(const plan::Input &input) {
  if (!isOneOf(input.dtype(),
               {plan::DType::i32, plan::DType::i64, plan::DType::f32,
                plan::DType::bf16, plan::DType::i1}))
    return failure("has a type that no input has");
  if (!fits(input.dtype(), input.padding()))
    return failure("is padded with {0}, which is no {1}", input.padding(),
                   plan::EnumNameDType(input.dtype()));
  if (input.low() == input.high())
    return Error::success();
  if (input.low() > input.high() || isFloat(input.dtype()) ||
      !fits(input.dtype(), input.low()) ||
      !fits(input.dtype(), input.high() - 1))
    return failure("holds {0} from {1} to below {2}",
                   plan::EnumNameDType(input.dtype()), input.low(),
                   input.high());
  return Error::success();
}

static Error checkInput(const CheckedProgram &program,
                        const plan::Input &input) {
  if (Error error = checkRange(input))
    return error;
  ArrayRef<int64_t> shape = listOf(input.shape());
  Expected<int64_t> local = checkLayout(shape, input.dims(), program.mesh);
  if (!local)
    return local.takeError();
  if (input.batch_dim() < -1 || input.batch_dim() >= int64_t(shape.size()))
    return failure("has batch dimension {0} of shape {1}", input.batch_dim(),
                   shapeText(shape));
  if (input.buffer() >= program.buffers.size())
    return failure("is buffer {0} of {1}", input.buffer(),
                   program.buffers.size());
  const plan::Buffer &buffer = *program.buffers[input.buffer()];
  uint64_t bytes = *local * elementBytes(input.dtype());
  if (buffer.region() != plan::Region::input ||
      buffer.dtype() != input.dtype() || buffer.bytes() != bytes)
    return failure("takes {0} bytes of {1} in region input; {2} has {3} of {4} "
                   "in region {5}",
                   bytes, plan::EnumNameDType(input.dtype()),
                   bufferText(program.buffers, input.buffer()), buffer.bytes(),
                   plan::EnumNameDType(buffer.dtype()),
                   plan::EnumNameRegion(buffer.region()));
  return Error::success();
}

Error checkInputs(const CheckedProgram &program) {
  StringSet<> names, roles;
  std::vector<bool> taken(program.buffers.size(), false);
  for (size_t i = 0, n = lengthOf(program.program.inputs()); i < n; ++i) {
    const plan::Input &input = *program.program.inputs()->Get(i);
    StringRef name = textOf(input.name()), role = textOf(input.role());
    if (name.empty() || !names.insert(name).second)
      return failure("input {0} has no name of its own: '{1}'", i, name);
    if (Error error = checkTensorName(name))
      return failure("input {0}", toString(std::move(error)));
    if ((role == "ids" || role == "labels") && !roles.insert(role).second)
      return failure("two inputs have the role {0}", role);
    if (Error error = checkInput(program, input))
      return failure("input {0}: {1}", name, toString(std::move(error)));
    if (taken[input.buffer()])
      return failure("input {0}: {1} is another's too", name,
                     bufferText(program.buffers, input.buffer()));
    taken[input.buffer()] = true;
  }
  for (uint32_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b]->region() == plan::Region::input && !taken[b])
      return failure("{0} of region input is no input's",
                     bufferText(program.buffers, b));
  return Error::success();
}

/// What a role asks of its output.
static Error checkRole(const plan::Output &output) {
  StringRef role = textOf(output.role());
  if (!isMeasure(role))
    return Error::success();
  bool counts = role == "token_count";
  bool fitting =
      output.dtype() == plan::DType::f32 ||
      (counts && isOneOf(output.dtype(), {plan::DType::i32, plan::DType::i64}));
  if (!fitting || checkedProduct(listOf(output.shape())) != 1)
    return failure("is the {0}, but of type {1} and shape {2}", role,
                   plan::EnumNameDType(output.dtype()),
                   shapeText(listOf(output.shape())));
  return Error::success();
}

static Error checkOutput(CheckedProgram &program, const plan::Output &output) {
  if (!isOneOf(output.dtype(),
               {plan::DType::f32, plan::DType::bf16, plan::DType::i32,
                plan::DType::i64, plan::DType::i1}))
    return failure("has a type that no output has");
  ArrayRef<int64_t> shape = listOf(output.shape());
  Expected<int64_t> local = checkLayout(shape, output.dims(), program.mesh);
  if (!local)
    return local.takeError();
  if (Error error = checkRole(output))
    return error;
  int32_t index = output.parameter();
  if (index != -1) {
    if (index < 0 || uint32_t(index) >= lengthOf(program.plan.parameters()))
      return failure("belongs to parameter {0}, which is none", index);
    if (listOf(program.plan.parameters()->Get(index)->shape()) != shape)
      return failure("has another shape than its parameter");
  }
  uint64_t bytes = *local * elementBytes(output.dtype());
  AddressUse use{"src", output.src(), output.dtype(),
                 bytes, bytes,        plan::Access::read};
  return checkAddress(program, use, /*trips=*/{}, program.instructionCount());
}

Error checkOutputs(CheckedProgram &program) {
  StringSet<> names, roles;
  for (size_t i = 0, n = lengthOf(program.program.outputs()); i < n; ++i) {
    const plan::Output &output = *program.program.outputs()->Get(i);
    StringRef name = textOf(output.name()), role = textOf(output.role());
    if (name.empty() || !names.insert(name).second)
      return failure("output {0} has no name of its own: '{1}'", i, name);
    if (Error error = checkTensorName(name))
      return failure("output {0}", toString(std::move(error)));
    if (isMeasure(role) && !roles.insert(role).second)
      return failure("two outputs have the role {0}", role);
    if (Error error = checkOutput(program, output))
      return failure("output {0}: {1}", name, toString(std::move(error)));
  }
  return Error::success();
}

} // namespace colrow::runtime
