// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Token files.

#include "colrow/runtime/TokenData.h"
#include "colrow/runtime/Errors.h"
#include "colrow/runtime/ReadAt.h"
#include "colrow/runtime/Safetensors.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

namespace {

constexpr int64_t ignoredLabel = -100;

/// Where a token came from, for errors.
struct Place {
  StringRef file;
  const char *what; // "token id", "label"
  int64_t step, row, position;
};

Error outside(const Place &place, int64_t token, int64_t vocab) {
  return failure("{0}: {1} {2} at step {3}, batch row {4}, position {5} is "
                 "outside the plan's vocabulary of {6}",
                 place.file, place.what, token, place.step, place.row,
                 place.position, vocab);
}

/// The file was complete when it was opened.
Error cannotRead(int64_t step, Error error) {
  return failure("{0} (the tokens of step {1}: was the file changed during the "
                 "run?)",
                 toString(std::move(error)), step);
}

//===- Batches in Safetensors ---------------------------------------------===//

class SafetensorsBatches : public TokenData {
public:
  SafetensorsBatches(std::unique_ptr<SafetensorsFile> file,
                     const BatchShape &shape)
      : file(std::move(file)), shape(shape) {}

  Error prepare();
  Error fill(int64_t step, int32_t *ids, int32_t *labels) override;

private:
  Error check(StringRef name, const TensorInfo *&tensor);
  Error row(const TensorInfo &tensor, Place place, bool labels, int32_t *out);

  std::unique_ptr<SafetensorsFile> file;
  BatchShape shape;
  int64_t steps = 0;
  const TensorInfo *ids = nullptr, *labels = nullptr;
  std::vector<char> bytes; // a row
};

Error SafetensorsBatches::check(StringRef name, const TensorInfo *&tensor) {
  const TensorInfo *info = file->find(name);
  if (!info)
    return failure("{0}: has no tensor {1}; wanted: input_ids and labels, "
                   "int64 or int32, of shape [steps, batch, seq]",
                   file->path(), name);
  if (info->shape.size() != 3 || info->shape[1] != shape.batch ||
      info->shape[2] != shape.seq)
    return failure("{0}: {1} has shape {2}; the plan was compiled for [steps, "
                   "{3}, {4}]",
                   file->path(), name, textOfShape(info->shape), shape.batch,
                   shape.seq);
  if (info->type != TensorType::i64 && info->type != TensorType::i32)
    return failure("{0}: {1} has dtype {2}; wanted: I64 or I32", file->path(),
                   name, nameOf(info->type));
  if (info->shape[0] == 0 || (steps && steps != info->shape[0]))
    return failure("{0}: {1} has {2} steps, input_ids {3}", file->path(), name,
                   info->shape[0], steps);
  steps = info->shape[0];
  tensor = info;
  return Error::success();
}

Error SafetensorsBatches::prepare() {
  if (Error error = check("input_ids", ids))
    return error;
  if (Error error = check("labels", labels))
    return error;
  bytes.resize(shape.seq * sizeof(int64_t));
  return Error::success();
}

Error SafetensorsBatches::row(const TensorInfo &tensor, Place place,
                              bool labels, int32_t *out) {
  int64_t rows = steps * shape.batch;
  int64_t row = (shape.sampleOf(place.step) % rows + place.row) % rows;
  int64_t width = bytesOf(tensor.type), size = shape.seq * width;
  if (Error error = file->read(tensor, row * size, size, bytes.data()))
    return cannotRead(place.step, std::move(error));
  for (int64_t i = 0; i < shape.seq; ++i) {
    int64_t token = 0;
    if (tensor.type == TensorType::i64) {
      std::memcpy(&token, &bytes[i * width], 8);
    } else {
      int32_t narrow;
      std::memcpy(&narrow, &bytes[i * width], 4);
      token = narrow;
    }
    place.position = i;
    bool ignored = labels && token == ignoredLabel;
    if (!ignored && (token < 0 || token >= shape.vocab))
      return outside(place, token, shape.vocab);
    out[i] = int32_t(token);
  }
  return Error::success();
}

Error SafetensorsBatches::fill(int64_t step, int32_t *idsOut,
                               int32_t *labelsOut) {
  for (int64_t b = 0; b < shape.batch; ++b) {
    if (Error error = row(*ids, {file->path(), "token id", step, b, 0},
                          /*labels=*/false, idsOut + b * shape.seq))
      return error;
    int32_t *rowLabels = labelsOut + b * (shape.seq + 1);
    if (Error error = row(*labels, {file->path(), "label", step, b, 0},
                          /*labels=*/true, rowLabels))
      return error;
    rowLabels[shape.seq] = ignoredLabel;
  }
  return Error::success();
}

//===- Windows of a flat file ---------------------------------------------===//

class TokenWindows : public TokenData {
public:
  TokenWindows(StringRef path, unsigned width, const BatchShape &shape)
      : path(path.str()), width(width), shape(shape) {}
  ~TokenWindows() override {
    if (fd >= 0)
      ::close(fd);
  }

