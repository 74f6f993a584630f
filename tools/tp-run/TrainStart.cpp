// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run of training starts from: plan, folders, weights and data.

#include "Agreement.h"
#include "Files.h"
#include "SameOptions.h"
#include "Trainer.h"
#include "Weights.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/ProgramEnd.h"
#include "colrow/runtime/Support/ShownText.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

void Trainer::note(const std::string &text) {
  if (!job.isFirst())
    return;
  progress.finish();
  errs() << "tp-run: note: " << shownText(text) << "\n";
}

Error Trainer::checkOutputs() const {
  if (!program->tables().outputOfRole("loss").output)
    return failure("{0}: program {1} has no loss to train by: tp-run function "
                   "runs it",
                   options.plan, trainProgram);
  if (options.dumpOutputs.empty())
    return Error::success();
  if (tensorOutputs(program->tables()).empty())
    return failure("{0}: has no outputs for --dump-outputs: compile it with "
                   "--outputs gradients,logits",
                   options.plan);
  return Error::success();
}

Error Trainer::prepare() {
  if (job.isFirst() && !isStandardOutputOpen())
    return failure("standard output is closed: progress cannot be shown; send "
                   "it to a file or to /dev/null");
  if (Error error = checkFiles(options, job.processes()))
    return error;
  if (Error error = compareOptions(job, options))
    return error;
  Expected<Session> started =
      Session::start(options, processes, /*trace=*/!options.trace.empty());
  if (!started)
    return started.takeError();
  session = std::move(*started);
  executor = session.executor.get();
  Expected<LoadedProgram *> opened = session.open(options, trainProgram);
  if (!opened)
    return opened.takeError();
  program = *opened;
  rows = program->tables().batchRows();
  tokens = program->tables().tokens();
  if (Error error = checkOutputs())
    return error;
  if (Error error = compareFiles(job, options))
    return error;
  return openFolders();
}

/// What the run goes on from and where it saves; nothing is changed yet.
Error Trainer::openFolders() {
  if (!options.resume.empty()) {
    auto opened =
        SavedRun::open(*executor, options.resume, options.acceptChanges);
    if (!opened)
      return opened.takeError();
    resumed = std::move(*opened);
    if (Error error =
            compare(job, {{"what --resume names",
                           resumed->mark([this] { job.progress(); })}}))
      return error;
    append_range(notes, resumed->notes());
  }
  if (options.save.empty())
    return Error::success();
  SaveOptions saving;
  saving.resumed = resumed ? &*resumed : nullptr;
  saving.overwrite = options.overwrite;
  saving.note = [this](const std::string &text) { note(text); };
  auto opened =
      CheckpointFolder::open(options.save, *executor, std::move(saving));
  if (!opened)
    return opened.takeError();
  folder = std::move(*opened);
  return Error::success();
}

/// Weights, optimizer state, step and seed.
Error Trainer::start() {
  if (resumed) {
    state = resumed->state();
    if (options.seed && *options.seed != state.seed)
      return failure("{0}: was trained with seed {1}, not {2}: leave out "
                     "--seed",
                     options.resume, state.seed, *options.seed);
    if (state.step > options.steps)
      return failure("{0}: has done {1} steps already, --steps asks for {2} in "
                     "all",
                     options.resume, state.step, options.steps);
    savedStep = folder && folder->goesOn() ? state.step : -1;
    return resumed->load(*executor);
  }
  state.seed = options.seed.value_or(0);
  initializeParameters(*executor, state.seed,
                       /*onlyWithoutSources=*/!options.weights.empty());
  if (options.weights.empty())
    return Error::success();
  auto said = loadWeights(*executor, options);
  if (!said)
    return said.takeError();
  append_range(notes, *said);
  return Error::success();
}

Error Trainer::openData() {
  if (state.step == options.steps) {
    if (options.dumpOutputs.empty())
      return Error::success();
    return failure("--dump-outputs needs a step, but --steps {0} leaves none",
                   options.steps);
  }
  if (program->tables().inputs().empty())
    return Error::success();
  if (options.data.empty())
    return failure("no data to train on: give --data FILE");
  auto opened = InputData::open(options.data, options.dataType,
                                program->tables(), {state.step, state.samples});
  if (!opened)
    return opened.takeError();
  feed.emplace(*executor, *program, std::move(*opened));
  std::string name = sys::path::filename(options.data).str();
  std::string mark = contentMark(options.data, [this] { job.progress(); });
  if (Error error = compare(job, {{"the contents of --data", mark}}))
    return error;
  if (!state.dataMark.empty() && state.dataMark != mark)
    notes.push_back(formatv("--data {0}: is not what {1} was trained on ({2}): "
                            "goes on at sample {3} of it",
                            options.data, options.resume, state.data,
                            state.samples));
  state.data = std::move(name);
  state.dataMark = std::move(mark);
  return Error::success();
}

} // namespace colrow::tprun
