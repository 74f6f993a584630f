// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Identity of files, and marks of their contents.

#include "colrow/runtime/Support/FileIdentity.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace llvm;

namespace colrow::runtime {

std::optional<FileIdentity> identityOf(StringRef path) {
  struct stat status;
  if (::stat(path.str().c_str(), &status) == 0)
    return FileIdentity{status.st_dev, status.st_ino, ""};
  while (path.size() > 1 && path.ends_with("/"))
    path = path.drop_back();
  StringRef parent = sys::path::parent_path(path);
  if (path.empty() ||
      ::stat(parent.empty() ? "." : parent.str().c_str(), &status) != 0)
    return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino,
                      sys::path::filename(path).str()};
}

Error refuseOverwriting(StringRef option, StringRef output,
                        ArrayRef<InputPath> inputs) {
  std::optional<FileIdentity> written = identityOf(output);
  sys::fs::file_status status;
  bool isDevice = !sys::fs::status(output, status) &&
                  status.type() != sys::fs::file_type::regular_file &&
                  status.type() != sys::fs::file_type::directory_file;
  if (!written || isDevice)
    return Error::success();
  for (const InputPath &input : inputs) {
    if (input.path.empty())
      continue;
    if (identityOf(input.path) == written)
      return failure("{0} {1}: is also {2}; give it a name of its own", option,
                     output, input.title);
    if (!input.withFiles)
      continue;
    std::error_code code;
    for (sys::fs::directory_iterator it(input.path, code), end;
         !code && it != end; it.increment(code))
      if (identityOf(it->path()) == written)
        return failure("{0} {1}: is a file of {2} {3}; give it a name of its "
                       "own",
                       option, output, input.title, input.path);
  }
  return Error::success();
}

Error refuseOverwriting(ArrayRef<const char *> arguments) {
  std::vector<InputPath> inputs;
  StringRef output;
  for (size_t i = 1; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (!argument.consume_front("-")) {
      inputs.push_back({"the input", arguments[i], /*withFiles=*/false});
      continue;
    }
    argument.consume_front("-");
    if (argument == "o" && i + 1 < arguments.size())
      output = arguments[++i];
    else if (argument.consume_front("o="))
      output = argument;
  }
  return output.empty() ? Error::success()
                        : refuseOverwriting("-o", output, inputs);
}

std::string contentMark(StringRef path, function_ref<void()> onBlock) {
  constexpr int64_t blockBytes = 4096, maxBlocks = 64;
  int fd = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return "";
  struct stat status;
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd);
    return "";
  }
  int64_t last = std::max<int64_t>(0, int64_t(status.st_size) - blockBytes);
  int64_t blocks = std::min(maxBlocks, last / blockBytes + 2);
  std::vector<uint8_t> text;
  for (int64_t i = 0; i < blocks; ++i) {
    uint8_t block[blockBytes];
    ssize_t got = ::pread(fd, block, blockBytes, last * i / (blocks - 1));
    if (got > 0)
      text.insert(text.end(), block, block + got);
    onBlock();
  }
  ::close(fd);
  return formatv("{0}:{1:x16}", int64_t(status.st_size), xxh3_64bits(text));
}

} // namespace colrow::runtime
