// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan to trained weights. Invariant: all that can be refused is
// refused before the first step.

#include "Train.h"
#include "Progress.h"
#include "Report.h"
#include "colrow/runtime/Checkpoint.h"
#include "colrow/runtime/Errors.h"
#include "colrow/runtime/HostCpu.h"
#include "colrow/runtime/ProgramEnd.h"
#include "colrow/runtime/Trace.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
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
  Error checkFiles() const;
  Error start();
  Error openData();
  Error loop();
  Error oneStep();
  Error save();
  Error writeFiles();

  const Options &options;
  Progress progress;
  LoadedPlan plan;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<CheckpointFolder> folder;
  std::unique_ptr<TokenData> data;
  TrainingState state;
  int64_t savedStep = -1;
  std::vector<StepRecord> records;
};

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

/// What the run will write is found to be impossible before it starts, not
/// after hours of training.
Error Trainer::checkFiles() const {
  std::vector<std::pair<StringRef, StringRef>> taken = {
      {"the plan", options.plan}, {"--data", options.data}};
  for (auto [option, path] :
       {std::pair<StringRef, StringRef>("--report", options.report),
        {"--trace", options.trace},
        {"--dump-outputs", options.dumpOutputs}}) {
    if (path.empty())
      continue;
    for (auto [other, otherPath] : taken)
      if (path == otherPath)
        return failure("{0} {1}: is also {2}; give it a name of its own",
                       option, path, other);
    taken.push_back({option, path});
    StringRef parent = sys::path::parent_path(path);
    if (sys::fs::is_directory(path))
      return failure("{0} {1}: is a folder, wanted a file to write", option,
                     path);
    if (std::error_code code = sys::fs::access(parent.empty() ? "." : parent,
                                               sys::fs::AccessMode::Write))
      return failure("{0} {1}: cannot write there: {2}", option, path,
                     code.message());
  }
  return Error::success();
}

Error Trainer::prepare() {
  if (!isStandardOutputOpen())
    return failure("standard output is closed: progress cannot be shown; send "
                   "it to a file or to /dev/null");
  if (Error error = checkFiles())
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
  if (options.save.empty())
    return Error::success();
  auto opened = CheckpointFolder::open(options.save, *executor);
  if (!opened)
    return opened.takeError();
  folder = std::move(*opened);
  return Error::success();
}

/// Weights, optimizer state, step and seed.
Error Trainer::start() {
  if (!options.resume.empty()) {
    Expected<TrainingState> resumed = resumeFrom(*executor, options.resume);
    if (!resumed)
      return resumed.takeError();
    state = *resumed;
    if (options.seed && *options.seed != state.seed)
      return failure("{0}: was trained with seed {1}, not {2}: leave out "
                     "--seed",
                     options.resume, state.seed, *options.seed);
    if (state.step > options.steps)
      return failure("{0}: has done {1} steps already, --steps asks for {2} in "
                     "all",
                     options.resume, state.step, options.steps);
    savedStep = options.resume == options.save ? state.step : -1;
    return Error::success();
  }
  state.seed = options.seed.value_or(0);
  initializeParameters(*executor, state.seed,
                       /*onlyWithoutSources=*/!options.weights.empty());
  if (options.weights.empty())
    return Error::success();
  Expected<ModelFiles> files = ModelFiles::open(options.weights);
  if (!files)
    return files.takeError();
  return loadParameters(*executor, *files, Holding::model);
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
  auto opened = TokenData::open(options.data, options.dataType,
                                {plan->batch(), plan->seq(), plan->vocab()});
  if (!opened)
    return opened.takeError();
  data = std::move(*opened);
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
  Error failed = loop();
  progress.finish();
  // What was run is reported, also when training failed, which says it all.
  Error unwritten = writeFiles();
  if (!failed)
    return unwritten;
  consumeError(std::move(unwritten));
  return failed;
}

} // namespace

Error train(const Options &options) { return Trainer(options).run(); }

} // namespace colrow::tprun
