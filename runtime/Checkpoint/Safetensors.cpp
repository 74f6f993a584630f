// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of a Safetensors file, and reading of its data. Nothing is mapped:
// a file that others cut while it is in use must be an error, not a signal.

#include "colrow/runtime/Checkpoint/Safetensors.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "colrow/runtime/Support/ReadAt.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

/// The largest header that the format's own library accepts.
static constexpr uint64_t maxHeaderBytes = 100000000;

namespace {
struct TypeName {
  StringLiteral name;
  TensorType type;
  unsigned bytes;
};
} // namespace

static constexpr TypeName typeNames[] = {
    {"F64", TensorType::f64, 8},      {"F32", TensorType::f32, 4},
    {"F16", TensorType::f16, 2},      {"BF16", TensorType::bf16, 2},
    {"I64", TensorType::i64, 8},      {"I32", TensorType::i32, 4},
    {"I16", TensorType::i16, 2},      {"I8", TensorType::i8, 1},
    {"U64", TensorType::u64, 8},      {"U32", TensorType::u32, 4},
    {"U16", TensorType::u16, 2},      {"U8", TensorType::u8, 1},
    {"BOOL", TensorType::boolean, 1}, {"F8_E4M3", TensorType::f8, 1},
    {"F8_E5M2", TensorType::f8, 1}};

static const TypeName &entryOf(TensorType type) {
  for (const TypeName &entry : typeNames)
    if (entry.type == type)
      return entry;
  return typeNames[0];
}

unsigned bytesOf(TensorType type) { return entryOf(type).bytes; }
StringRef nameOf(TensorType type) { return entryOf(type).name; }

std::string textOfShape(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

SafetensorsFile::SafetensorsFile(std::string path, int fd, uint64_t size)
    : file(std::move(path)), fd(fd), size(size) {}

SafetensorsFile::~SafetensorsFile() { ::close(fd); }

Expected<std::unique_ptr<SafetensorsFile>>
SafetensorsFile::open(StringRef path) {
  uint64_t size = 0;
  Expected<int> fd = openRegularFile(path, size);
  if (!fd)
    return fd.takeError();
  std::unique_ptr<SafetensorsFile> result(
      new SafetensorsFile(path.str(), *fd, size));
  if (Error error = result->readHeader())
    return prefixed(path, std::move(error));
  return result;
}

Error SafetensorsFile::readHeader() {
  char prefix[8];
  if (size < 8)
    return failure("not a safetensors file: {0} bytes", size);
  if (Error error = readAt(fd, prefix, 8, 0))
    return error;
  uint64_t length = support::endian::read64le(prefix);
  if (length < 2 || length > maxHeaderBytes || length > size - 8)
    return failure("not a safetensors file, or truncated: header of {0} bytes "
                   "in a file of {1}",
                   length, size);
  std::string text(length, '\0');
  if (Error error = readAt(fd, text.data(), length, 8))
    return error;
  Expected<json::Value> value = parseJson("header", text, /*maxDepth=*/8);
  if (!value)
    return value.takeError();
  const json::Object *header = value->getAsObject();
  if (!header)
    return failure("header is not a JSON object");
  for (const auto &[key, entry] : *header) {
    if (key == "__metadata__") {
      const json::Object *object = entry.getAsObject();
      if (!object)
        return failure("__metadata__ is not an object");
      for (const auto &[note, noted] : *object)
        if (auto string = noted.getAsString())
          notes[note] = string->str();
      continue;
    }
    if (Error error = addTensor(key, entry.getAsObject(), 8 + length))
      return failure("tensor '{0}': {1}", StringRef(key),
                     toString(std::move(error)));
  }
  return checkCoverage(8 + length);
}

/// A JSON array of integers that are not negative.
static bool readIntegers(const json::Array *array,
                         SmallVectorImpl<int64_t> &out) {
  if (!array)
    return false;
  for (const json::Value &value : *array) {
    std::optional<int64_t> integer = value.getAsInteger();
    if (!integer || *integer < 0)
      return false;
    out.push_back(*integer);
  }
  return true;
}

Error SafetensorsFile::addTensor(StringRef name, const void *entry,
                                 uint64_t dataBegin) {
  auto *object = static_cast<const json::Object *>(entry);
  if (!object)
    return failure("is not described by an object");
  TensorInfo tensor;
  tensor.name = name.str();
  StringRef type = object->getString("dtype").value_or("");
  const TypeName *known = find_if(
      typeNames, [&](const TypeName &entry) { return entry.name == type; });
  if (known == std::end(typeNames))
    return failure("unknown dtype '{0}'", type);
  tensor.type = known->type;
  SmallVector<int64_t, 2> offsets;
  if (!readIntegers(object->getArray("shape"), tensor.shape))
    return failure("shape is not a list of sizes");
  if (!readIntegers(object->getArray("data_offsets"), offsets) ||
      offsets.size() != 2)
    return failure("data_offsets are not two offsets");
  uint64_t available = size - dataBegin;
  if (offsets[0] > offsets[1] || uint64_t(offsets[1]) > available)
    return failure("data [{0}, {1}) is not inside the {2} bytes of data",
                   offsets[0], offsets[1], available);
  uint64_t bytes = known->bytes;
  for (int64_t extent : tensor.shape) {
    if (extent != 0 && bytes > UINT64_MAX / extent)
      return failure("shape {0} is too large", textOfShape(tensor.shape));
    bytes *= extent;
  }
  if (bytes != uint64_t(offsets[1] - offsets[0]))
    return failure("shape {0} of {1} takes {2} bytes, data_offsets give {3}",
                   textOfShape(tensor.shape), type, bytes,
                   offsets[1] - offsets[0]);
  tensor.begin = dataBegin + offsets[0];
  tensor.end = dataBegin + offsets[1];
  list.push_back(std::move(tensor));
  return Error::success();
}

/// Sorts by place; data must be covered without holes or overlaps.
Error SafetensorsFile::checkCoverage(uint64_t dataBegin) {
  std::sort(list.begin(), list.end(),
            [](const TensorInfo &a, const TensorInfo &b) {
              return std::tie(a.begin, a.end, a.name) <
                     std::tie(b.begin, b.end, b.name);
            });
  uint64_t at = dataBegin;
  for (unsigned i = 0; i < list.size(); ++i) {
    if (list[i].begin != at)
      return failure("tensor '{0}' {1} the data before it", list[i].name,
                     list[i].begin < at ? "overlaps" : "leaves a hole after");
    at = list[i].end;
    index[list[i].name] = i;
  }
  if (at != size)
    return failure("{0} bytes after the last tensor", size - at);
  return Error::success();
}

const TensorInfo *SafetensorsFile::find(StringRef name) const {
  auto found = index.find(name);
  return found == index.end() ? nullptr : &list[found->second];
}

Error SafetensorsFile::read(const TensorInfo &tensor, uint64_t first,
                            uint64_t bytes, char *out) const {
  if (Error error = readAt(fd, out, bytes, tensor.begin + first))
    return failure("{0}: tensor {1}: {2}", file, tensor.name,
                   toString(std::move(error)));
  return Error::success();
}

} // namespace colrow::runtime
