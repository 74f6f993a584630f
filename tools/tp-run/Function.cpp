// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs from a file, one run, outputs to a file: no optimizer and no steps.

#include "Function.h"
#include "Agreement.h"
#include "Files.h"
#include "Interrupt.h"
#include "SameOptions.h"
#include "Session.h"
#include "Weights.h"
#include "colrow/runtime/Checkpoint/Checkpoint.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/ShownText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

/// The name that is meant: the one given, or the plan's only one.
static Expected<std::string> chooseProgram(const FunctionOptions &options,
                                           const plan::Plan &plan) {
  if (!options.program.empty())
    return options.program;
  std::vector<std::string> names;
  if (plan.programs())
    for (const plan::Program *program : *plan.programs()) {
      std::string name = textOf(program->name()).str();
      if (!is_contained(names, name))
        names.push_back(std::move(name));
    }
  if (names.size() == 1)
    return names.front();
  return failure("{0}: has {1} programs{2}{3}: say which with --program",
                 options.plan, names.size(), names.empty() ? "" : ": ",
                 join(names, ", "));
}

/// Parameters, from where the options say.
static Error setParameters(const FunctionOptions &options, Executor &executor) {
  const plan::Plan &plan = executor.plan();
  if (!plan.parameters() || plan.parameters()->size() == 0)
    return Error::success();
  if (options.weights.empty() && !options.seed)
    return failure("{0}: has parameters: give --weights DIR or --seed N",
                   options.plan);
  initializeParameters(executor, options.seed.value_or(0),
                       /*onlyWithoutSources=*/!options.weights.empty());
  if (options.weights.empty())
    return Error::success();
  auto notes = loadWeights(executor, options);
  if (!notes)
    return notes.takeError();
  for (const std::string &note : *notes)
    if (executor.job().isFirst())
      errs() << "tp-run: note: " << shownText(note) << "\n";
  return Error::success();
}

static Error setInputs(const FunctionOptions &options, Executor &executor,
                       LoadedProgram &program) {
  if (program.tables().inputs().empty())
    return Error::success();
  if (options.inputs.empty())
    return failure("{0}: program {1} has inputs: give --inputs "
                   "FILE.safetensors",
                   options.plan, program.tables().name());
  if (!StringRef(options.inputs).ends_with(".safetensors"))
    return failure("--inputs {0}: wanted a .safetensors file with a tensor for "
                   "each input",
                   options.inputs);
  auto data =
      InputData::open(options.inputs, TokenType::automatic, program.tables());
  if (!data)
    return data.takeError();
  if ((*data)->steps() != 1)
    return failure("{0}: holds inputs for {1} runs, wanted 1", options.inputs,
                   (*data)->steps());
  return Feed(executor, program, std::move(*data)).set(0);
}

static Error runOnce(const FunctionOptions &options, Processes &processes) {
  Job &job = processes.job();
  if (Error error = checkFiles(options, job.processes()))
    return error;
  if (Error error = compareOptions(job, options))
    return error;
  Expected<Session> session =
      Session::start(options, processes, /*trace=*/false);
  if (!session)
    return session.takeError();
  Executor &executor = *session->executor;
  Expected<std::string> name = chooseProgram(options, executor.plan());
  if (!name)
    return name.takeError();
  Expected<LoadedProgram *> program = session->open(options, *name);
  if (!program)
    return program.takeError();
  std::vector<Programs::Leaving> outputs = (*program)->tables().outputs();
  if (outputs.empty())
    return failure("{0}: program {1} has no outputs", options.plan, *name);
  if (Error error = compareFiles(job, options))
    return error;
  if (Error error = setParameters(options, executor))
    return error;
  // No process enters a collective that another does not come to.
  if (Error error = job.agree(setInputs(options, executor, **program)))
    return error;
  StepInputs step;
  step.seed = int64_t(options.seed.value_or(0));
  executor.run(**program, step);
  // Everywhere before any process makes the file, which is short work.
  catchInterrupts();
  if (Error error = job.agree(Error::success()))
    return error;
  return writeOutputs(executor, outputs, options.outputs);
}

Error run(const FunctionOptions &options, Processes &processes) {
  return finish(processes.job(), runOnce(options, processes));
}

} // namespace colrow::tprun
