// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors to Safetensors files; the outputs of a step.

#include "Write.h"
#include "colrow/runtime/Plan/DType.h"
#include "colrow/runtime/Support/Errors.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

/// How elements of a plan's type are stored.
static TensorType storedTypeOf(plan::DType type) {
  switch (type) {
  case plan::DType::f32:
    return TensorType::f32;
  case plan::DType::bf16:
    return TensorType::bf16;
  case plan::DType::f16:
    return TensorType::f16;
  case plan::DType::i32:
    return TensorType::i32;
  case plan::DType::i64:
    return TensorType::i64;
  case plan::DType::i1:
    return TensorType::boolean;
  case plan::DType::i8:
    break;
  }
  return TensorType::u8;
}

static bool allFinite(plan::DType type, ArrayRef<char> bytes) {
  // x - x is 0 or NaN, and NaN survives the sum: no branch a value.
  float sum = 0;
  if (type == plan::DType::f32)
    for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
      float value;
      std::memcpy(&value, &bytes[i], sizeof(value));
      sum += value - value;
    }
  else if (type == plan::DType::bf16)
    for (size_t i = 0; i < bytes.size(); i += sizeof(uint16_t)) {
      uint16_t bits;
      std::memcpy(&bits, &bytes[i], sizeof(bits));
      sum += fromBf16(bits) - fromBf16(bits);
    }
  return std::isfinite(sum);
}

Error writeTensors(std::unique_ptr<AtomicFile> file,
                   ArrayRef<WholeTensor> tensors, const Mesh &mesh,
                   bool finiteOnly) {
  std::string path = file->name().str();
  std::vector<SafetensorsWriter::Entry> entries;
  for (const WholeTensor &tensor : tensors)
    entries.push_back({tensor.name, storedTypeOf(tensor.type), tensor.shape});
  std::pair<StringRef, std::string> format{"format", "pt"};
  auto writer =
      SafetensorsWriter::create(std::move(file), std::move(entries), format);
  if (!writer)
    return writer.takeError();
  std::vector<char> values;
  for (const WholeTensor &tensor : tensors) {
    if (Error error = assemble(tensor, mesh, values))
      return prefixed(path, std::move(error));
    if (finiteOnly && !allFinite(tensor.type, values))
      return failure("{0}: not saved: tensor {1} holds values that are not "
                     "finite",
                     path, tensor.name);
    if (Error error = (*writer)->append(values.data(), values.size()))
      return error;
  }
  return (*writer)->commit();
}

std::vector<Programs::Leaving> tensorOutputs(const Programs &programs) {
  std::vector<Programs::Leaving> result;
  for (const Programs::Leaving &leaving : programs.outputs())
    if (!isMeasure(textOf(leaving.output->role())))
      result.push_back(leaving);
  return result;
}

static std::vector<NamedSource> sourcesOf(const plan::Plan &plan,
                                          const plan::Output &output) {
  if (output.parameter() != -1)
    return sourcesOf(plan, *plan.parameters()->Get(output.parameter()));
  ArrayRef<int64_t> shape = listOf(output.shape());
  return {{textOf(output.name()).str(),
           {shape.begin(), shape.end()},
           SourceMap(elementsOf(shape))}};
}

Error writeOutputs(Executor &executor, ArrayRef<Programs::Leaving> outputs,
                   StringRef path) {
  std::vector<WholeTensor> tensors;
  StringMap<unsigned> index;
  for (const Programs::Leaving &leaving : outputs) {
    StoredTensor stored{listOf(leaving.output->shape()), leaving.output->dims(),
                        leaving.output->dtype(),
                        [&executor, leaving](unsigned rank) {
                          return executor.output(rank, *leaving.program,
                                                 *leaving.output);
                        },
                        listOf(leaving.program->ranks())};
    if (Error error = addPieces(tensors, index, stored,
                                sourcesOf(executor.plan(), *leaving.output)))
      return prefixed(path, std::move(error));
  }
  for (const WholeTensor &tensor : tensors)
    if (Error error = checkComplete(tensor))
      return prefixed(path, std::move(error));
  auto file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  return writeTensors(std::move(*file), tensors, executor.mesh(),
                      /*finiteOnly=*/false);
}

} // namespace colrow::runtime
