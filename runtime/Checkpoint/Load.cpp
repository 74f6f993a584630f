// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of parameters: from tensors of files, or from their init rule. Each
// rank fills its own blocks on its own thread, so its memory is near it.

#include "WholeTensor.h"
#include "colrow/runtime/Errors.h"
#include "colrow/runtime/Init.h"
#include <cstring>
#include <mutex>

using namespace llvm;

namespace colrow::runtime {

static float *blockOf(Executor &executor, unsigned rank,
                      const plan::Parameter &parameter) {
  return reinterpret_cast<float *>(executor.persistent(rank) +
                                   parameter.offset());
}

void initializeParameters(Executor &executor, uint64_t seed,
                          bool onlyWithoutSources) {
  const plan::Plan &plan = executor.plan();
  if (!plan.parameters())
    return;
  executor.onRanks([&](unsigned rank) {
    for (const plan::Parameter *parameter : *plan.parameters()) {
      if (onlyWithoutSources && holdingOf(*parameter) == Holding::model)
        continue;
      float *out = blockOf(executor, rank, *parameter);
      std::memset(out, 0, parameter->bytes());
      BlockMap blocks(listOf(parameter->shape()), parameter->dims(),
                      executor.mesh(), rank);
      blocks.forEachRun([&](int64_t local, int64_t whole, int64_t count) {
        initialValues(parameter->init(), seed, parameter->id(), whole, count,
                      out + local);
      });
    }
  });
}

static Error checkTensor(const ModelFiles &files, const NamedSource &source) {
  TensorPlace place = files.find(source.tensor);
  if (!place)
    return failure("{0}: has no tensor {1}; wanted: shape {2}", files.name(),
                   source.tensor, textOfShape(source.shape));
  if (ArrayRef<int64_t>(place.info->shape) != ArrayRef<int64_t>(source.shape))
    return failure("{0}: tensor {1} has shape {2}; wanted: {3}",
                   place.file->path(), source.tensor,
                   textOfShape(place.info->shape), textOfShape(source.shape));
  if (!isReadableAsFloat(place.info->type))
    return failure("{0}: tensor {1} has dtype {2}; wanted: F32, BF16 or F16",
                   place.file->path(), source.tensor, nameOf(place.info->type));
  return Error::success();
}

namespace {
/// A tensor of a file in memory, for all ranks.
class Staged {
public:
  /// Parts of a fused tensor follow each other: it is read once for all.
  Error read(TensorPlace place) {
    if (info == place.info)
      return Error::success();
    info = nullptr;
    bytes.resize_for_overwrite(place.info->end - place.info->begin);
    if (Error error =
            place.file->read(*place.info, 0, bytes.size(), bytes.data()))
      return error;
    info = place.info;
    return Error::success();
  }
  TensorType type() const { return info->type; }
  const char *data() const { return bytes.data(); }

private:
  const TensorInfo *info = nullptr;
  SmallVector<char, 0> bytes;
};
} // namespace

/// What a rank stores of `map`, whose first element is `first` of the whole
/// parameter.
static void loadBlock(const Staged &tensor, const SourceMap &map, int64_t first,
                      const BlockMap &blocks, float *out) {
  int64_t last = first + map.elements();
  blocks.forEachRun([&](int64_t local, int64_t whole, int64_t count) {
    int64_t begin = std::max(whole, first);
    int64_t end = std::min(whole + count, last);
    if (begin >= end)
      return;
    float *to = out + local + (begin - whole);
    map.forEachPiece(
        begin - first, end - begin,
        [&](int64_t done, int64_t offset, int64_t stride, int64_t length) {
          readFloats(tensor.type(), tensor.data(), offset, stride, length,
                     to + done);
        });
  });
}

static Error loadParameter(Executor &executor, const ModelFiles &files,
                           const plan::Parameter &parameter,
                           ArrayRef<NamedSource> sources, Staged &tensor) {
  int64_t first = 0;
  for (const NamedSource &source : sources) {
    if (Error error = tensor.read(files.find(source.tensor)))
      return error;
    executor.onRanks([&](unsigned rank) {
      float *out = blockOf(executor, rank, parameter);
      if (first == 0)
        std::memset(out, 0, parameter.bytes());
      BlockMap blocks(listOf(parameter.shape()), parameter.dims(),
                      executor.mesh(), rank);
      loadBlock(tensor, source.map, first, blocks, out);
    });
    first += source.map.elements();
  }
  return Error::success();
}

Error loadParameters(Executor &executor, const ModelFiles &files,
                     Holding holding) {
  const plan::Plan &plan = executor.plan();
  if (!plan.parameters())
    return Error::success();
  std::vector<std::pair<const plan::Parameter *, std::vector<NamedSource>>> all;
  for (const plan::Parameter *parameter : *plan.parameters()) {
    if (holdingOf(*parameter) != holding)
      continue;
    all.emplace_back(parameter, sourcesOf(plan, *parameter));
    for (const NamedSource &source : all.back().second)
      if (Error error = checkTensor(files, source))
        return error;
  }
  Staged tensor;
  for (const auto &[parameter, sources] : all)
    if (Error error =
            loadParameter(executor, files, *parameter, sources, tensor))
      return error;
  return Error::success();
}

} // namespace colrow::runtime
