// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linking by ld.lld as a process, through temporary files that are always
// removed.

#include "KernelSupport.h"
#include "LowerModule.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace colrow::kernel {

namespace {

/// A temporary file, removed at the end of its life.
class TemporaryFile {
public:
  Error create(StringRef suffix) {
    if (std::error_code code =
            sys::fs::createTemporaryFile("colrow-kernel", suffix, path))
      return kernelError("cannot create a temporary file: " + code.message());
    remover.setFile(path);
    return Error::success();
  }
  Error write(ArrayRef<char> bytes) {
    std::error_code code;
    raw_fd_ostream os(path, code);
    os << StringRef(bytes.data(), bytes.size());
    os.close();
    if (code || os.has_error()) {
      std::string reason = (code ? code : os.error()).message();
      os.clear_error();
      return kernelError("cannot write '" + path + "': " + reason);
    }
    return Error::success();
  }
  StringRef name() const { return path; }

private:
  SmallString<128> path;
  FileRemover remover;
};

} // namespace

static Expected<std::string> findLinker() {
  for (StringRef name : {COLROW_LLD_PATH, "ld.lld-22", "ld.lld"}) {
    if (sys::path::is_absolute(name) && sys::fs::can_execute(name))
      return name.str();
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return *found;
  }
  return kernelError("no linker: wanted " COLROW_LLD_PATH
                     " or ld.lld-22 on PATH (Debian package lld-22)");
}

/// The linker's own words, on one line.
static std::string readMessage(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(path);
  std::string message = text ? (*text)->getBuffer().trim().str() : "";
  std::replace(message.begin(), message.end(), '\n', ';');
  return message;
}

Expected<SmallVector<char, 0>>
linkSharedObject(ArrayRef<SmallVector<char, 0>> objects) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  std::vector<TemporaryFile> inputs(objects.size());
  for (auto [input, object] : zip_equal(inputs, objects)) {
    if (Error error = input.create("o"))
      return std::move(error);
    if (Error error = input.write(object))
      return std::move(error);
  }
  TemporaryFile output, messages;
  if (Error error = joinErrors(output.create("so"), messages.create("txt")))
    return std::move(error);
  SmallVector<StringRef> args = {"ld.lld",
                                 "-shared",
                                 "-nostdlib",
                                 "--no-undefined",
                                 "--build-id=none",
                                 "--hash-style=gnu",
                                 "-z",
                                 "noexecstack",
                                 "-o",
                                 output.name()};
  for (const TemporaryFile &input : inputs)
    args.push_back(input.name());
  std::optional<StringRef> redirects[] = {StringRef(), messages.name(),
                                          messages.name()};
  std::string reason;
  int status = sys::ExecuteAndWait(*linker, args, /*Env=*/std::nullopt,
                                   redirects, /*SecondsToWait=*/0,
                                   /*MemoryLimit=*/0, &reason);
  if (status != 0)
    return kernelError("linking failed: " + (reason.empty()
                                                 ? readMessage(messages.name())
                                                 : reason));
  ErrorOr<std::unique_ptr<MemoryBuffer>> linked = MemoryBuffer::getFile(
      output.name(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!linked)
    return kernelError("cannot read '" + output.name() +
                       "': " + linked.getError().message());
  StringRef bytes = (*linked)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}

} // namespace colrow::kernel
