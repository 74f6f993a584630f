// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of parameters: layouts, places, checkpoint maps.

#include "Check.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include <cfloat>
#include <cmath>
#include <set>
#include <vector>

using namespace llvm;

namespace colrow::runtime {

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

/// The padded elements of a factor on one rank.
static Expected<int64_t> checkFactor(const plan::Factor &factor,
                                     const Mesh &mesh, unsigned &usedAxes) {
  int64_t ranks = 1;
  for (uint8_t axis : listOf(factor.axes())) {
    if (axis >= mesh.sizes.size() || (usedAxes & (1u << axis)))
      return failure("layout names mesh axis {0} {1}", unsigned(axis),
                     axis < mesh.sizes.size() ? "twice" : "of a smaller mesh");
    usedAxes |= 1u << axis;
    ranks *= mesh.sizes[axis];
  }
  if (factor.size() <= 0 || factor.padded() < factor.size() ||
      factor.padded() % ranks != 0)
    return failure("layout pads a factor of {0} to {1} for {2} ranks",
                   factor.size(), factor.padded(), ranks);
  return factor.padded() / ranks;
}

Expected<int64_t>
checkLayout(ArrayRef<int64_t> shape,
            const flatbuffers::Vector<flatbuffers::Offset<plan::Dim>> *dims,
            const Mesh &mesh) {
  int64_t whole = checkedProduct(shape);
  if (whole == 0)
    return failure("shape {0} is not one of a tensor", shapeText(shape));
  if (!dims || dims->size() == 0) {
    if (dims && !shape.empty())
      return failure("layout has 0 dimensions, shape {0}", shapeText(shape));
    return whole;
  }
  if (dims->size() != shape.size())
    return failure("layout has {0} dimensions, shape {1}", dims->size(),
                   shapeText(shape));
  SmallVector<int64_t, 8> locals;
  unsigned usedAxes = 0;
  for (unsigned d = 0; d < dims->size(); ++d) {
    const plan::Dim *dim = dims->Get(d);
    SmallVector<int64_t, 4> sizes;
    if (!dim->factors() || dim->factors()->size() == 0)
      return failure("layout of dimension {0} has no factors", d);
    for (const plan::Factor *factor : *dim->factors()) {
      Expected<int64_t> local = checkFactor(*factor, mesh, usedAxes);
      if (!local)
        return local.takeError();
      locals.push_back(*local);
      sizes.push_back(factor->size());
    }
    if (checkedProduct(sizes) != shape[d])
      return failure("factors of dimension {0} do not make its size {1}", d,
                     shape[d]);
  }
  int64_t local = checkedProduct(locals);
  if (local == 0 || local > int64_t(maxRegionBytes) / 8)
    return failure("layout of shape {0} is too large", shapeText(shape));
  return local;
}

Error checkTensorName(StringRef name) {
  if (name != "__metadata__" && json::isUTF8(name))
    return Error::success();
  return failure("'{0}' cannot be the name of a tensor in a Safetensors file",
                 json::fixUTF8(name));
}

/// Elements that a source contributes.
static Expected<int64_t> checkSource(const plan::Source &source) {
  if (textOf(source.name()).empty())
    return failure("a source has no name");
  if (Error error = checkTensorName(textOf(source.name())))
    return std::move(error);
  ArrayRef<int64_t> file = listOf(source.file_shape());
  ArrayRef<int64_t> shape = listOf(source.reshape());
  if (shape.empty())
    shape = file;
  int64_t total = checkedProduct(file);
  if (total == 0 || checkedProduct(shape) != total)
    return failure("source {0} reshapes {1} to {2}", textOf(source.name()),
                   shapeText(file), shapeText(shape));
  ArrayRef<int64_t> start = listOf(source.start()),
                    step = listOf(source.step());
  ArrayRef<int64_t> size = listOf(source.size());
  ArrayRef<uint8_t> perm = listOf(source.perm());
  for (size_t length : {start.size(), step.size(), size.size(), perm.size()})
    if (length != 0 && length != shape.size())
      return failure("source {0} has a slice or permutation of {1} dimensions "
                     "for {2}",
                     textOf(source.name()), length, shapeText(shape));
  uint64_t seen = 0;
  for (uint8_t from : perm) {
    if (from >= shape.size() || from >= 64 || (seen >> from & 1))
      return failure("source {0} is not permuted by a permutation",
                     textOf(source.name()));
    seen |= uint64_t(1) << from;
  }
  int64_t count = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t first = start.empty() ? 0 : start[d];
    int64_t by = step.empty() ? 1 : step[d];
    int64_t n = size.empty() ? shape[d] : size[d];
    if (first < 0 || first >= shape[d] || by <= 0 || n <= 0 || n > shape[d] ||
        by > shape[d] || first + (n - 1) * by >= shape[d])
      return failure("source {0} takes elements outside dimension {1} of {2}",
                     textOf(source.name()), d, shapeText(shape));
    count *= n;
  }
  return count;
}

