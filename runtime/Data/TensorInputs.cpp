// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs from tensors of a Safetensors file.

#include "Inputs.h"
#include "colrow/runtime/Plan/DType.h"
#include "colrow/runtime/Support/Errors.h"
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

namespace {

/// One input and its tensor. The input is [outer, batch, lines, width], the
/// tensor [steps, outer, batch, lines, stored], or without steps [outer, rows,
/// lines, stored]; an input without batch has one of 1.
class TensorInput {
public:
  TensorInput(const SafetensorsFile &file, const plan::Input &input)
      : file(file), input(input), writer(input) {}

  Error prepare();
  bool hasBatch() const { return input.batch_dim() >= 0; }
  int64_t rowCount() const { return rows; }
  int64_t steps() const { return (rows + batch - 1) / batch; }
  Error fill(int64_t step, int64_t sample, char *out);

private:
  Error checkShape();
  Error checkType() const;
  std::string wanted() const;
  Error fillPart(int64_t row, int64_t part, ValuePlace place, char *out);

  const SafetensorsFile &file;
  const plan::Input &input;
  ValueWriter writer;
  const TensorInfo *tensor = nullptr;
  int64_t outer = 1, batch = 1, lines = 1, width = 1, stored = 1;
  int64_t rows = 1;        // of the tensor, all steps together
  bool withSteps = false;  // the tensor's first dimension
  std::vector<char> bytes; // a row's part of one `outer`
  std::vector<float> floats;
};

std::string TensorInput::wanted() const {
  ArrayRef<int64_t> shape = listOf(input.shape());
  std::string whole = textOfShape(shape).substr(1);
  return ("[steps" + std::string(shape.empty() ? "" : ", ") + whole);
}

/// Tells the form of the tensor's shape.
Error TensorInput::checkShape() {
  SmallVector<int64_t, 4> shape(listOf(input.shape()));
  SmallVector<int64_t, 4> found(tensor->shape);
  int dim = input.batch_dim();
  withSteps = found.size() == shape.size() + 1;
  int64_t steps = withSteps ? found.front() : 1;
  if (withSteps)
    found.erase(found.begin());
  bool fits = found.size() == shape.size() && steps > 0;
  if (fits && !shape.empty()) {
    bool isLabels = textOf(input.role()) == "labels";
    bool lacksLast = isLabels && dim != int(shape.size()) - 1 &&
                     found.back() == shape.back() - 1 && found.back() > 0;
    stored = found.back();
    if (lacksLast)
      ++found.back();
    if (dim >= 0 && !withSteps && found[dim] > 0) {
      rows = found[dim];
      found[dim] = shape[dim];
    }
    fits = found == shape;
  }
  if (!fits)
    return failure("{0}: {1} has shape {2}; the plan was compiled for {3}",
                   file.path(), tensor->name, textOfShape(tensor->shape),
                   wanted());
  if (dim >= 0)
    batch = shape[dim];
  if (withSteps)
    rows = steps * batch;
  for (int d = 0, n = int(shape.size()); d < n; ++d)
    if (d < dim)
      outer *= shape[d];
    else if (d > dim && d < n - 1)
      lines *= shape[d];
  bool batchIsLast = dim == int(shape.size()) - 1;
  width = shape.empty() || batchIsLast ? 1 : shape.back();
  if (batchIsLast || shape.empty())
    stored = 1;
  return Error::success();
}

Error TensorInput::checkType() const {
  bool isInteger = is_contained(
      {TensorType::i64, TensorType::i32, TensorType::boolean}, tensor->type);
  bool takesFloats = isFloat(input.dtype());
  if (isInteger || (takesFloats && isReadableAsFloat(tensor->type)))
    return Error::success();
  return failure("{0}: {1} has dtype {2}; wanted: {3}", file.path(),
                 tensor->name, nameOf(tensor->type),
                 takesFloats ? "F32, BF16, F16, I64, I32 or BOOL"
                             : "I64, I32 or BOOL");
}

Error TensorInput::prepare() {
  tensor = file.find(textOf(input.name()));
  if (!tensor)
    return failure("{0}: has no tensor {1}; wanted: its shape {2}", file.path(),
                   textOf(input.name()), wanted());
  if (Error error = checkShape())
    return error;
  if (Error error = checkType())
    return error;
  bytes.resize(lines * stored * bytesOf(tensor->type));
  floats.resize(isReadableAsFloat(tensor->type) ? lines * stored : 0);
  return Error::success();
}

template <typename T> static int64_t integerAt(const char *data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * int64_t(sizeof(T)), sizeof(T));
  return int64_t(value);
}

