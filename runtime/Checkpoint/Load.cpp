// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of parameters from tensors of files. Each rank fills its own blocks on
// its own thread, so its memory is near it.

#include "ParameterBlock.h"
#include "WholeTensor.h"
#include "colrow/runtime/Checkpoint/ModelConfig.h"
#include "colrow/runtime/Plan/DType.h"
#include "colrow/runtime/Support/Bf16.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

/// Bytes between two signs of progress.
static constexpr uint64_t readBytes = 64 << 20;

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
  explicit Staged(Job &job) : job(job) {}

  /// Parts of a fused tensor follow each other: it is read once for all.
  Error read(TensorPlace place) {
    if (info == place.info)
      return Error::success();
    info = nullptr;
    bytes.resize_for_overwrite(place.info->end - place.info->begin);
    for (uint64_t at = 0; at < bytes.size(); at += readBytes) {
      uint64_t part = std::min<uint64_t>(readBytes, bytes.size() - at);
      if (Error error =
              place.file->read(*place.info, at, part, bytes.data() + at))
        return error;
      job.progress();
    }
    info = place.info;
    return Error::success();
  }
  TensorType type() const { return info->type; }
  const char *data() const { return bytes.data(); }

private:
  Job &job;
  const TensorInfo *info = nullptr;
  SmallVector<char, 0> bytes;
};
} // namespace

