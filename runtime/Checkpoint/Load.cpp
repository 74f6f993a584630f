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
  // Maps the file before the ranks read it.
  return place.file->data(*place.info).takeError();
}

static void loadBlock(const ModelFiles &files, ArrayRef<NamedSource> sources,
                      const BlockMap &blocks, float *out) {
  int64_t first = 0;
  for (const NamedSource &source : sources) {
    int64_t last = first + source.map.elements();
    TensorPlace place = files.find(source.tensor);
    const char *data = cantFail(place.file->data(*place.info));
    blocks.forEachRun([&](int64_t local, int64_t whole, int64_t count) {
      int64_t begin = std::max(whole, first);
      int64_t end = std::min(whole + count, last);
      if (begin >= end)
        return;
      float *to = out + local + (begin - whole);
      source.map.forEachPiece(
          begin - first, end - begin,
          [&](int64_t done, int64_t offset, int64_t stride, int64_t length) {
            readFloats(place.info->type, data, offset, stride, length,
                       to + done);
          });
    });
    first = last;
  }
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
  executor.onRanks([&](unsigned rank) {
    for (const auto &[parameter, sources] : all) {
      float *out = blockOf(executor, rank, *parameter);
      std::memset(out, 0, parameter->bytes());
      BlockMap blocks(listOf(parameter->shape()), parameter->dims(),
                      executor.mesh(), rank);
      loadBlock(files, sources, blocks, out);
    }
  });
  files.release();
  return Error::success();
}

} // namespace colrow::runtime
