// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a folder holds before it is saved to, and whether that may be replaced.

#include "State.h"
#include "WholeTensor.h"
#include "colrow/runtime/Checkpoint/CheckpointFolder.h"
#include "colrow/runtime/Checkpoint/ModelConfig.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

Expected<std::unique_ptr<CheckpointFolder>>
CheckpointFolder::open(StringRef path, Executor &executor,
                       SaveOptions options) {
  for (Holding holding : {Holding::model, Holding::optimizer}) {
    auto tensors = tensorsOf(executor, holding);
    if (!tensors)
      return prefixed(path, tensors.takeError());
  }
  std::unique_ptr<CheckpointFolder> result(
      new CheckpointFolder(path.str(), executor, std::move(options)));
  if (result->job.isFirst())
    if (Error error = result->look())
      return std::move(error);
  auto found =
      result->job.fromFirst((result->isContinued ? "+" : "-") + result->run);
  if (!found)
    return found.takeError();
  result->isContinued = StringRef(*found).starts_with("+");
  result->run = found->substr(1);
  return result;
}

/// Names the run, and looks at the folder if it is there.
Error CheckpointFolder::look() {
  Expected<std::string> name = newRunName();
  if (!name)
    return name.takeError();
  run = std::move(*name);
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0 && errno == ENOENT)
    return Error::success(); // begin() makes it
  return lock();
}

/// Opens the folder, keeps other runs out, and looks at what is there.
Error CheckpointFolder::lock() {
  Expected<Folder> opened = Folder::open(path);
  if (!opened)
    return opened.takeError();
  if (::flock(opened->descriptor(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK
               ? failure("{0}: another run is saving to this folder", path)
               : failure("{0}: cannot lock the folder: {1}", path,
                         strerror(errno));
  if (::faccessat(opened->descriptor(), ".", W_OK | X_OK, AT_EACCESS) != 0)
    return failure("{0}: cannot write to this folder: {1}", path,
                   strerror(errno));
  folder = std::move(*opened);
  return inspect();
}

//===- What is there ------------------------------------------------------===//

Error CheckpointFolder::foreign(StringRef name) const {
  return failure("{0}: is not from an earlier --save, so it is not "
                 "overwritten: give --save another folder",
                 folder->pathOf(name));
}

Error CheckpointFolder::inspect() {
  if (folder->kindOf("current") == EntryKind::link)
    return inspectLinks();
  if (folder->kindOf(stateName) == EntryKind::file)
    return inspectFiles();
  for (StringRef name :
       {modelName, StringLiteral("model.safetensors.index.json"), optimizerName,
        stateName, StringLiteral("current")})
    if (folder->kindOf(name) != EntryKind::nothing)
      return foreign(name);
  return checkConfig();
}

Error CheckpointFolder::inspectLinks() {
  form = Form::links;
  std::string step = folder->linkTarget("current");
  if (StringRef(step).contains('/') || !StringRef(step).starts_with("step-"))
    return foreign("current");
  for (StringRef name : {modelName, configName, optimizerName, stateName}) {
    EntryKind kind = folder->kindOf(name);
    bool isOurs = kind == EntryKind::link
                      ? folder->linkTarget(name) == ("current/" + name).str()
                      : kind == EntryKind::nothing;
    if (!isOurs && !(name == configName && kind == EntryKind::file))
      return foreign(name);
  }
  if (Error error = checkEarlier(step, /*isHere=*/false))
    return error;
  return checkConfig();
}

Error CheckpointFolder::inspectFiles() {
  form = Form::files;
  std::string name = folder->pathOf(stateName);
  Expected<std::string> text = readTextFile(*folder, stateName, maxStateBytes);
  if (!text)
    return text.takeError();
  Expected<SavedState> state = parseState(name, *text);
  if (!state) {
    consumeError(state.takeError()); // a state.json, but none of ours
    return foreign(stateName);
  }
  if (state->run.empty())
    return foreign(stateName);
  for (StringRef file : {modelName, optimizerName, configName})
    if (EntryKind kind = folder->kindOf(file);
        kind != EntryKind::file && kind != EntryKind::nothing)
      return foreign(file);
  if (folder->kindOf("model.safetensors.index.json") != EntryKind::nothing)
    return foreign("model.safetensors.index.json");
  if (Error error = checkEarlier(state->folder, /*isHere=*/true))
    return error;
  // A change of the model was accepted, or the earlier run is overwritten.
  auto differences = configDifferences(executor.plan(), path);
  if (!differences)
    return differences.takeError();
  replacesConfig = !differences->empty();
  return Error::success();
}

/// The run that saved the state of a folder; empty if it does not tell.
static std::string runOf(const Folder &folder) {
  auto text =
      expectedToOptional(readTextFile(folder, stateName, maxStateBytes));
  auto state = text ? expectedToOptional(parseState(stateName, *text))
                    : std::optional<SavedState>();
  return state ? state->run : "";
}

/// `step`: the entry that holds the state that counts; `isHere`: so does the
/// folder itself.
Error CheckpointFolder::checkEarlier(StringRef step, bool isHere) {
  std::vector<FileIdentity> places;
  if (isHere) {
    places.push_back(folder->identity());
    replacedRun = runOf(*folder);
  }
  if (folder->kindOf(step) == EntryKind::folder) {
    Expected<Folder> entered = folder->enter(step);
    if (!entered)
      return entered.takeError();
    places.push_back(entered->identity());
    if (!isHere)
      replacedRun = runOf(*entered);
  }
  isContinued =
      options.resumed && is_contained(places, options.resumed->place());
  if (isContinued && !options.resumed->run().empty())
    run = options.resumed->run().str();
  if (isContinued || options.overwrite)
    return Error::success();
  return failure("{0}: holds the checkpoint of an earlier run: go on from it "
                 "with --resume {0}, give --save another folder, or replace it "
                 "with --overwrite",
                 path);
}

/// A config.json of the user's own stays, so it must be that of the model. What
/// a link of the user's leads to may change meanwhile, so it is none.
Error CheckpointFolder::checkConfig() {
  EntryKind kind = folder->kindOf(configName);
  bool isOurs = kind == EntryKind::link && form == Form::links; // inspectLinks
  if (kind == EntryKind::nothing || isOurs)
    return Error::success();
  if (kind != EntryKind::file)
    return failure("{0}: is no file, so it stays, and what is saved has no "
                   "config.json: give --save another folder",
                   folder->pathOf(configName));
  auto differences = configDifferences(executor.plan(), path);
  if (!differences)
    return differences.takeError();
  if (differences->empty())
    return Error::success();
  return failure("{0}: is of another model and is not overwritten: {1}; give "
                 "--save another folder",
                 folder->pathOf(configName), firstOf(*differences, "; "));
}

} // namespace colrow::runtime