  Error open();
  Error fill(int64_t step, int32_t *ids, int32_t *labels) override;

private:
  int64_t token(int64_t i) const;

  std::string path;
  unsigned width; // bytes of a token
  BatchShape shape;
  int fd = -1;
  int64_t windows = 0;
  std::vector<char> bytes; // a window and the token after it
};

Error TokenWindows::open() {
  fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return failure("{0}: cannot open: {1}", path, strerror(errno));
  struct stat status;
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return failure("{0}: not a regular file", path);
  uint64_t size = status.st_size;
  int64_t tokens = size / width;
  windows = tokens > 0 ? (tokens - 1) / shape.seq : 0;
  if (windows == 0)
    return failure("{0}: {1} tokens are too few: a window takes {2}", path,
                   tokens, shape.seq + 1);
  if (size % width != 0)
    return failure("{0}: {1} bytes are no whole number of {2}-byte tokens",
                   path, size, width);
  bytes.resize((shape.seq + 1) * width);
  return Error::success();
}

int64_t TokenWindows::token(int64_t i) const {
  const char *at = &bytes[i * width];
  if (width == 1)
    return static_cast<unsigned char>(*at);
  uint32_t value = 0;
  std::memcpy(&value, at, width); // little-endian, as the machine
  return value;
}

Error TokenWindows::fill(int64_t step, int32_t *ids, int32_t *labels) {
  for (int64_t b = 0; b < shape.batch; ++b) {
    int64_t window = (shape.sampleOf(step) % windows + b) % windows;
    if (Error error = readAt(fd, bytes.data(), bytes.size(),
                             uint64_t(window) * shape.seq * width))
      return cannotRead(step, prefixed(path, std::move(error)));
    for (int64_t i = 0; i <= shape.seq; ++i) {
      int64_t value = token(i);
      if (value >= shape.vocab)
        return outside({path, "token id", step, b, i}, value, shape.vocab);
      labels[b * (shape.seq + 1) + i] = int32_t(value);
      if (i < shape.seq)
        ids[b * shape.seq + i] = int32_t(value);
    }
  }
  return Error::success();
}

} // namespace

Expected<std::unique_ptr<TokenData>>
TokenData::open(StringRef path, TokenType type, const BatchShape &shape) {
  if (path.ends_with(".safetensors")) {
    auto file = SafetensorsFile::open(path);
    if (!file)
      return file.takeError();
    auto batches =
        std::make_unique<SafetensorsBatches>(std::move(*file), shape);
    if (Error error = batches->prepare())
      return std::move(error);
    return batches;
  }
  unsigned width = 1;
  if (path.ends_with(".bin")) {
    if (type == TokenType::automatic)
      type = shape.vocab > 65536 ? TokenType::u32 : TokenType::u16;
    width = type == TokenType::u32 ? 4 : 2;
  }
  auto windows = std::make_unique<TokenWindows>(path, width, shape);
  if (Error error = windows->open())
    return std::move(error);
  return windows;
}

} // namespace colrow::runtime
