// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options and their help.

#include "Flags.h"

using namespace llvm;

namespace colrow::tprun::flags {

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
    cl::desc("Who has started this process: openmpi, mpich, mvapich, srun "
             "(pmix, pmi2: with this --mpi), torchrun, env (RANK and "
             "WORLD_SIZE) or threads (nobody); default: as the environment "
             "says"));
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

static cl::extrahelp examples(R"(
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

} // namespace colrow::tprun::flags
