// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Token ids and labels from windows of a flat file.

#include "Inputs.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/ReadAt.h"
#include <cstring>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

namespace {

class TokenWindows : public InputData {
public:
  TokenWindows(StringRef path, const Programs &programs, const DataPlace &place)
      : InputData(programs, place), path(path.str()) {
    for (const plan::Input *input : list)
      writers.emplace_back(*input);
  }
  ~TokenWindows() override {
    if (fd >= 0)
      ::close(fd);
  }

  Error prepare(TokenType type);
  int64_t steps() const override {
    return std::max<int64_t>(windows / batch, 1);
  }
  Error fill(int64_t step, size_t input, char *out) override;

private:
  Error checkInputs();
  Error open();
  Error read(int64_t step);
  int64_t token(int64_t row, int64_t i) const;

  std::string path;
  std::vector<ValueWriter> writers;
  int64_t seq = 0;
  unsigned width = 1; // bytes of a token
  int fd = -1;
  int64_t windows = 0;
  std::vector<char> bytes; // the step's windows, each with the token after it
  int64_t held = -1;       // the step that `bytes` is of
};

} // namespace

static std::string namesOf(ArrayRef<const plan::Input *> inputs) {
  std::string names;
  for (const plan::Input *input : inputs)
    names += (names.empty() ? "" : ", ") + textOf(input->name()).str();
  return names;
}

/// The inputs are token ids and perhaps labels, of rows that windows fill.
Error TokenWindows::checkInputs() {
  auto isRows = [](const plan::Input &input) {
    return listOf(input.shape()).size() == 2 && input.batch_dim() == 0;
  };
  const plan::Input *ids = nullptr;
  for (const plan::Input *input : list)
    if (textOf(input->role()) == "ids")
      ids = input;
  if (!ids || !isRows(*ids))
    return failure("{0}: holds tokens, but the plan takes none: give its "
                   "inputs ({1}) in a .safetensors file",
                   path, namesOf(list));
  seq = ids->shape()->Get(1);
  for (const plan::Input *input : list) {
    bool isLabels =
        textOf(input->role()) == "labels" && isRows(*input) &&
        input->shape()->Get(0) == batch &&
        (input->shape()->Get(1) == seq || input->shape()->Get(1) == seq + 1);
    if (input != ids && !isLabels)
      return failure("{0}: holds tokens, which are no values of input {1}: "
                     "give all inputs ({2}) in a .safetensors file",
                     path, textOf(input->name()), namesOf(list));
  }
  return Error::success();
}

Error TokenWindows::prepare(TokenType type) {
  if (Error error = checkInputs())
    return error;
  if (StringRef(path).ends_with(".bin")) {
    int64_t vocabulary = 0;
    for (const plan::Input *input : list)
      if (textOf(input->role()) == "ids")
        vocabulary = input->high();
    if (type == TokenType::automatic)
      type = vocabulary > 65536 ? TokenType::u32 : TokenType::u16;
    width = type == TokenType::u32 ? 4 : 2;
  }
  return open();
}

Error TokenWindows::open() {
  uint64_t size = 0;
  Expected<int> opened = openRegularFile(path, size);
  if (!opened)
    return opened.takeError();
  fd = *opened;
  int64_t tokens = size / width;
  windows = tokens > 0 ? (tokens - 1) / seq : 0;
  if (windows == 0)
    return failure("{0}: {1} tokens are too few: a window takes {2}", path,
                   tokens, seq + 1);
  if (size % width != 0)
    return failure("{0}: {1} bytes are no whole number of {2}-byte tokens",
                   path, size, width);
  bytes.resize(batch * (seq + 1) * width);
  return Error::success();
}

/// Holds the windows of a step.
Error TokenWindows::read(int64_t step) {
  if (held == step)
    return Error::success();
  held = -1;
  uint64_t size = (seq + 1) * width;
  for (int64_t b = 0; b < batch; ++b) {
    uint64_t window = (sampleOf(step) % windows + b) % windows;
    if (Error error = readAt(fd, &bytes[b * size], size, window * seq * width))
      return changedMeanwhile(step, prefixed(path, std::move(error)));
  }
  held = step;
  return Error::success();
}

int64_t TokenWindows::token(int64_t row, int64_t i) const {
  const char *at = &bytes[(row * (seq + 1) + i) * width];
  if (width == 1)
    return static_cast<unsigned char>(*at);
  uint32_t value = 0;
  std::memcpy(&value, at, width); // little-endian, as the machine
  return value;
}

Error TokenWindows::fill(int64_t step, size_t input, char *out) {
  if (Error error = read(step))
    return error;
  int64_t columns = list[input]->shape()->Get(1);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < columns; ++i)
      if (Error error = writers[input].store(token(b, i), {path, step, b, i},
                                             out, b * columns + i))
        return error;
  return Error::success();
}

Expected<std::unique_ptr<InputData>> openTokens(StringRef path, TokenType type,
                                                const Programs &programs,
                                                const DataPlace &place) {
  auto result = std::make_unique<TokenWindows>(path, programs, place);
  if (Error error = result->prepare(type))
    return std::move(error);
  return result;
}

} // namespace colrow::runtime