/// What a rank stores of `map`, whose first element is `first` of the whole
/// parameter.
static void loadBlock(const Staged &tensor, const SourceMap &map, int64_t first,
                      ParameterBlock &block) {
  int64_t last = first + map.elements();
  block.blocks().forEachRun([&](int64_t local, int64_t whole, int64_t count) {
    int64_t begin = std::max(whole, first);
    int64_t end = std::min(whole + count, last);
    if (begin >= end)
      return;
    int64_t to = local + (begin - whole);
    map.forEachPiece(
        begin - first, end - begin,
        [&](int64_t at, int64_t offset, int64_t stride, int64_t length) {
          block.set(to + at, length, [&](int64_t done, int64_t n, float *out) {
            readFloats(tensor.type(), tensor.data(), offset + done * stride,
                       stride, n, out);
          });
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
      ParameterBlock block(executor, rank, parameter);
      if (first == 0)
        block.clear();
      loadBlock(tensor, source.map, first, block);
    });
    first += source.map.elements();
  }
  return Error::success();
}

namespace {
/// A parameter and what is read into it.
struct Wanted {
  const plan::Parameter *parameter;
  std::vector<NamedSource> sources;
};
} // namespace

/// Nothing can stand for a parameter's symbol and for another's tensor.
static Error checkNames(ArrayRef<Wanted> all) {
  StringMap<const plan::Parameter *> owners;
  for (bool bySymbol : {false, true})
    for (const Wanted &wanted : all) {
      if (wanted.parameter->master() ||
          hasSources(*wanted.parameter) == bySymbol)
        continue;
      for (const NamedSource &source : wanted.sources) {
        auto [entry, isNew] =
            owners.try_emplace(source.tensor, wanted.parameter);
        if (!isNew && bySymbol)
          return failure("tensor {0} stands for parameter {1} and, by its "
                         "name, for another: rename the symbol",
                         source.tensor, textOf(entry->second->name()));
      }
    }
  return Error::success();
}

/// The parameters to read; those of a model folder that it need not have, and
/// has not, are left in `missing`.
static Expected<std::vector<Wanted>>
findWanted(const plan::Plan &plan, const ModelFiles &files, Holding holding,
           FileOrigin origin, std::vector<std::string> &missing) {
  std::vector<Wanted> all;
  Masters masters = mastersOf(plan);
  for (const plan::Parameter *parameter : *plan.parameters()) {
    if (holdingOf(*parameter) != holding || parameter->master())
      continue;
    std::vector<NamedSource> sources = sourcesOf(plan, *parameter);
    if (origin == FileOrigin::model && !hasSources(*parameter) &&
        !files.find(sources[0].tensor)) {
      missing.push_back(sources[0].tensor);
      continue;
    }
    for (const NamedSource &source : sources)
      if (Error error = checkTensor(files, source))
        return std::move(error);
    // One behind the other, so that what is read serves both.
    if (const plan::Parameter *master = masters.lookup(parameter))
      all.push_back({master, sources});
    all.push_back({parameter, std::move(sources)});
  }
  if (all.empty() && !missing.empty())
    return failure("{0}: holds none of the plan's parameters; wanted: {1}",
                   files.name(), firstOf(missing));
  if (holding == Holding::model)
    if (Error error = checkNames(all))
      return prefixed(files.name(), std::move(error));
  return all;
}

static std::vector<std::string> unusedTensors(ArrayRef<Wanted> all,
                                              const ModelFiles &files) {
  StringSet<> used;
  for (const Wanted &wanted : all)
    for (const NamedSource &source : wanted.sources)
      used.insert(source.tensor);
  std::vector<std::string> result;
  for (const TensorPlace &place : files.tensors())
    if (!used.contains(place.info->name) && !isKnownBuffer(place.info->name))
      result.push_back(place.info->name);
  return result;
}

/// AdamW divides by the root of this state.
static bool isSquare(const plan::Parameter &parameter) {
  return textOf(parameter.state_name()) == "exp_avg_sq";
}

/// Why a checkpoint's values cannot be taken, behind "holds"; empty: they can.
static std::string faultOf(const plan::Plan &plan,
                           const plan::Parameter &parameter,
                           const ParameterBlock &block) {
  bool squares = isSquare(parameter);
  for (int64_t i = 0, n = block.blocks().localElements(); i < n; ++i) {
    float value = block.get(i);
    if (!std::isfinite(value))
      return "values that are not finite: it is not as it was saved";
    if (squares && value < 0)
      return "mean squares below 0: it is not as it was saved";
    if (parameter.master() && !std::isfinite(fromBf16(toBf16(value))))
      return formatv("{0}, beyond the range of bf16, in which this plan keeps "
                     "parameter {1}: a plan of --dtype f32 takes it",
                     textOfNumber(value),
                     textOf(valueOf(plan, parameter).name()));
  }
  return "";
}

static Error checkValues(Executor &executor, const Wanted &wanted) {
  RankRange ranks = executor.ranks();
  std::vector<std::string> faults(ranks.count);
  const plan::Parameter &parameter = *wanted.parameter;
  executor.onRanks([&](unsigned rank) {
    faults[rank - ranks.first] = faultOf(
        executor.plan(), parameter, ParameterBlock(executor, rank, parameter));
  });
  for (const std::string &fault : faults)
    if (!fault.empty())
      return failure("tensor {0} holds {1}", wanted.sources[0].tensor, fault);
  return Error::success();
}

static Error readWanted(Executor &executor, ArrayRef<Wanted> all,
                        const ModelFiles &files, FileOrigin origin) {
  Staged tensor(executor.job());
  for (const Wanted &wanted : all) {
    executor.job().progress();
    if (Error error = loadParameter(executor, files, *wanted.parameter,
                                    wanted.sources, tensor))
      return error;
    if (origin == FileOrigin::checkpoint)
      if (Error error = checkValues(executor, wanted))
        return prefixed(files.name(), std::move(error));
  }
  return Error::success();
}

Expected<LoadResult> loadParameters(Executor &executor, const ModelFiles &files,
                                    Holding holding, FileOrigin origin) {
  LoadResult result;
  const plan::Plan &plan = executor.plan();
  if (!plan.parameters())
    return result;
  Expected<std::vector<Wanted>> all =
      findWanted(plan, files, holding, origin, result.missing);
  if (!all)
    return all.takeError();
  result.unused = unusedTensors(*all, files);
  if (origin == FileOrigin::checkpoint && !result.unused.empty())
    return failure("{0}: holds tensors that this plan has no parameter for: "
                   "{1}",
                   files.name(), firstOf(result.unused));
  if (Error error = readWanted(executor, *all, files, origin))
    return std::move(error);
  return result;
}

} // namespace colrow::runtime
