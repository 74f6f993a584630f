// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the run will write is found to be impossible, or harmful, before it
// starts and not after hours of training.

#include "Files.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/FileIdentity.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

static std::string inFolder(StringRef folder, StringRef name) {
  SmallString<256> path(folder);
  sys::path::append(path, name);
  return std::string(path);
}

/// A checkpoint's own names, there or not, and its steps. Other files of the
/// folder, such as an earlier report, are the user's to replace.
static void addCheckpoint(std::vector<InputPath> &inputs, StringRef option,
                          StringRef folder) {
  if (folder.empty())
    return;
  inputs.push_back({option.str(), folder.str(), /*withFiles=*/false});
  // Folders that are made on the way to it.
  for (StringRef above = sys::path::parent_path(folder);
       !above.empty() && !sys::fs::exists(above);
       above = sys::path::parent_path(above))
    inputs.push_back({"a folder above " + option.str(), above.str()});
  std::string title = ("a file of " + option + " " + folder).str();
  for (StringRef name : {"model.safetensors", "optimizer.safetensors",
                         "config.json", "state.json", "current"})
    inputs.push_back({title, inFolder(folder, name)});
  std::error_code code;
  for (sys::fs::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code))
    if (sys::path::filename(it->path()).starts_with("step-"))
      inputs.push_back({"the step", it->path()});
}

static std::vector<InputPath> inputsOf(const Options &options) {
  std::vector<InputPath> inputs = {{"the plan", options.plan},
                                   {"--data", options.data},
                                   {"--weights", options.weights}};
  addCheckpoint(inputs, "--resume", options.resume);
  addCheckpoint(inputs, "--save", options.save);
  return inputs;
}

static Error checkOutput(StringRef option, StringRef path,
                         ArrayRef<InputPath> inputs) {
  if (sys::fs::is_directory(path))
    return failure("{0} {1}: is a folder, wanted a file to write", option,
                   path);
  if (Error error = refuseOverwriting(option, path, inputs))
    return error;
  StringRef parent = sys::path::parent_path(path);
  if (std::error_code code = sys::fs::access(parent.empty() ? "." : parent,
                                             sys::fs::AccessMode::Write))
    return failure("{0} {1}: cannot write there: {2}", option, path,
                   code.message());
  return Error::success();
}

/// Whether bytes have places in what `path` names, there or not.
static bool hasPlaces(const std::string &path) {
  using sys::fs::file_type;
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return true;
  if (status.type() != file_type::character_file)
    return status.type() != file_type::fifo_file &&
           status.type() != file_type::socket_file;
  int fd = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return true;
  bool result = ::lseek(fd, 0, SEEK_CUR) >= 0;
  ::close(fd);
  return result;
}

/// Of a file that all processes write, each its part.
static Error checkJoint(StringRef option, const std::string &path,
                        unsigned processes) {
  if (processes == 1 || path.empty() || hasPlaces(path))
    return Error::success();
  return failure("{0} {1}: several processes cannot write to a pipe or a "
                 "terminal: give a file",
                 option, path);
}

Error checkFiles(const Options &options, unsigned processes) {
  std::vector<InputPath> taken = inputsOf(options);
  for (auto [option, path] :
       {std::pair<StringRef, StringRef>("--report", options.report),
        {"--trace", options.trace},
        {"--dump-outputs", options.dumpOutputs}}) {
    if (path.empty())
      continue;
    if (Error error = checkOutput(option, path, taken))
      return error;
    taken.push_back({option.str(), path.str()});
  }
  if (Error error = checkJoint("--trace", options.trace, processes))
    return error;
  return checkJoint("--dump-outputs", options.dumpOutputs, processes);
}

Error checkFiles(const FunctionOptions &options, unsigned processes) {
  if (Error error = checkOutput("--outputs", options.outputs,
                                {{"the plan", options.plan},
                                 {"--inputs", options.inputs},
                                 {"--weights", options.weights}}))
    return error;
  return checkJoint("--outputs", options.outputs, processes);
}

} // namespace colrow::tprun
