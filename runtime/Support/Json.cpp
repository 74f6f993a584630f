// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading JSON and small text files that are not trusted.

#include "colrow/runtime/Support/Json.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/ReadAt.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

static bool nestsDeeperThan(StringRef text, unsigned maxDepth) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
      continue;
    }
    if (c == '"')
      inString = true;
    else if ((c == '[' || c == '{') && ++depth > maxDepth)
      return true;
    else if ((c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return false;
}

Expected<json::Value> parseJson(StringRef file, StringRef text,
                                unsigned maxDepth) {
  if (nestsDeeperThan(text, maxDepth))
    return failure("{0}: JSON is nested deeper than {1} levels", file,
                   maxDepth);
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return failure("{0}: not valid JSON: {1}", file,
                   toString(value.takeError()));
  return value;
}

/// Reads an open file of `size` bytes and closes it.
static Expected<std::string> readOpened(Expected<int> fd, StringRef path,
                                        uint64_t size, uint64_t maxBytes) {
  if (!fd)
    return fd.takeError();
  if (size > maxBytes) {
    ::close(*fd);
    return failure("{0}: file of {1} bytes is too large, at most {2}", path,
                   size, maxBytes);
  }
  std::string text(size, '\0');
  Error error = readAt(*fd, text.data(), text.size(), 0);
  ::close(*fd);
  if (error)
    return prefixed(path, std::move(error));
  return text;
}

Expected<std::string> readTextFile(StringRef path, uint64_t maxBytes) {
  uint64_t size = 0;
  Expected<int> fd = openRegularFile(path, size);
  return readOpened(std::move(fd), path, size, maxBytes);
}

Expected<std::string> readTextFile(const Folder &folder, StringRef name,
                                   uint64_t maxBytes) {
  uint64_t size = 0;
  Expected<int> fd = openRegularFile(folder, name, size);
  return readOpened(std::move(fd), folder.pathOf(name), size, maxBytes);
}

Expected<json::Value> readJsonFile(StringRef path, uint64_t maxBytes) {
  Expected<std::string> text = readTextFile(path, maxBytes);
  if (!text)
    return text.takeError();
  return parseJson(path, *text);
}

std::string textOfNumber(double number) {
  std::string text;
  raw_string_ostream(text) << format("%.9g", number);
  return text;
}

} // namespace colrow::runtime
