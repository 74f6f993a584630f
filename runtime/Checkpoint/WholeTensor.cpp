// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From blocks on ranks to tensors of a file.

#include "WholeTensor.h"
#include "colrow/runtime/Plan/DType.h"
#include "colrow/runtime/Support/Errors.h"

using namespace llvm;

namespace colrow::runtime {

int64_t WholeTensor::elements() const {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= extent;
  return product;
}

bool hasSources(const plan::Parameter &parameter) {
  return parameter.sources() && parameter.sources()->size() > 0;
}

const plan::Parameter &valueOf(const plan::Plan &plan,
                               const plan::Parameter &parameter) {
  return parameter.master() ? *plan.parameters()->Get(parameter.state_of())
                            : parameter;
}

Masters mastersOf(const plan::Plan &plan) {
  Masters masters;
  if (plan.parameters())
    for (const plan::Parameter *parameter : *plan.parameters())
      if (parameter->master())
        masters[&valueOf(plan, *parameter)] = parameter;
  return masters;
}

Holding holdingOf(const plan::Parameter &parameter) {
  return parameter.state_of() == -1 || parameter.master() ? Holding::model
                                                          : Holding::optimizer;
}

std::vector<NamedSource> sourcesOf(const plan::Plan &plan,
                                   const plan::Parameter &parameter) {
  const plan::Parameter *owner = &parameter;
  std::string prefix;
  if (parameter.state_of() != -1) {
    owner = plan.parameters()->Get(parameter.state_of());
    if (!parameter.master())
      prefix = textOf(parameter.state_name()).str() + ".";
  }
  std::vector<NamedSource> result;
  if (!hasSources(*owner)) {
    int64_t elements = 1;
    for (int64_t extent : listOf(owner->shape()))
      elements *= extent;
    ArrayRef<int64_t> shape = listOf(owner->shape());
    result.push_back({prefix + textOf(owner->name()).str(),
                      {shape.begin(), shape.end()},
                      SourceMap(elements)});
    return result;
  }
  for (const plan::Source *source : *owner->sources()) {
    ArrayRef<int64_t> shape = listOf(source->file_shape());
    result.push_back({prefix + textOf(source->name()).str(),
                      {shape.begin(), shape.end()},
                      SourceMap(*source)});
  }
  return result;
}

Error addPieces(std::vector<WholeTensor> &tensors, StringMap<unsigned> &index,
                const StoredTensor &stored, ArrayRef<NamedSource> sources) {
  int64_t first = 0;
  for (const NamedSource &source : sources) {
    auto [entry, isNew] = index.try_emplace(source.tensor, tensors.size());
    if (isNew)
      tensors.push_back({source.tensor, source.shape, stored.type, {}});
    WholeTensor &tensor = tensors[entry->second];
    if (tensor.shape != source.shape)
      return failure("tensor {0} has shape {1} for one parameter, {2} for "
                     "another",
                     source.tensor, textOfShape(tensor.shape),
                     textOfShape(source.shape));
    if (tensor.type != stored.type)
      return failure("tensor {0} is {1} for one parameter, {2} for another",
                     source.tensor, plan::EnumNameDType(tensor.type),
                     plan::EnumNameDType(stored.type));
    tensor.pieces.push_back({stored, source.map, first});
    first += source.map.elements();
  }
  return Error::success();
}

Error checkComplete(const WholeTensor &tensor) {
  int64_t sum = 0;
  for (const Piece &piece : tensor.pieces)
    sum += piece.map.elements();
  if (sum != tensor.elements())
    return failure("cannot write tensor {0}: parameters hold {1} of its {2} "
                   "elements",
                   tensor.name, sum, tensor.elements());
  return Error::success();
}

/// Copies what a rank holds of a piece. False: an element was there already.
template <typename T>
static bool placeBlock(const Piece &piece, const BlockMap &blocks,
                       const char *block, Assembled &to) {
  bool fresh = true;
  auto *data = reinterpret_cast<const T *>(block);
  auto *out = reinterpret_cast<T *>(to.values.data());
  int64_t last = piece.first + piece.map.elements();
  blocks.forEachRun([&](int64_t local, int64_t whole, int64_t count) {
    int64_t begin = std::max(whole, piece.first);
    int64_t end = std::min(whole + count, last);
    if (begin >= end)
      return;
    to.count += end - begin;
    const T *from = data + local + (begin - whole);
    piece.map.forEachPiece(
        begin - piece.first, end - begin,
        [&](int64_t done, int64_t offset, int64_t stride, int64_t length) {
          for (int64_t i = 0; i < length; ++i) {
            int64_t place = offset + i * stride;
            fresh &= !to.held[place];
            to.held[place] = 1;
            out[place] = from[done + i];
          }
        });
  });
  return fresh;
}

Error assemble(const WholeTensor &tensor, const Mesh &mesh, RankRange mine,
               Assembled &out) {
  int64_t item = elementBytes(tensor.type);
  out.values.assign(tensor.elements() * item, 0);
  out.held.assign(tensor.elements(), 0);
  out.count = 0;
  auto place = item == 8   ? placeBlock<uint64_t>
               : item == 4 ? placeBlock<uint32_t>
               : item == 2 ? placeBlock<uint16_t>
                           : placeBlock<uint8_t>;
  bool fresh = true;
  for (const Piece &piece : tensor.pieces) {
    ArrayRef<uint32_t> ranks = piece.stored.ranks;
    unsigned first = ranks.empty() ? 0 : ranks.front();
    for (unsigned i = 0, n = ranks.empty() ? mesh.ranks() : ranks.size(); i < n;
         ++i) {
      unsigned rank = ranks.empty() ? i : ranks[i];
      if (!mine.contains(rank))
        continue;
      BlockMap blocks(piece.stored.shape, piece.stored.dims, mesh, rank, first);
      if (blocks.isFirstCopy())
        fresh &= place(piece, blocks, piece.stored.data(rank), out);
    }
  }
  if (!fresh)
    return failure("cannot write tensor {0}: an element comes from two "
                   "parameters",
                   tensor.name);
  return Error::success();
}

Expected<std::vector<WholeTensor>> tensorsOf(Executor &executor,
                                             Holding holding) {
  std::vector<WholeTensor> tensors;
  StringMap<unsigned> index;
  const plan::Plan &plan = executor.plan();
  if (!plan.parameters())
    return tensors;
  Masters masters = mastersOf(plan);
  for (const plan::Parameter *parameter : *plan.parameters()) {
    if (holdingOf(*parameter) != holding || masters.contains(parameter))
      continue;
    StoredTensor stored{listOf(parameter->shape()), parameter->dims(),
                        parameter->dtype(),
                        [&executor, parameter](unsigned rank) {
                          return executor.parameter(rank, *parameter);
                        }};
    if (Error error =
            addPieces(tensors, index, stored, sourcesOf(plan, *parameter)))
      return std::move(error);
  }
  for (const WholeTensor &tensor : tensors)
    if (Error error = checkComplete(tensor))
      return std::move(error);
  return tensors;
}

} // namespace colrow::runtime
