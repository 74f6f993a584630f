// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan to trained weights. Invariant: all that can be refused is
// refused before the first step.

#include "Train.h"
#include "Agreement.h"
#include "Files.h"
#include "Interrupt.h"
#include "Progress.h"
#include "Report.h"
#include "SameOptions.h"
#include "Session.h"
#include "Weights.h"
#include "colrow/runtime/Checkpoint/CheckpointFolder.h"
#include "colrow/runtime/Core/Trace.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "colrow/runtime/Support/ProgramEnd.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <vector>

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

namespace {

class Trainer {
public:
  Trainer(const Options &options, Processes &processes)
      : options(options), processes(processes), job(processes.job()),
        progress(options.steps) {}

  Error run();

private:
  Error prepare();
  Error checkOutputs() const;
  Error openFolders();
  Error start();
  Error openData();
  Error loop();
  Error oneStep();
  Error save();
  Error writeFiles();
  void note(const std::string &text);

  const Options &options;
  Processes &processes;
  Job &job;
  Progress progress;
  Session session;
  Executor *executor = nullptr;
  LoadedProgram *program = nullptr;
  std::optional<SavedRun> resumed;
  std::unique_ptr<CheckpointFolder> folder;
  std::optional<Feed> feed; // none: the step takes no inputs
  TrainingState state;
  int64_t savedStep = -1;
  bool isStopping = false;      // all have agreed to end after this step
  int64_t rows = 0, tokens = 0; // of a step
  std::vector<StepRecord> records;
  std::vector<std::string> notes; // to be said when nothing is refused
};

void Trainer::note(const std::string &text) {
  if (!job.isFirst())
    return;
  progress.finish();
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' '); // of a file's name
  errs() << "tp-run: note: " << line << "\n";
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

Error Trainer::oneStep() {
  auto begin = std::chrono::steady_clock::now();
  if (feed)
    if (Error error = feed->set(state.step))
      return error;
  StepInputs inputs;
  inputs.learningRate = float(options.learningRate);
  inputs.seed = int64_t(state.seed);
  inputs.step = state.step + 1;
  Expected<AgreedStep> result =
      agreeOnStep(job, executor->run(*program, inputs), isInterrupted());
  if (!result)
    return result.takeError();
  std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - begin;
  records.push_back({state.step + 1, result->loss, result->gradNorm,
                     result->labels, passed.count(),
                     double(tokens) / passed.count()});
  if (job.isFirst())
    progress.show(records.back());
  isStopping = result->isInterrupted;
  if (!std::isfinite(result->loss) && !records.back().hasNoLabels())
    return failure("loss of step {0} is {1}: training stopped{2}",
                   state.step + 1,
                   std::isnan(result->loss) ? "NaN" : "infinite",
                   folder ? ", the last checkpoint stays as it is" : "");
  ++state.step;
  state.samples += rows;
  return Error::success();
}

Error Trainer::save() {
  if (!folder || savedStep == state.step)
    return Error::success();
  if (Error error = folder->save(state))
    return error;
  savedStep = state.step;
  return Error::success();
}

Error Trainer::loop() {
  catchInterrupts();
  bool dumped = options.dumpOutputs.empty();
  while (state.step < options.steps) {
    if (Error error = oneStep())
      return error;
    if (!dumped)
      if (Error error = writeOutputs(
              *executor, tensorOutputs(program->tables()), options.dumpOutputs))
        return error;
    dumped = true;
    if (isStopping)
      break;
    if (options.saveEvery && state.step % options.saveEvery == 0)
      if (Error error = save())
        return error;
  }
  if (Error error = save())
    return error;
  if (isStopping && state.step < options.steps)
    return failure("interrupted after step {0}{1}", state.step,
                   folder ? ", which is saved" : "");
  return Error::success();
}

Error Trainer::writeFiles() {
  if (!options.report.empty() && job.isFirst())
    if (Error error = writeReport(options.report, executor->plan(),
                                  program->tables().of(0), records))
      return error;
  if (!options.trace.empty())
    return writeTrace(*executor, options.trace);
  return Error::success();
}

Error Trainer::run() {
  if (Error error = prepare())
    return error;
  if (Error error = start())
    return error;
  // No process enters a collective that another does not come to.
  if (Error error = job.agree(openData()))
    return error;
  if (folder)
    if (Error error = folder->begin())
      return error;
  for (const std::string &text : notes)
    note(text);
  Error failed = job.fail(loop());
  progress.finish();
  // Nothing waits any more for a step to end.
  if (!isStopping)
    releaseInterrupts();
  // What was run is reported, also when training failed, which says it all.
  Error unwritten = writeFiles();
  if (!failed)
    return unwritten;
  if (!unwritten)
    return failed;
  return failure("{0}; {1}", toString(std::move(failed)),
                 toString(std::move(unwritten)));
}

} // namespace

Error run(const Options &options, Processes &processes) {
  return finish(processes.job(), Trainer(options, processes).run());
}

} // namespace colrow::tprun
