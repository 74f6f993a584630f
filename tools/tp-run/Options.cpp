// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of options, and what must go together.

#include "Options.h"
#include "CommandLine.h"
#include "Flags.h"
#include "colrow/runtime/Job/Launch.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace colrow::tprun {

using namespace flags;

namespace {

bool checkStart() {
  if (plan.empty())
    return complain("no plan given: tp-run train step.plan ...");
  if (!weights.empty() && !resume.empty())
    return complain("--weights and --resume exclude each other");
  if (weights.empty() && resume.empty() && !seed.getNumOccurrences())
    return complain("where does training start? Give --weights DIR, --seed N "
                    "or --resume DIR");
  return true;
}

bool parseProcesses(ProcessOptions &options) {
  if (!parseWhole<unsigned>(processes, 1, options.processes))
    return false;
  if (options.processes > runtime::maxProcesses)
    return complain("-n takes at most " + Twine(runtime::maxProcesses) +
                    " processes, not " + processes);
  if (StringRef(limit).getAsDouble(options.limit) ||
      !(options.limit >= 0.1 && options.limit <= 1e6))
    return complain("--limit takes seconds from 0.1 to 1000000, not '" + limit +
                    "'");
  if (options.processes > 1 && !launcher.empty())
    return complain("-n " + processes + " starts processes and --launcher " +
                    launcher +
                    " says who has started this one: give one of "
                    "them");
  options.launcher = launcher;
  options.rendezvous = rendezvous;
  options.trustNetwork = trustNetwork;
  options.allowMixedCpus = allowMixedCpus;
  options.splitLastAxis = splitLastAxis;
  return true;
}

/// What all verbs take.
bool parseRun(RunOptions &options) {
  uint64_t seedValue = 0;
  if (!parseWhole<uint64_t>(seed, 0, seedValue) || !parseProcesses(options))
    return false;
  if (seed.getNumOccurrences())
    options.seed = seedValue;
  options.plan = plan;
  options.weights = weights;
  options.acceptChanges = acceptChanges;
  return true;
}

bool parseNumbers(Options &options) {
  if (!parseWhole<int64_t>(steps, 0, options.steps) ||
      !parseWhole<int64_t>(saveEvery, 1, options.saveEvery))
    return false;
  if (StringRef(learningRate).getAsDouble(options.learningRate) ||
      !std::isfinite(float(options.learningRate)) || options.learningRate < 0)
    return complain("--lr takes a finite float32 number from 0 on, not '" +
                    learningRate + "'");
  return true;
}

/// An empty path is a mistake, not a missing option.
bool checkPaths() {
  for (const cl::opt<std::string> *option :
       {&weights, &resume, &data, &dataType, &save, &report, &trace,
        &dumpOutputs, &program, &inputs, &outputs, &launcher, &rendezvous})
    if (option->getNumOccurrences() && option->empty())
      return complain("--" + option->ArgStr + " takes a " + option->ValueStr +
                      ", not ''");
  return true;
}

bool checkWork() {
  if (!checkPaths())
    return false;
  if (!steps.getNumOccurrences())
    return complain("give the number of steps: --steps K");
  if (dataType.getNumOccurrences() && dataType != "u16" && dataType != "u32")
    return complain("--data-dtype is u16 or u32, not '" + dataType + "'");
  if (saveEvery.getNumOccurrences() && save.empty())
    return complain("--save-every needs --save DIR");
  if (overwrite && save.empty())
    return complain("--overwrite needs --save DIR");
  if (acceptChanges && resume.empty() && weights.empty())
    return complain("--accept-changes needs --resume DIR or --weights DIR");
  return true;
}

std::optional<Options> trainOptions() {
  Options options;
  if (!checkStart() || !checkWork() || !parseRun(options) ||
      !parseNumbers(options))
    return std::nullopt;
  options.resume = resume;
  options.data = data;
  if (!dataType.empty())
    options.dataType =
        dataType == "u32" ? runtime::TokenType::u32 : runtime::TokenType::u16;
  options.save = save;
  options.overwrite = overwrite;
  options.report = report;
  options.trace = trace;
  options.dumpOutputs = dumpOutputs;
  return options;
}

std::optional<FunctionOptions> functionOptions() {
  FunctionOptions options;
  if (!checkPaths() || !parseRun(options))
    return std::nullopt;
  bool complete = plan.empty()
                      ? complain("no plan given: tp-run function step.plan ...")
                  : outputs.empty()
                      ? complain("where do the outputs go? Give --outputs FILE")
                  : acceptChanges && weights.empty()
                      ? complain("--accept-changes needs --weights DIR")
                      : true;
  if (!complete)
    return std::nullopt;
  options.program = program;
  options.inputs = inputs;
  options.outputs = outputs;
  return options;
}

} // namespace

std::optional<std::variant<Options, FunctionOptions>>
parseOptions(int argc, char **argv) {
  cl::HideUnrelatedOptions({&start, &work, &keep, &look, &both}, train);
  cl::HideUnrelatedOptions({&start, &once, &both}, function);
  cl::HideUnrelatedOptions({&start, &work, &keep, &look});
  cl::SetVersionPrinter(
      [](raw_ostream &out) { out << "tp-run " COLROW_VERSION "\n"; });
  StringRef verb = argc > 1 ? argv[1] : "";
  for (cl::SubCommand *known : {&train, &function})
    if (verb == known->getName() && !checkNames(*known, argc, argv))
      return std::nullopt;
  std::string complaint;
  raw_string_ostream errors(complaint);
  const char *overview =
      "tp-run runs what tp-compile made (tp-run train --help lists the "
      "options of training)\n";
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &errors)) {
    complain(firstLine(complaint) + " (see tp-run " +
             (function ? "function" : "train") + " --help)");
    return std::nullopt;
  }
  if (train)
    if (std::optional<Options> options = trainOptions())
      return *options;
  if (function)
    if (std::optional<FunctionOptions> options = functionOptions())
      return *options;
  if (!train && !function)
    complain("say what to do: tp-run train step.plan ... (see tp-run --help)");
  return std::nullopt;
}

} // namespace colrow::tprun
