// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options, their help, and what must go together.

#include "Options.h"
#include "CommandLine.h"
#include "colrow/runtime/Job/Launch.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace colrow::tprun {

namespace {

cl::SubCommand train("train", "Train a model with a compiled step");
cl::SubCommand function("function", "Run a program of a plan once");

cl::OptionCategory start("Start (one of these)");
cl::OptionCategory once("Function");
cl::OptionCategory both("Processes");
cl::OptionCategory work("Training");
cl::OptionCategory keep("Writing: checkpoints");
cl::OptionCategory look("Writing: what was done");

cl::opt<std::string> plan(cl::Positional, cl::desc("<step.plan>"), cl::init(""),
                          cl::sub(train), cl::sub(function));

cl::opt<std::string>
    weights("weights", cl::value_desc("DIR"), cl::cat(start), cl::sub(train),
            cl::sub(function),
            cl::desc("Start from the weights of a Hugging Face folder"));
cl::opt<std::string>
    seed("seed", cl::value_desc("N"), cl::cat(start), cl::sub(train),
         cl::sub(function),
         cl::desc("Start from random weights; equal for every mesh. Beside "
                  "--weights it seeds dropout only (default 0)"));
cl::opt<std::string> resume(
    "resume", cl::value_desc("DIR"), cl::cat(start), cl::sub(train),
    cl::desc("Go on from the checkpoint that --save left: weights, optimizer "
             "state, step, place in the data and seed"));
cl::opt<bool> acceptChanges(
    "accept-changes", cl::cat(start), cl::sub(train), cl::sub(function),
    cl::desc("Start although the plan's model or optimizer numbers are not "
             "those of the folder; says what differs"));

cl::opt<std::string> data(
    "data", cl::value_desc("FILE"), cl::cat(work), cl::sub(train),
    cl::desc("Inputs: .safetensors with a tensor [steps, ...] or [rows, ...] "
             "for each; tokens: .bin with flat integers; any other file as "
             "bytes"));
cl::opt<std::string>
    dataType("data-dtype", cl::value_desc("u16|u32"), cl::cat(work),
             cl::sub(train),
             cl::desc("Integers of a .bin file (default: u16, or u32 for a "
                      "vocabulary above 65536)"));
cl::opt<std::string>
    steps("steps", cl::value_desc("K"), cl::cat(work), cl::sub(train),
          cl::desc("Steps in all, those before a --resume included. 0 with "
                   "--save writes the initial weights"));
cl::opt<std::string> learningRate("lr", cl::value_desc("X"), cl::init("0.001"),
                                  cl::cat(work), cl::sub(train),
                                  cl::desc("Learning rate (default 0.001)"));
cl::opt<std::string>
    processes("n", cl::value_desc("P"), cl::cat(both), cl::sub(train),
              cl::sub(function),
              cl::desc("Start P processes on this machine, which share the "
                       "plan's ranks evenly (default: one, whose threads are "
                       "the ranks). mpirun, srun and torchrun start them "
                       "themselves"));
cl::opt<std::string> launcher(
    "launcher", cl::value_desc("NAME"), cl::cat(both), cl::sub(train),
    cl::sub(function),
    cl::desc("Who has started this process: openmpi, mpich, mvapich, pmix, "
             "srun, torchrun, env (RANK and WORLD_SIZE) or threads "
             "(nobody); default: as the environment says"));
cl::opt<std::string>
    rendezvous("rendezvous", cl::value_desc("HOST:PORT"), cl::cat(both),
               cl::sub(train), cl::sub(function),
               cl::desc("Where processes of several launches meet (default: "
                        "MASTER_ADDR and MASTER_PORT)"));
cl::opt<bool> trustNetwork(
    "trust-network", cl::cat(both), cl::sub(train), cl::sub(function),
    cl::desc("Let processes of other machines join without COLROW_TOKEN"));
cl::opt<bool> allowMixedCpus(
    "allow-mixed-cpus", cl::cat(both), cl::sub(train), cl::sub(function),
    cl::desc("Run although libraries compute in other ways on some of the "
             "machines; results then depend on which rank runs where"));
cl::opt<bool> splitLastAxis(
    "split-last-axis", cl::cat(both), cl::sub(train), cl::sub(function),
    cl::desc("Let ranks of the last mesh axis be on different machines: its "
             "collectives then wait for the network"));
cl::opt<std::string>
    limit("limit", cl::value_desc("SECONDS"), cl::init("60"), cl::cat(both),
          cl::sub(train), cl::sub(function),
          cl::desc("End the run when a process gives no sign, or does not get "
                   "on while others wait for it, for so long (default 60)"));

cl::opt<std::string>
    program("program", cl::value_desc("NAME"), cl::cat(once), cl::sub(function),
            cl::desc("The program to run, where the plan has several"));
cl::opt<std::string> inputs(
    "inputs", cl::value_desc("FILE"), cl::cat(once), cl::sub(function),
    cl::desc("Inputs as .safetensors, each under its name; missing rows of the "
             "batch are padded"));
cl::opt<std::string>
    outputs("outputs", cl::value_desc("FILE"), cl::cat(once), cl::sub(function),
            cl::desc("Where all outputs are written, whole, as .safetensors"));

cl::opt<std::string>
    save("save", cl::value_desc("DIR"), cl::cat(keep), cl::sub(train),
         cl::desc("Save weights (model.safetensors, for Hugging Face too) and "
                  "optimizer state when training ends"));
cl::opt<std::string> saveEvery("save-every", cl::value_desc("K"), cl::cat(keep),
                               cl::sub(train),
                               cl::desc("Save after every K steps as well"));
cl::opt<bool> overwrite(
    "overwrite", cl::cat(keep), cl::sub(train),
    cl::desc("Let --save replace the checkpoint of an earlier run in its "
             "folder; the first save removes that run's steps"));

cl::opt<std::string>
    report("report", cl::value_desc("FILE"), cl::cat(look), cl::sub(train),
           cl::desc("Losses, norms, times, memory and collectives as JSON"));
cl::opt<std::string>
    trace("trace", cl::value_desc("FILE"), cl::cat(look), cl::sub(train),
          cl::desc("Timeline of every instruction, a track a rank, for "
                   "ui.perfetto.dev"));
cl::opt<std::string> dumpOutputs(
    "dump-outputs", cl::value_desc("FILE"), cl::cat(look), cl::sub(train),
    cl::desc("Gradients and logits of the first step as .safetensors; the "
             "plan must be compiled with --outputs gradients,logits"));

cl::extrahelp examples(R"(
EXAMPLES:

  tp-compile gpt2/ --mesh tp=2 --batch 4 --seq 128 -o step.plan
  tp-run train step.plan --weights gpt2/ --data corpus.bin --steps 100 --lr 3e-4
        fine-tunes gpt2/ on two ranks

  tp-run train step.plan --seed 1 --data book.txt --steps 1000 --save out/ --save-every 100
  tp-run train step.plan --resume out/ --data book.txt --steps 2000 --save out/
        trains from random weights, then goes on to step 2000

  tp-run train step.plan --seed 1 --steps 0 --save out/
        writes the initial weights only

  tp-run function logits.plan --weights gpt2/ --inputs in.safetensors --outputs out.safetensors
        runs a program once

Exit status: 0 done, 1 failed or interrupted, 2 wrong usage.
)");

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
