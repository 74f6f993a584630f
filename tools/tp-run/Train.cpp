// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan to trained weights. Invariant: all that can be refused is
// refused before the first step.

#include "Train.h"
#include "Files.h"
#include "Progress.h"
#include "Report.h"
#include "Weights.h"
#include "colrow/runtime/CheckpointFolder.h"
#include "colrow/runtime/Errors.h"
#include "colrow/runtime/HostCpu.h"
#include "colrow/runtime/ProgramEnd.h"
#include "colrow/runtime/Trace.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <csignal>
#include <ctime>
#include <vector>

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

namespace {

volatile std::sig_atomic_t interrupted = 0;

/// The first signal ends training after the step, one that comes more than a
/// second later at once: `timeout` and shells may send the first twice.
void onInterrupt(int signal) {
  static std::time_t first = 0;
  std::time_t now = ::time(nullptr);
  if (interrupted && now > first + 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  if (!interrupted)
    first = now;
  interrupted = 1;
}

class Trainer {
public:
  explicit Trainer(const Options &options)
      : options(options), progress(options.steps) {}

  Error run();

private:
  Error prepare();
  Error checkRanks() const;
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
  Progress progress;
  LoadedPlan plan;
  std::unique_ptr<Executor> executor;
  std::optional<SavedRun> resumed;
  std::unique_ptr<CheckpointFolder> folder;
  std::unique_ptr<TokenData> data;
  TrainingState state;
  int64_t savedStep = -1;
  std::vector<StepRecord> records;
  std::vector<std::string> notes; // to be said when nothing is refused
};

void Trainer::note(const std::string &text) {
  progress.finish();
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' '); // of a file's name
  errs() << "tp-run: note: " << line << "\n";
}

Error Trainer::checkRanks() const {
  Mesh mesh(plan.get());
  if (options.ranks == 0 || options.ranks == mesh.ranks())
    return Error::success();
  return failure("{0}: was compiled for {1} rank{2} ({3}), not {4}: leave out "
                 "-n, or compile it with --mesh tp={4}",
                 options.plan, mesh.ranks(), mesh.ranks() == 1 ? "" : "s",
                 mesh.text(), options.ranks);
}

Error Trainer::checkOutputs() const {
  if (options.dumpOutputs.empty())
    return Error::success();
  if (!plan->outputs() || plan->outputs()->size() == 0)
    return failure("{0}: has no outputs for --dump-outputs: compile it with "
                   "--outputs gradients,logits",
                   options.plan);
  return Error::success();
}

Error Trainer::prepare() {
  if (!isStandardOutputOpen())
    return failure("standard output is closed: progress cannot be shown; send "
                   "it to a file or to /dev/null");
  if (Error error = checkLauncher())
    return error;
  if (Error error = checkFiles(options))
    return error;
  Expected<LoadedPlan> loaded = readPlanFile(options.plan);
  if (!loaded)
    return loaded.takeError();
  plan = std::move(*loaded);
  if (Error error = checkRanks())
    return error;
  if (Error error = checkHostCpu(plan.get()))
    return prefixed(options.plan, std::move(error));
  if (Error error = checkOutputs())
    return error;
  ExecutorOptions executorOptions;
  executorOptions.trace = !options.trace.empty();
  auto created = Executor::create(plan.get(), executorOptions);
  if (!created)
    return prefixed(options.plan, created.takeError());
  executor = std::move(*created);
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
  if (plan->vocab() == 0)
    return Error::success(); // a graph without tokens
  if (options.data.empty())
    return failure("no tokens to train on: give --data FILE");
  auto opened = TokenData::open(
      options.data, options.dataType,
      {plan->batch(), plan->seq(), plan->vocab(), state.step, state.samples});
  if (!opened)
    return opened.takeError();
  data = std::move(*opened);
  std::string name = sys::path::filename(options.data).str();
  std::string mark = contentMark(options.data);
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
  char *input = executor->input();
  if (data)
    if (Error error = data->fill(
            state.step, reinterpret_cast<int32_t *>(input + inputIdsOffset()),
            reinterpret_cast<int32_t *>(
                input + inputLabelsOffset(plan->batch(), plan->seq()))))
      return error;
  StepInputs inputs;
  inputs.learningRate = float(options.learningRate);
  inputs.seed = int64_t(state.seed);
  inputs.step = state.step + 1;
  StepResult result = executor->runStep(inputs);
  std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - begin;
  double tokens = double(plan->batch()) * double(plan->seq());
  records.push_back({state.step + 1, result.loss, result.gradNorm,
                     result.labels, passed.count(), tokens / passed.count()});
  progress.show(records.back());
  if (!std::isfinite(result.loss) && !records.back().hasNoLabels())
    return failure("loss of step {0} is {1}: training stopped{2}",
                   state.step + 1, std::isnan(result.loss) ? "NaN" : "infinite",
                   folder ? ", the last checkpoint stays as it is" : "");
  ++state.step;
  state.samples += plan->batch();
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
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  bool dumped = options.dumpOutputs.empty();
  while (state.step < options.steps) {
    if (Error error = oneStep())
      return error;
    if (!dumped)
      if (Error error = dumpOutputs(*executor, options.dumpOutputs))
        return error;
    dumped = true;
    if (interrupted)
      break;
    if (options.saveEvery && state.step % options.saveEvery == 0)
      if (Error error = save())
        return error;
  }
  if (Error error = save())
    return error;
  if (interrupted && state.step < options.steps)
    return failure("interrupted after step {0}{1}", state.step,
                   folder ? ", which is saved" : "");
  return Error::success();
}

Error Trainer::writeFiles() {
  if (!options.report.empty())
    if (Error error = writeReport(options.report, plan.get(), records))
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
  if (Error error = openData())
    return error;
  if (folder)
    if (Error error = folder->begin())
      return error;
  for (const std::string &text : notes)
    note(text);
  Error failed = loop();
  progress.finish();
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

Error train(const Options &options) { return Trainer(options).run(); }

} // namespace colrow::tprun
