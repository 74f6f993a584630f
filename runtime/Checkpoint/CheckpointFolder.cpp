// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Saving. Invariants: what counts as the folder's step was whole and synced
// before one rename made it count; nothing that was there before is removed or
// replaced earlier than that; no link inside the folder is followed.

#include "colrow/runtime/Checkpoint/CheckpointFolder.h"
#include "OwnSteps.h"
#include "Write.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

static constexpr StringLiteral currentName = "current";
static constexpr StringLiteral tensorFiles[] = {modelName, optimizerName};

CheckpointFolder::CheckpointFolder(std::string path, Executor &executor,
                                   SaveOptions options)
    : path(std::move(path)), executor(executor), job(executor.job()),
      options(std::move(options)) {}

CheckpointFolder::~CheckpointFolder() {
  if (hasSaved)
    return;
  // Those that something was put into meanwhile are not empty and stay.
  for (const std::string &folder : reverse(made))
    ::rmdir(folder.c_str());
}

static bool hasConfig(const Executor &executor) {
  return !textOf(executor.plan().config_json()).empty();
}

//===- Writing a step -----------------------------------------------------===//

Error CheckpointFolder::writeTexts(const Folder &to, StringRef name,
                                   const TrainingState &state) const {
  // First, so that what a kill leaves can be told.
  std::string text = stateText(executor, state, run, name);
  if (Error error = writeFileIn(to, stateName, text))
    return error;
  if (form == Form::files)
    if (Error error = writeFileIn(to, commitName, text))
      return error;
  if (!hasConfig(executor))
    return Error::success();
  return writeFileIn(to, configName, textOf(executor.plan().config_json()));
}

Error CheckpointFolder::writeTensorFiles(const Folder &to) const {
  for (Holding holding : {Holding::model, Holding::optimizer}) {
    auto tensors = tensorsOf(executor, holding);
    if (!tensors)
      return tensors.takeError();
    auto file = JointFile::createIn(
        job, to, holding == Holding::model ? modelName : optimizerName);
    if (!file)
      return file.takeError();
    if (Error error = writeTensors(std::move(*file), *tensors, executor,
                                   /*finiteOnly=*/true))
      return error;
  }
  return Error::success();
}

static std::string freeStepName(const Folder &folder, int64_t step) {
  std::string name = formatv("step-{0}", step);
  for (unsigned again = 1; folder.kindOf(name) != EntryKind::nothing; ++again)
    name = formatv("step-{0}.{1}", step, again);
  return name;
}

Error CheckpointFolder::writeStep(const Folder &to, StringRef name,
                                  const TrainingState &state) const {
  if (Error error = writeTexts(to, name, state))
    return error;
  // Where the others find it.
  if (auto told = job.fromFirst(to.path()); !told)
    return told.takeError();
  if (Error error = writeTensorFiles(to))
    return error;
  return to.sync();
}

/// Asked right before whatever changes what the folder holds for others.
Error CheckpointFolder::checkRunning() const {
  if (job.hasFailed())
    return failure("{0}: step not saved: the run has failed", path);
  return Error::success();
}

/// Makes a whole step, which is there as `temporary`, the one that counts.
Error CheckpointFolder::count(StringRef step, StringRef temporary) {
  if (Error error = checkRunning())
    return error;
  if (Error error = folder->renameNew(temporary, step))
    return error;
  if (Error error = folder->sync())
    return error;
  if (form == Form::files) {
    if (Error error = moveUp(step))
      return error;
  } else {
    if (Error error = switchTo(step))
      return error;
    if (Error error = linkTop())
      return error;
  }
  hasSaved = true;
  removeOld(form == Form::links ? step : "");
  return Error::success();
}

Error CheckpointFolder::saveAsFirst(const TrainingState &state) {
  std::string step = freeStepName(*folder, state.step);
  std::string temporary = unfinishedName(*folder, run);
  Expected<Folder> saving = folder->create(temporary);
  if (!saving)
    return saving.takeError();
  if (Error error = writeStep(*saving, step, state)) {
    consumeError(discardStep(*folder, temporary, *saving)); // the first counts
    return error;
  }
  return count(step, temporary);
}

Error CheckpointFolder::saveAsOther() {
  auto place = job.fromFirst("");
  if (!place)
    return place.takeError();
  Expected<Folder> saving = folder->enter(sys::path::filename(*place));
  if (!saving)
    return saving.takeError();
  return writeTensorFiles(*saving);
}

Error CheckpointFolder::save(const TrainingState &state) {
  if (Error error = begin())
    return error;
  return job.agree(job.isFirst() ? saveAsFirst(state) : saveAsOther());
}

/// Links of the folder itself; they go through `current` and never change.
Error CheckpointFolder::linkTop() const {
  for (StringRef name : {modelName, configName, optimizerName, stateName}) {
    if (name == configName && !hasConfig(executor))
      continue;
    // Anything else that could stand there was refused, but a config.json.
    if (folder->kindOf(name) != EntryKind::nothing)
      continue;
    if (Error error = checkRunning())
      return error;
    if (Error error = folder->link((currentName + "/" + name).str(), name))
      return error;
  }
  return folder->sync();
}

Error CheckpointFolder::switchTo(StringRef step) const {
  // By this name only a killed save of this run can have left a link.
  std::string link = newCurrentName(run);
  if (folder->kindOf(link) == EntryKind::link)
    if (Error error = folder->remove(link))
      return error;
  if (Error error = folder->link(step, link))
    return error;
  if (Error error = checkRunning())
    return error;
  if (Error error = folder->replace(link, *folder, currentName))
    return error;
  return folder->sync();
}

/// The first move makes the step count, the others only tidy.
Error CheckpointFolder::moveUp(StringRef step) const {
  Expected<Folder> inner = folder->enter(step);
  if (!inner)
    return inner.takeError();
  auto move = [&](StringRef from, StringRef to) {
    if (Error error = checkRunning())
      return error;
    return inner->replace(from, *folder, to);
  };
  if (Error error = move(commitName, stateName))
    return error;
  if (Error error = folder->sync())
    return error;
  for (StringRef name : tensorFiles)
    if (Error error = move(name, name))
      return error;
  bool isFree = folder->kindOf(configName) == EntryKind::nothing;
  if (hasConfig(executor) && (isFree || replacesConfig))
    if (Error error = move(configName, configName))
      return error;
  return folder->sync();
}

/// Removes steps other than `keep` of this run, and of the one that it
/// replaces, and what their killed saves left.
void CheckpointFolder::removeOld(StringRef keep) {
  Expected<std::vector<std::string>> names = folder->names();
  if (!names) {
    consumeError(names.takeError()); // the save itself is good
    return;
  }
  SmallVector<std::string, 2> runs = {run};
  if (!replacedRun.empty())
    runs.push_back(replacedRun);
  if (job.hasFailed())
    return;
  removeLeftovers(*folder, *names);
  for (const std::string &name : *names) {
    if (name == keep || !isStepName(name) ||
        folder->kindOf(name) != EntryKind::folder)
      continue;
    if (job.hasFailed())
      return;
    job.progress();
    Error error = removeStep(*folder, name, runs);
    if (!error)
      continue;
    std::string reason = toString(std::move(error));
    if (told.insert(name).second && options.note)
      options.note(
          formatv("{0}: stays: {1}", folder->pathOf(name), reason).str());
  }
}

} // namespace colrow::runtime
