// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Removal of a run's own steps. Invariant: what is removed is reached through
// descriptors only, and was seen to be a step after it was opened.

#include "OwnSteps.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"

using namespace llvm;

namespace colrow::runtime {

static constexpr StringLiteral stepFiles[] = {
    modelName, configName, optimizerName, stateName, commitName};
static constexpr StringLiteral unfinished = ".saving-";

bool isStepName(StringRef name) {
  return name.starts_with("step-") || name.starts_with(unfinished) ||
         name == "current";
}

std::string newCurrentName(StringRef run) { return (".current-" + run).str(); }
std::string trialLinkName(StringRef run) { return (".link-" + run).str(); }
std::string sharedFileName(StringRef run) { return (".shared-" + run).str(); }

/// By name, kind and contents, which are nothing that anybody needs.
static bool isLeftover(const Folder &folder, StringRef name) {
  StringRef run = name.take_back(runNameSize);
  if (!isRunName(run))
    return false;
  EntryKind kind = folder.kindOf(name);
  if (kind == EntryKind::link) {
    std::string target = folder.linkTarget(name);
    return (name == newCurrentName(run) &&
            StringRef(target).starts_with("step-")) ||
           (name == trialLinkName(run) && target == trialTarget);
  }
  if (kind != EntryKind::file || name != sharedFileName(run))
    return false;
  // Another random number, or nothing yet.
  auto text = expectedToOptional(readTextFile(folder, name, runNameSize));
  return text && (text->empty() || isRunName(*text));
}

/// Nothing depends on them: what cannot be removed stays.
void removeLeftovers(const Folder &folder, ArrayRef<std::string> names) {
  for (StringRef name : names)
    if (isLeftover(folder, name))
      consumeError(folder.remove(name));
}

std::string unfinishedName(const Folder &folder, StringRef run) {
  std::string base = (unfinished + run).str(), name = base;
  for (unsigned again = 1; folder.kindOf(name) != EntryKind::nothing; ++again)
    name = formatv("{0}.{1}", base, again).str();
  return name;
}

static Error checkState(const Folder &step, StringRef name,
                        ArrayRef<std::string> runs) {
  Expected<std::string> text = readTextFile(step, stateName, maxStateBytes);
  if (!text) {
    consumeError(text.takeError());
    return failure("it has no state.json to tell which run saved it");
  }
  Expected<SavedState> state = parseState(step.pathOf(stateName), *text);
  if (!state)
    return state.takeError();
  if (state->run.empty() || !is_contained(runs, state->run))
    return failure("another run saved it");
  if (name != state->folder && name != "current")
    return failure("it was saved as {0}", state->folder);
  return Error::success();
}

Error discardStep(const Folder &parent, StringRef name, const Folder &step) {
  for (StringRef file : stepFiles)
    if (step.kindOf(file) == EntryKind::file)
      if (Error error = step.remove(file))
        return error;
  return parent.removeEmptyFolder(name);
}

Error removeStep(const Folder &folder, StringRef name,
                 ArrayRef<std::string> runs) {
  Expected<Folder> step = folder.enter(name);
  if (!step)
    return step.takeError();
  Expected<std::vector<std::string>> names = step->names();
  if (!names)
    return names.takeError();
  for (const std::string &file : *names)
    if (!is_contained(stepFiles, file) || step->kindOf(file) != EntryKind::file)
      return failure("it holds {0}, which no --save wrote", file);
  if (any_of(runs, [&](StringRef run) {
        return name.starts_with((unfinished + run).str());
      }))
    return discardStep(folder, name, *step);
  if (Error error = checkState(*step, name, runs))
    return error;
  // Under this name the rest can still be proved, should a kill leave one.
  std::string moved = unfinishedName(folder, runs.front());
  if (Error error = folder.renameNew(name, moved))
    return error;
  return discardStep(folder, moved, *step);
}

} // namespace colrow::runtime
