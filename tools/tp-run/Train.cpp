// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan to trained weights. Invariant: all that can be refused is
// refused before the first step.

#include "Train.h"
#include "Agreement.h"
#include "Interrupt.h"
#include "Trainer.h"
#include "Weights.h"
#include "colrow/runtime/Core/Trace.h"
#include "colrow/runtime/Support/Errors.h"
#include <chrono>
#include <cmath>

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

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

/// Both texts, in one line.
static Error both(Error first, Error second) {
  if (!first)
    return second;
  if (!second)
    return first;
  return failure("{0}; {1}", toString(std::move(first)),
                 toString(std::move(second)));
}

/// Each is written whether the other can be or not.
Error Trainer::writeFiles() {
  bool reports = job.isFirst() && !options.report.empty();
  Error error =
      job.settle(reports ? writeReport(options.report, executor->plan(),
                                       program->tables().of(0), records)
                         : Error::success());
  if (options.trace.empty())
    return error;
  Error untraced = job.settle(writeTrace(*executor, options.trace));
  return both(std::move(error), std::move(untraced));
}

Error Trainer::run() {
  if (Error error = prepare())
    return error;
  if (Error error = start())
    return error;
  // Before any process makes a file. What comes before the first step ends it.
  catchInterrupts();
  // No process enters a collective that another does not come to.
  if (Error error = job.agree(openData()))
    return error;
  if (folder)
    if (Error error = folder->begin())
      return error;
  for (const std::string &text : notes)
    note(text);
  Error failed = job.settle(loop());
  progress.finish();
  // What was run is reported, also when training failed, which says it all.
  Error unwritten = writeFiles();
  return both(std::move(failed), std::move(unwritten));
}

Error run(const Options &options, Processes &processes) {
  return finish(processes.job(), Trainer(options, processes).run());
}

} // namespace colrow::tprun
