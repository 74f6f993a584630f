// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors to Safetensors files; the outputs of a step.

#include "Write.h"
#include "colrow/runtime/Errors.h"
#include <cmath>

using namespace llvm;

namespace colrow::runtime {

static bool allFinite(ArrayRef<float> values) {
  // x - x is 0 or NaN, and NaN survives the sum: no branch a value.
  float sum = 0;
  for (float value : values)
    sum += value - value;
  return std::isfinite(sum);
}

Error writeTensors(std::unique_ptr<AtomicFile> file,
                   ArrayRef<WholeTensor> tensors, const Mesh &mesh,
                   bool finiteOnly) {
  std::string path = file->name().str();
  std::vector<SafetensorsWriter::Entry> entries;
  for (const WholeTensor &tensor : tensors)
    entries.push_back({tensor.name, TensorType::f32, tensor.shape});
  std::pair<StringRef, std::string> format{"format", "pt"};
  auto writer =
      SafetensorsWriter::create(std::move(file), std::move(entries), format);
  if (!writer)
    return writer.takeError();
  std::vector<float> values;
  for (const WholeTensor &tensor : tensors) {
    if (Error error = assemble(tensor, mesh, values))
      return prefixed(path, std::move(error));
    if (finiteOnly && !allFinite(values))
      return failure("{0}: not saved: tensor {1} holds values that are not "
                     "finite",
                     path, tensor.name);
    if (Error error = (*writer)->append(values.data(), values.size() * 4))
      return error;
  }
  return (*writer)->commit();
}

Error dumpOutputs(Executor &executor, StringRef path) {
  const plan::Plan &plan = executor.plan();
  if (!plan.outputs() || plan.outputs()->size() == 0)
    return failure("{0}: the plan has no outputs: compile it with --outputs "
                   "gradients,logits",
                   path);
  std::vector<WholeTensor> tensors;
  StringMap<unsigned> index;
  for (const plan::Output *output : *plan.outputs()) {
    StoredTensor stored{listOf(output->shape()), output->dims(),
                        [&executor, output](unsigned rank) {
                          return reinterpret_cast<float *>(
                              executor.address(rank, *output->src()));
                        }};
    std::vector<NamedSource> sources;
    if (output->parameter() != -1) {
      sources = sourcesOf(plan, *plan.parameters()->Get(output->parameter()));
    } else {
      WholeTensor whole{textOf(output->name()).str(), {}, {}};
      whole.shape.assign(stored.shape.begin(), stored.shape.end());
      sources.push_back({whole.name, whole.shape, SourceMap(whole.elements())});
    }
    if (Error error = addPieces(tensors, index, stored, sources))
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