/// A row of one `outer`, into out[part ..].
Error TensorInput::fillPart(int64_t row, int64_t part, ValuePlace place,
                            char *out) {
  int64_t first = part * lines * stored * bytesOf(tensor->type);
  if (Error error = file.read(*tensor, first, bytes.size(), bytes.data()))
    return changedMeanwhile(place.step, std::move(error));
  if (!floats.empty())
    readFloats(tensor->type, bytes.data(), 0, 1, floats.size(), floats.data());
  auto integer = tensor->type == TensorType::i64   ? integerAt<int64_t>
                 : tensor->type == TensorType::i32 ? integerAt<int32_t>
                                                   : integerAt<uint8_t>;
  int64_t to = row * lines * width, from = 0, start = place.position;
  for (int64_t line = 0; line < lines; ++line, to += width) {
    for (int64_t i = 0; i < stored; ++i, ++from) {
      if (!floats.empty()) {
        writer.storeFloat(floats[from], out, to + i);
        continue;
      }
      place.position = start + line * width + i;
      if (Error error =
              writer.store(integer(bytes.data(), from), place, out, to + i))
        return error;
    }
    writer.pad(out, to + stored, width - stored);
  }
  return Error::success();
}

Error TensorInput::fill(int64_t step, int64_t sample, char *out) {
  for (int64_t b = 0; b < batch; ++b) {
    int64_t row = (sample % (steps() * batch) + b) % (steps() * batch);
    for (int64_t o = 0; o < outer; ++o) {
      if (row >= rows) {
        writer.pad(out, (o * batch + b) * lines * width, lines * width);
        continue;
      }
      int64_t part = withSteps ? (row / batch * outer + o) * batch + row % batch
                               : o * rows + row;
      ValuePlace place{file.path(), step, b, o * lines * width};
      if (Error error = fillPart(o * batch + b, part, place, out))
        return error;
    }
  }
  return Error::success();
}

class TensorInputs : public InputData {
public:
  TensorInputs(std::unique_ptr<SafetensorsFile> opened,
               const Programs &programs, const DataPlace &place)
      : InputData(programs, place), file(std::move(opened)) {
    for (const plan::Input *input : list)
      tensors.emplace_back(*file, *input);
  }

  Error prepare();
  int64_t steps() const override { return period; }
  Error fill(int64_t step, size_t input, char *out) override {
    TensorInput &tensor = tensors[input];
    return tensor.fill(step, tensor.hasBatch() ? sampleOf(step) : step, out);
  }

private:
  std::unique_ptr<SafetensorsFile> file;
  std::vector<TensorInput> tensors;
  int64_t period = 1;
};

Error TensorInputs::prepare() {
  const TensorInput *first = nullptr;
  StringRef firstName;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (Error error = tensors[i].prepare())
      return error;
    period = std::max(period, tensors[i].steps());
    if (!tensors[i].hasBatch())
      continue;
    StringRef name = textOf(list[i]->name());
    if (first && first->rowCount() != tensors[i].rowCount())
      return failure("{0}: {1} has {2} rows, {3} has {4}", file->path(), name,
                     tensors[i].rowCount(), firstName, first->rowCount());
    if (!first) {
      first = &tensors[i];
      firstName = name;
    }
  }
  return Error::success();
}

} // namespace

Expected<std::unique_ptr<InputData>>
openTensors(StringRef path, const Programs &programs, const DataPlace &place) {
  auto file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  auto inputs =
      std::make_unique<TensorInputs>(std::move(*file), programs, place);
  if (Error error = inputs->prepare())
    return std::move(error);
  return inputs;
}

} // namespace colrow::runtime
