// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Going on from a saved step: which one, whether the plan is the same, and
// what differs.

#include "State.h"
#include "WholeTensor.h"
#include "colrow/runtime/Checkpoint/ModelConfig.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"

using namespace llvm;

namespace colrow::runtime {

/// Largest config.json that is read, in bytes.
static constexpr uint64_t maxConfigBytes = 16 << 20;

namespace {
/// Where the files of the step that counts are.
struct StepFiles {
  Folder folder; // of state.json
  std::string state;
  std::string model, config, optimizer; // paths
};
} // namespace

/// The files of a folder, or of its part `step` as far as a save did not get
/// round to moving them up: then both hold the same state.
static StepFiles filesOf(Folder folder, std::string state, StringRef step) {
  StepFiles files{std::move(folder), std::move(state), "", "", ""};
  // Entry `step` counts if it holds the same state.
  std::optional<Folder> inner;
  if (!step.empty() && files.folder.kindOf(step) == EntryKind::folder) {
    inner = expectedToOptional(files.folder.enter(step));
    std::optional<std::string> same;
    if (inner)
      same = expectedToOptional(readTextFile(*inner, stateName, maxStateBytes));
    if (same != files.state)
      inner.reset();
  }
  auto pathOf = [&](StringRef name) {
    bool isInner = inner && inner->kindOf(name) == EntryKind::file;
    return (isInner ? *inner : files.folder).pathOf(name);
  };
  files.model = pathOf(modelName);
  files.config = pathOf(configName);
  files.optimizer = pathOf(optimizerName);
  return files;
}

static Expected<StepFiles> findStep(StringRef path) {
  Expected<Folder> folder = Folder::open(path);
  if (!folder)
    return folder.takeError();
  // The step's folder itself, so that all files are of one save.
  std::string target = folder->linkTarget("current");
  if (!target.empty()) {
    folder = Folder::open(
        StringRef(target).starts_with("/") ? target : folder->pathOf(target));
    if (!folder)
      return folder.takeError();
  }
  std::string name = folder->pathOf(stateName);
  Expected<std::string> text = readTextFile(name, maxStateBytes);
  if (!text)
    return text.takeError();
  Expected<SavedState> state = parseState(name, *text);
  if (!state)
    return state.takeError();
  return filesOf(std::move(*folder), *text, state->folder);
}

static Error checkPlan(StringRef path, const SavedState &saved,
                       const Executor &executor) {
  const plan::Plan &plan = executor.plan();
  if (saved.mesh != executor.mesh().text())
    return failure("{0}: resuming on another tp is not supported yet: saved on "
                   "{1}, this plan is {2}",
                   path, saved.mesh, executor.mesh().text());
  std::string print = formatv("{0:x16}", plan.persistent_fingerprint()).str();
  if (saved.fingerprint != print)
    return failure("{0}: was saved by a plan with other parameters or layouts "
                   "(fingerprint {1}, this plan {2})",
                   path, saved.fingerprint, print);
  int64_t tokens = trainingBatch(plan).tokens;
  if (saved.seq != 0 && saved.seq != tokens)
    return failure("{0}: was trained on sequences of {1} tokens, this plan "
                   "takes {2}: the samples are others, so there is no place in "
                   "the data to go on from; compile it with --seq {1}",
                   path, saved.seq, tokens);
  return Error::success();
}

Expected<std::vector<std::string>> configDifferences(const plan::Plan &plan,
                                                     StringRef folder) {
  Expected<Folder> opened = Folder::open(folder);
  if (!opened)
    return opened.takeError();
  StringRef ours = textOf(plan.config_json());
  if (ours.empty() || opened->kindOf(configName) == EntryKind::nothing)
    return std::vector<std::string>();
  std::string path = opened->pathOf(configName);
  Expected<std::string> text = readTextFile(path, maxConfigBytes);
  if (!text)
    return text.takeError();
  return configDifferences(path, *text, ours);
}

/// What changes the mathematics of training: model and optimizer.
static Expected<std::vector<std::string>>
changesOf(const SavedState &saved, StringRef config, const plan::Plan &plan) {
  std::vector<std::string> changes;
  StringRef ours = textOf(plan.config_json());
  if (!ours.empty()) {
    Expected<std::string> text = readTextFile(config, maxConfigBytes);
    if (!text)
      return text.takeError();
    auto differences = configDifferences(config, *text, ours);
    if (!differences)
      return differences.takeError();
    changes = std::move(*differences);
  }
  append_range(changes, optimizerDifferences(saved, plan));
  return changes;
}

Expected<SavedRun> SavedRun::open(const Executor &executor, StringRef path,
                                  bool acceptChanges) {
  Expected<StepFiles> files = findStep(path);
  if (!files)
    return files.takeError();
  std::string name = files->folder.pathOf(stateName);
  Expected<SavedState> saved = parseState(name, files->state);
  if (!saved)
    return saved.takeError();
  const plan::Plan &plan = executor.plan();
  if (Error error = checkPlan(name, *saved, executor))
    return std::move(error);
  auto changes = changesOf(*saved, files->config, plan);
  if (!changes)
    return changes.takeError();
  SavedRun result;
  if (!changes->empty()) {
    std::string text = firstOf(*changes, "; ");
    if (!acceptChanges)
      return failure("{0}: was trained otherwise: {1}; compile the plan alike, "
                     "or add --accept-changes",
                     path, text);
    result.remarks.push_back(
        formatv("{0}: was trained otherwise: {1}", path, text));
  }
  int64_t rows = trainingBatch(plan).rows;
  if (saved->batch != 0 && saved->batch != rows)
    result.remarks.push_back(
        formatv("{0}: was trained with batch {1}, this plan has {2}: goes on "
                "at sample {3} of the data",
                path, saved->batch, rows, saved->training.samples));
  result.training = saved->training;
  result.runName = saved->run;
  result.folder = files->folder.identity();
  result.modelFile = files->model;
  result.optimizerFile = files->optimizer;
  return result;
}

std::string SavedRun::mark(function_ref<void()> onBlock) const {
  return formatv("step {0}, seed {1}, sample {2} of run {3}, {4}, {5}",
                 training.step, training.seed, training.samples, runName,
                 contentMark(modelFile, onBlock),
                 contentMark(optimizerFile, onBlock));
}

Error SavedRun::load(Executor &executor) const {
  for (auto [file, holding] : {std::pair(&modelFile, Holding::model),
                               std::pair(&optimizerFile, Holding::optimizer)}) {
    Expected<ModelFiles> opened = ModelFiles::openFile(*file);
    if (!opened)
      return opened.takeError();
    auto result =
        loadParameters(executor, *opened, holding, FileOrigin::checkpoint);
    if (!result)
      return result.takeError();
  }
  return Error::success();
}

} // namespace colrow::runtime
