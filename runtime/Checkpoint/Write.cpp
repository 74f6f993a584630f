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

namespace {
/// Writes what this process' ranks hold of each tensor.
class TensorsToFile {
public:
  TensorsToFile(Executor &executor, SafetensorsWriter &writer, StringRef path)
      : executor(executor), job(executor.job()), writer(writer), path(path) {}

  Error write(ArrayRef<WholeTensor> tensors, bool finiteOnly);

private:
  Error writeOne(size_t entry, const WholeTensor &tensor);
  Error checkCounts(ArrayRef<WholeTensor> tensors) const;

  Executor &executor;
  Job &job;
  SafetensorsWriter &writer;
  StringRef path;
  Assembled part;
  std::vector<int64_t> counts; // elements written, one a tensor
};
} // namespace

Error TensorsToFile::writeOne(size_t entry, const WholeTensor &tensor) {
  if (job.processes() == 1)
    return writer.append(part.values.data(), part.values.size());
  uint64_t item = elementBytes(tensor.type);
  ArrayRef<uint8_t> held(part.held);
  for (size_t begin = 0; begin < held.size();) {
    size_t length =
        held.drop_front(begin)
            .take_while([&](uint8_t is) { return is == held[begin]; })
            .size();
    if (held[begin])
      if (Error error = writer.writeAt(
              entry, begin * item, &part.values[begin * item], length * item))
        return error;
    begin += length;
  }
  return Error::success();
}

/// All processes' parts together are the tensors.
Error TensorsToFile::checkCounts(ArrayRef<WholeTensor> tensors) const {
  constexpr size_t most = Job::maxBytes / sizeof(int64_t);
  for (size_t first = 0; first < counts.size(); first += most) {
    size_t n = std::min(most, counts.size() - first);
    auto all = job.gather(
        {reinterpret_cast<const char *>(&counts[first]), n * sizeof(int64_t)});
    if (!all)
      return all.takeError();
    for (size_t i = 0; i < n; ++i) {
      int64_t sum = 0, count;
      for (const std::string &text : *all) {
        if (text.size() != n * sizeof(int64_t))
          return failure("{0}: processes do not write the same tensors", path);
        std::memcpy(&count, &text[i * sizeof(int64_t)], sizeof(int64_t));
        sum += count;
      }
      if (sum != tensors[first + i].elements())
        return failure("{0}: cannot write tensor {1}: an element comes from no "
                       "parameter",
                       path, tensors[first + i].name);
    }
  }
  return Error::success();
}

Error TensorsToFile::write(ArrayRef<WholeTensor> tensors, bool finiteOnly) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const WholeTensor &tensor = tensors[i];
    job.progress();
    if (Error error = assemble(tensor, executor.mesh(), executor.ranks(), part))
      return prefixed(path, std::move(error));
    job.progress();
    // What other processes hold is zero here.
    if (finiteOnly && !allFinite(tensor.type, part.values))
      return failure("{0}: not saved: tensor {1} holds values that are not "
                     "finite",
                     path, tensor.name);
    if (Error error = writeOne(i, tensor))
      return error;
    counts.push_back(part.count);
  }
  return checkCounts(tensors);
}

Error writeTensors(JointFile file, ArrayRef<WholeTensor> tensors,
                   Executor &executor, bool finiteOnly) {
  std::string path = file.name().str();
  std::vector<SafetensorsWriter::Entry> entries;
  for (const WholeTensor &tensor : tensors)
    entries.push_back({tensor.name, storedTypeOf(tensor.type), tensor.shape});
  std::pair<StringRef, std::string> format{"format", "pt"};
  auto writer = SafetensorsWriter::create(executor.job(), std::move(file),
                                          std::move(entries), format);
  if (!writer)
    return writer.takeError();
  if (Error error =
          TensorsToFile(executor, **writer, path).write(tensors, finiteOnly))
    return error;
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
  Expected<JointFile> file = JointFile::create(executor.job(), path);
  if (!file)
    return file.takeError();
  return writeTensors(std::move(*file), tensors, executor,
                      /*finiteOnly=*/false);
}

} // namespace colrow::runtime
