// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoint folders. Invariant: `current` names a step folder that was whole
// and synced before the link was switched to it.

#include "colrow/runtime/Checkpoint.h"
#include "Write.h"
#include "colrow/runtime/Errors.h"
#include "colrow/runtime/Json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

static constexpr StringLiteral fileNames[] = {
    "model.safetensors", "config.json", "optimizer.safetensors", "state.json"};
static constexpr StringLiteral temporaryStep = ".saving";
static constexpr StringLiteral temporaryLink = ".current.new";

static std::string join(StringRef folder, StringRef name) {
  return (folder + "/" + name).str();
}

/// The target of a symbolic link, empty when `path` is none.
static std::string linkTarget(const std::string &path) {
  char buffer[4096];
  ssize_t size = ::readlink(path.c_str(), buffer, sizeof(buffer));
  return size < 0 ? std::string() : std::string(buffer, size);
}

static bool exists(const std::string &path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

//===- Opening ------------------------------------------------------------===//

static Error refuseForeign(StringRef path) {
  for (StringRef name : {"model.safetensors", "model.safetensors.index.json",
                         "optimizer.safetensors", "state.json", "current"}) {
    std::string file = join(path, name);
    if (exists(file) && linkTarget(file).empty())
      return failure("{0}: is not from an earlier --save, so it is not "
                     "overwritten: give --save another folder",
                     file);
  }
  return Error::success();
}

Expected<std::unique_ptr<CheckpointFolder>>
CheckpointFolder::open(StringRef path, Executor &executor) {
  for (Holding holding : {Holding::model, Holding::optimizer}) {
    auto tensors = tensorsOf(executor, holding);
    if (!tensors)
      return prefixed(path, tensors.takeError());
  }
  if (std::error_code code = sys::fs::create_directories(
          path, /*IgnoreExisting=*/true, sys::fs::perms::all_all))
    return failure("{0}: cannot create folder: {1}", path, code.message());
  std::string name = path.str();
  int lock = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0)
    return failure("{0}: cannot open folder: {1}", path, strerror(errno));
  std::unique_ptr<CheckpointFolder> result(
      new CheckpointFolder(std::move(name), executor, lock));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0)
    return failure("{0}: another run is saving to this folder", path);
  if (Error error = refuseForeign(path))
    return std::move(error);
  result->removeOld(linkTarget(join(path, "current")));
  return result;
}

CheckpointFolder::~CheckpointFolder() { ::close(lock); }

//===- Saving -------------------------------------------------------------===//

static std::string stateText(const Executor &executor,
                             const TrainingState &state) {
  const plan::Plan &plan = executor.plan();
  std::string text;
  raw_string_ostream out(text);
  json::OStream json(out, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("step", state.step);
    // As text: not all JSON readers keep 64 bits.
    json.attribute("seed", std::to_string(state.seed));
    json.attribute("data_position", state.step * plan.batch());
    json.attribute("mesh", executor.mesh().text());
    json.attribute("persistent_fingerprint",
                   formatv("{0:x16}", plan.persistent_fingerprint()).str());
  });
  return text + "\n";
}

Error CheckpointFolder::writeStep(StringRef folder,
                                  const TrainingState &state) {
  std::string name = folder.str();
  sys::fs::remove_directories(folder);
  if (::mkdir(name.c_str(), 0777) != 0)
    return failure("{0}: cannot create folder: {1}", folder, strerror(errno));
  for (Holding holding : {Holding::model, Holding::optimizer}) {
    auto tensors = tensorsOf(executor, holding);
    if (!tensors)
      return tensors.takeError();
    StringRef file = fileNames[holding == Holding::model ? 0 : 2];
    if (Error error = writeTensors(join(folder, file), *tensors,
                                   executor.mesh(), /*finiteOnly=*/true))
      return error;
  }
  StringRef config = textOf(executor.plan().config_json());
  if (!config.empty())
    if (Error error = writeFileAtomically(join(folder, "config.json"), config))
      return error;
  return writeFileAtomically(join(folder, "state.json"),
                             stateText(executor, state));
}

/// Links of the folder itself; they go through `current` and never change.
Error CheckpointFolder::linkTop() {
  for (StringRef name : fileNames) {
    if (name == "config.json" && textOf(executor.plan().config_json()).empty())
      continue;
    std::string link = join(path, name);
    std::string target = join("current", name);
    if (linkTarget(link) == target)
      continue;
    if (exists(link) && name == "config.json")
      continue; // the folder's own
    if (exists(link))
      return failure("{0}: links elsewhere: give --save another folder", link);
    if (::symlink(target.c_str(), link.c_str()) != 0)
      return failure("{0}: cannot link: {1}", link, strerror(errno));
  }
  return syncFolder(path);
}