static Error checkSources(const plan::Parameter &parameter, int64_t elements) {
  if (!parameter.sources() || parameter.sources()->size() == 0)
    return Error::success();
  int64_t sum = 0;
  for (const plan::Source *source : *parameter.sources()) {
    Expected<int64_t> count = checkSource(*source);
    if (!count)
      return count.takeError();
    sum += *count;
    if (sum > elements)
      break;
  }
  if (sum != elements)
    return failure("sources give {0} elements for shape {1}", sum,
                   shapeText(listOf(parameter.shape())));
  return Error::success();
}

static Error checkState(const plan::Plan &plan,
                        const plan::Parameter &parameter) {
  int32_t owner = parameter.state_of();
  if (owner == -1)
    return parameter.master() ? failure("is a master, but state of nothing")
                              : Error::success();
  if (owner < 0 || uint32_t(owner) >= plan.parameters()->size())
    return failure("is state of parameter {0} of {1}", owner,
                   plan.parameters()->size());
  const plan::Parameter *of = plan.parameters()->Get(owner);
  StringRef state = textOf(parameter.state_name());
  if (state.empty() || state.contains('/'))
    return failure("is state without a usable name");
  if (of->state_of() != -1)
    return failure("is state of {0}, which is state itself",
                   textOf(of->name()));
  if (listOf(of->shape()) != listOf(parameter.shape()))
    return failure("is state of {0} but has another shape", textOf(of->name()));
  if (parameter.sources() && parameter.sources()->size())
    return failure("is state, so it cannot have sources");
  if (parameter.master() && (parameter.dtype() != plan::DType::f32 ||
                             of->dtype() != plan::DType::bf16))
    return failure("is master of {0}, {1} of {2}; wanted f32 of bf16",
                   textOf(of->name()), plan::EnumNameDType(parameter.dtype()),
                   plan::EnumNameDType(of->dtype()));
  return Error::success();
}

static Error checkParameter(const plan::Plan &plan, const Mesh &mesh,
                            const plan::Parameter &parameter) {
  Expected<int64_t> local =
      checkLayout(listOf(parameter.shape()), parameter.dims(), mesh);
  if (!local)
    return local.takeError();
  if (parameter.dtype() != plan::DType::f32 &&
      parameter.dtype() != plan::DType::bf16)
    return failure("is of a type other than f32 and bf16");
  if (parameter.buffer() >= lengthOf(plan.buffers()))
    return failure("is buffer {0} of {1}", parameter.buffer(),
                   lengthOf(plan.buffers()));
  const plan::Buffer &buffer = *plan.buffers()->Get(parameter.buffer());
  uint64_t bytes = *local * elementBytes(parameter.dtype());
  if (buffer.region() != plan::Region::persistent ||
      buffer.dtype() != parameter.dtype() || buffer.bytes() != bytes)
    return failure("takes {0} bytes of {1} in region persistent; buffer {2} "
                   "has {3} of {4} in region {5}",
                   bytes, plan::EnumNameDType(parameter.dtype()),
                   parameter.buffer(), buffer.bytes(),
                   plan::EnumNameDType(buffer.dtype()),
                   plan::EnumNameRegion(buffer.region()));
  if (Error error = checkState(plan, parameter))
    return error;
  if (const plan::Init *init = parameter.init()) {
    if (init->kind() > plan::InitKind::MAX)
      return failure("has an unknown kind of initial values");
    if (!(std::fabs(init->mean()) <= FLT_MAX && init->std() >= 0 &&
          init->std() <= FLT_MAX))
      return failure("has initial values of mean {0} and deviation {1}",
                     numberText(init->mean()), numberText(init->std()));
  }
  return checkSources(parameter, checkedProduct(listOf(parameter.shape())));
}

Error checkParameters(const plan::Plan &plan, const Mesh &mesh) {
  if (!plan.parameters())
    return Error::success();
  StringSet<> names;
  std::set<std::pair<int32_t, StringRef>> states;
  std::set<int32_t> masters; // by owner
  std::vector<bool> taken(lengthOf(plan.buffers()), false);
  for (const plan::Parameter *parameter : *plan.parameters()) {
    StringRef name = textOf(parameter->name());
    if (name.empty() || !names.insert(name).second)
      return failure("parameter '{0}': {1}", name,
                     name.empty() ? "has no name" : "is named twice");
    if (Error error = checkTensorName(name))
      return failure("parameter {0}", toString(std::move(error)));
    if (Error error = checkParameter(plan, mesh, *parameter))
      return failure("parameter {0}: {1}", name, toString(std::move(error)));
    StringRef state = textOf(parameter->state_name());
    if (parameter->state_of() != -1 &&
        !states.insert({parameter->state_of(), state}).second)
      return failure("parameter {0}: is the second state {1} of its parameter",
                     name, state);
    if (parameter->master() && !masters.insert(parameter->state_of()).second)
      return failure("parameter {0}: is the second master of its parameter",
                     name);
    if (taken[parameter->buffer()])
      return failure("parameter {0}: buffer {1} is another's too", name,
                     parameter->buffer());
    taken[parameter->buffer()] = true;
  }
  return Error::success();
}

} // namespace colrow::runtime
