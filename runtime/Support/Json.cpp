// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading JSON and small text files that are not trusted.

#include "colrow/runtime/Support/Json.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/ReadAt.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
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

/// Reads an open file and closes it.
static Expected<std::string> readOpened(int fd, StringRef path,
                                        uint64_t maxBytes) {
  if (fd < 0)
    return failure("{0}: cannot open: {1}", path, strerror(errno));
  struct stat status;
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd);
    return failure("{0}: not a regular file", path);
  }
  if (uint64_t(status.st_size) > maxBytes) {
    ::close(fd);
    return failure("{0}: file of {1} bytes is too large, at most {2}", path,
                   uint64_t(status.st_size), maxBytes);
  }
  std::string text(status.st_size, '\0');
  Error error = readAt(fd, text.data(), text.size(), 0);
  ::close(fd);
  if (error)
    return prefixed(path, std::move(error));
  return text;
}

Expected<std::string> readTextFile(StringRef path, uint64_t maxBytes) {
  return readOpened(::open(path.str().c_str(), O_RDONLY | O_CLOEXEC), path,
                    maxBytes);
}

Expected<std::string> readTextFile(const Folder &folder, StringRef name,
                                   uint64_t maxBytes) {
  int fd = ::openat(folder.descriptor(), name.str().c_str(),
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  return readOpened(fd, folder.pathOf(name), maxBytes);
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