Error CheckpointFolder::switchTo(StringRef step) {
  std::string link = join(path, temporaryLink), target = step.str();
  std::string current = join(path, "current");
  ::unlink(link.c_str());
  if (::symlink(target.c_str(), link.c_str()) != 0)
    return failure("{0}: cannot link: {1}", link, strerror(errno));
  if (::rename(link.c_str(), current.c_str()) != 0)
    return failure("{0}: cannot switch: {1}", current, strerror(errno));
  return syncFolder(path);
}

/// Removes step folders other than `keep`, and what a killed save left.
void CheckpointFolder::removeOld(StringRef keep) {
  std::error_code code;
  std::vector<std::string> old;
  for (sys::fs::directory_iterator it(path, code, /*follow_symlinks=*/false),
       end;
       !code && it != end; it.increment(code)) {
    StringRef name = StringRef(it->path()).rsplit('/').second;
    if (name != keep && (name.starts_with("step-") || name == temporaryStep))
      old.push_back(it->path());
  }
  for (const std::string &folder : old)
    sys::fs::remove_directories(folder);
  ::unlink(join(path, temporaryLink).c_str());
}

Error CheckpointFolder::save(const TrainingState &state) {
  std::string temporary = join(path, temporaryStep);
  if (Error error = writeStep(temporary, state)) {
    sys::fs::remove_directories(temporary);
    return error;
  }
  if (Error error = syncFolder(temporary))
    return error;
  std::string step = formatv("step-{0}", state.step).str();
  for (unsigned again = 1; exists(join(path, step)); ++again)
    step = formatv("step-{0}.{1}", state.step, again).str();
  if (::rename(temporary.c_str(), join(path, step).c_str()) != 0)
    return failure("{0}: cannot rename: {1}", temporary, strerror(errno));
  if (Error error = linkTop())
    return error;
  if (Error error = switchTo(step))
    return error;
  removeOld(step);
  return Error::success();
}

//===- Resuming -----------------------------------------------------------===//

static Expected<TrainingState> readState(const Executor &executor,
                                         StringRef folder) {
  std::string path = join(folder, "state.json");
  Expected<json::Value> value = readJsonFile(path, /*maxBytes=*/1 << 20);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  TrainingState state;
  std::optional<int64_t> step, version;
  std::optional<StringRef> seed, mesh, print;
  if (object) {
    version = object->getInteger("version");
    step = object->getInteger("step");
    seed = object->getString("seed");
    mesh = object->getString("mesh");
    print = object->getString("persistent_fingerprint");
  }
  if (!step || *step < 0 || !version || !seed ||
      seed->getAsInteger(10, state.seed) || !mesh || !print)
    return failure("{0}: not the state of a training run", path);
  if (*version != 1)
    return failure("{0}: has version {1}, this tp-run reads version 1", path,
                   *version);
  if (*mesh != executor.mesh().text())
    return failure("{0}: resuming on another tp is not supported yet: saved on "
                   "{1}, this plan is {2}",
                   path, *mesh, executor.mesh().text());
  std::string wanted =
      formatv("{0:x16}", executor.plan().persistent_fingerprint()).str();
  if (*print != wanted)
    return failure("{0}: was saved by a plan with other parameters or layouts "
                   "(fingerprint {1}, this plan {2})",
                   path, *print, wanted);
  state.step = *step;
  return state;
}

Expected<TrainingState> resumeFrom(Executor &executor, StringRef folder) {
  // The step folder itself, so that all files are of one save.
  std::string target = linkTarget(join(folder, "current"));
  std::string step = target.empty() ? folder.str() : join(folder, target);
  Expected<TrainingState> state = readState(executor, step);
  if (!state)
    return state.takeError();
  Expected<ModelFiles> model =
      ModelFiles::openFile(join(step, "model.safetensors"));
  if (!model)
    return model.takeError();
  if (Error error = loadParameters(executor, *model, Holding::model))
    return std::move(error);
  Expected<ModelFiles> rest =
      ModelFiles::openFile(join(step, "optimizer.safetensors"));
  if (!rest)
    return rest.takeError();
  if (Error error = loadParameters(executor, *rest, Holding::optimizer))
    return std::move(error);
  return state;
}

} // namespace colrow::runtime
