// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-compile: from a Hugging Face folder or a graph to a plan file.

#include "Summary.h"
#include "colrow/Import/Import.h"
#include "colrow/passes/Passes.h"
#include "colrow/runtime/Plan/PlanFile.h"
#include "colrow/runtime/Support/FileIdentity.h"
#include "colrow/runtime/Support/Json.h"
#include "colrow/runtime/Support/ProgramEnd.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include <csignal>

using namespace mlir;
using namespace colrow;
namespace cl = llvm::cl;

static cl::OptionCategory modelOptions("Model");
static cl::OptionCategory layoutOptions("Partition");
static cl::OptionCategory optimizerOptions("Optimizer (AdamW)");
static cl::OptionCategory outputOptions("Output");

static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("DIR|graph.mlir"),
                                  cl::cat(modelOptions));
static cl::opt<int64_t> batchSize("batch", cl::init(0), cl::value_desc("B"),
                                  cl::desc("sequences of the global batch"),
                                  cl::cat(modelOptions));
static cl::opt<int64_t> seqLength("seq", cl::init(0), cl::value_desc("S"),
                                  cl::desc("tokens a sequence"),
                                  cl::cat(modelOptions));
/// What the command line says of the pipeline's options; it gives their
/// defaults, too.
static passes::StepPipelineOptions stepOptions;
static cl::opt<std::string, true>
    mesh("mesh", cl::location(stepOptions.mesh.getValue()),
         cl::value_desc("tp=N"), cl::desc("mesh axes and sizes (tp=1)"),
         cl::cat(layoutOptions));
static cl::list<std::string, std::vector<std::string>>
    pins("pin", cl::location(*&stepOptions.pins),
         cl::value_desc("PARAM=DIM:AXIS"),
         cl::desc("store a parameter split on dimension DIM over AXIS"),
         cl::cat(layoutOptions));
static cl::opt<std::string, true>
    topology("topology", cl::location(stepOptions.topology.getValue()),
             cl::value_desc("FILE"),
             cl::desc("machine to optimise for; default: threads of one CPU, "
                      "100 GFLOP/s and 20 GB/s a rank, links of 10 GB/s and "
                      "2 us"),
             cl::cat(layoutOptions));
static cl::opt<std::string, true> dtype(
    "dtype", cl::location(stepOptions.dtype.getValue()),
    cl::value_desc("f32|bf16"),
    cl::desc("f32 (default), or bf16: contractions and what lies between them "
             "in bf16; norms, loss, sums, gradients of parameters and the "
             "optimizer stay float32"),
    cl::cat(modelOptions));
static cl::opt<std::string, true> gradReduce(
    "grad-reduce", cl::location(stepOptions.gradReduce.getValue()),
    cl::value_desc("f32|bf16"),
    cl::desc("with --dtype bf16, how gradients of bf16 parameters that ranks "
             "have shares of are summed: moved in f32 (default), or in bf16, "
             "half the bytes, each share rounded before"),
    cl::cat(modelOptions));
static cl::opt<std::string> target("target", cl::init("cpu"),
                                   cl::desc("cpu; others are not there yet"),
                                   cl::cat(outputOptions));
static cl::opt<double, true> beta1("beta1",
                                   cl::location(stepOptions.beta1.getValue()),
                                   cl::desc("decay of the first moment (0.9)"),
                                   cl::cat(optimizerOptions));
static cl::opt<double, true>
    beta2("beta2", cl::location(stepOptions.beta2.getValue()),
          cl::desc("decay of the second moment (0.999)"),
          cl::cat(optimizerOptions));
static cl::opt<double, true> eps("eps",
                                 cl::location(stepOptions.eps.getValue()),
                                 cl::desc("added to the denominator (1e-8)"),
                                 cl::cat(optimizerOptions));
static cl::opt<double, true>
    weightDecay("weight-decay",
                cl::location(stepOptions.weightDecay.getValue()),
                cl::desc("decay of parameters of rank >= 2 (0.01)"),
                cl::cat(optimizerOptions));
static cl::opt<double, true>
    clipGradNorm("clip-grad-norm",
                 cl::location(stepOptions.clipGradNorm.getValue()),
                 cl::desc("largest gradient norm; 0 (default): no clipping"),
                 cl::cat(optimizerOptions));
static cl::list<std::string>
    outputs("outputs", cl::CommaSeparated, cl::value_desc("gradients,logits"),
            cl::desc("values that tp-run --dump-outputs may write"),
            cl::cat(outputOptions));
static cl::opt<std::string> output("o", cl::Required,
                                   cl::value_desc("step.plan"),
                                   cl::desc("plan file to write"),
                                   cl::cat(outputOptions));
static cl::opt<bool>
    function("function",
             cl::desc("train nothing: each function of the graph is for tp-run "
                      "function, with all its results (as tp.forward says it)"),
             cl::cat(outputOptions));
static cl::opt<bool> quiet("quiet", cl::desc("print no summary"),
                           cl::cat(outputOptions));

static constexpr llvm::StringLiteral overview =
    "From a Hugging Face folder, or a graph of tp ops, to a plan that tp-run\n"
    "executes: the whole training step, partitioned over the mesh.\n\n"
    "Examples:\n"
    "  tp-compile gpt2/ --mesh tp=2 --batch 8 --seq 256 -o step.plan\n"
    "  tp-compile graph.mlir --mesh tp=4 --clip-grad-norm 1.0 -o step.plan\n"
    "  tp-compile f.mlir --function -o f.plan\n";

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static llvm::Error checkOptions() {
  if (target != "cpu")
    return fail("--target " + target + ": only cpu is there so far");
  if (stepOptions.dtype != "f32" && stepOptions.dtype != "bf16")
    return fail("--dtype " + dtype.getValue() + ": wanted f32 or bf16");
  if (stepOptions.gradReduce != "f32" && stepOptions.gradReduce != "bf16")
    return fail("--grad-reduce " + gradReduce.getValue() +
                ": wanted f32 or bf16");
  if (stepOptions.gradReduce == "bf16" && stepOptions.dtype != "bf16")
    return fail("--grad-reduce bf16 without --dtype bf16: gradients of float32 "
                "parameters are summed in float32");
  for (const std::string &name : outputs)
    if (name != "gradients" && name != "logits")
      return fail("--outputs " + name + ": wanted gradients, logits");
  if (function && !outputs.empty())
    return fail("--function with --outputs: every result of a function leaves");
  if (function && clipGradNorm > 0)
    return fail("--function with --clip-grad-norm: a function has no "
                "gradients");
  if (function && stepOptions.gradReduce == "bf16")
    return fail("--function with --grad-reduce bf16: a function has no "
                "gradients");
  auto inside = [](double x) { return x >= 0 && x < 1; };
  if (!inside(beta1) || !inside(beta2))
    return fail("--beta1 and --beta2 must lie in [0, 1)");
  auto finite = [](double x) { return x >= 0 && x <= 1e30; };
  if (!(eps > 0) || !finite(eps) || !finite(weightDecay) ||
      !finite(clipGradNorm))
    return fail("--eps must be positive, --weight-decay and --clip-grad-norm "
                "not negative, and all finite");
  return llvm::Error::success();
}

/// Collects diagnostics, so that the first error is one line on stderr.
struct FirstError {
  explicit FirstError(MLIRContext &context)
      : handler(&context, [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              text.empty()) {
            llvm::raw_string_ostream os(text);
            if (!isa<UnknownLoc>(diagnostic.getLocation()))
              printLocation(os, diagnostic.getLocation());
            os << diagnostic.str();
          }
          return success();
        }) {}

  static void printLocation(llvm::raw_ostream &os, Location loc) {
    if (auto file = dyn_cast<FileLineColLoc>(loc))
      os << file.getFilename().getValue() << ':' << file.getLine() << ':'
         << file.getColumn() << ": ";
    else if (auto named = dyn_cast<NameLoc>(loc))
      os << named.getName().getValue() << ": ";
  }

  std::string text;
  ScopedDiagnosticHandler handler;
};

/// True if brackets outside of strings and comments nest deeper than MLIR's
/// parser, which calls itself for each of them, has stack for.
static bool nestsTooDeep(llvm::StringRef text) {
  constexpr unsigned most = 1000;
  for (unsigned depth = 0; !text.empty();) {
    char c = text.front();
    text = text.drop_front();
    if (c == '/' && text.starts_with("/"))
      text = text.drop_until([](char c) { return c == '\n'; });
    else if (c == '-' && text.starts_with(">"))
      text = text.drop_front();
    else if (c == '"')
      while (!text.empty() && !text.consume_front("\""))
        text = text.substr(text.front() == '\\' ? 2 : 1); // or to the end
    else if (llvm::StringRef("([{<").contains(c))
      ++depth;
    else if (depth > 0 && llvm::StringRef(")]}>").contains(c))
      --depth;
    if (depth > most)
      return true;
  }
  return false;
}

static llvm::Expected<OwningOpRef<ModuleOp>> readModel(MLIRContext &context) {
  if (!llvm::StringRef(input).ends_with(".mlir")) {
    if (batchSize < 1 || seqLength < 1)
      return fail("a model folder needs --batch and --seq, both at least 1");
    import::ImportOptions options;
    options.path = input;
    options.batch = batchSize;
    options.seq = seqLength;
    return import::importModel(context, options);
  }
  if (batchSize.getNumOccurrences() || seqLength.getNumOccurrences())
    return fail("--batch and --seq are for model folders; the graph " + input +
                " has shapes of its own");
  FirstError error(context);
  auto text = runtime::readTextFile(input);
  if (!text)
    return text.takeError();
  if (nestsTooDeep(*text))
    return fail(input + ": brackets are nested deeper than 1000 levels");
  auto module = parseSourceString<ModuleOp>(*text, &context, input);
  if (!module)
    return fail(error.text);
  return module;
}

/// Every function is only evaluated.
static void trainNothing(ModuleOp module) {
  for (auto step : module.getOps<func::FuncOp>())
    step->setAttr(tp::getForwardAttrName(), UnitAttr::get(module.getContext()));
}

/// Logits leave the trained step only if asked for: else their result is
/// dropped. What is only evaluated is so for its results.
static llvm::Error chooseResults(ModuleOp module) {
  bool found = false;
  for (auto step : module.getOps<func::FuncOp>()) {
    if (tp::isForwardOnly(step) || !llvm::hasSingleElement(step.getBody()))
      continue; // or no graph, as its verifier will say
    llvm::BitVector drop(step.getNumResults());
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      auto role =
          step.getResultAttrOfType<StringAttr>(i, tp::getRoleAttrName());
      found |= role && role.getValue() == "logits";
      if (!tp::leavesWhole(step, i) &&
          !llvm::is_contained(outputs, role.getValue()))
        drop.set(i);
    }
    step.getBody().front().getTerminator()->eraseOperands(drop);
    (void)step.eraseResults(drop);
  }
  if (!found && llvm::is_contained(outputs, "logits"))
    return fail("--outputs logits: no result of the graph has the role "
                "\"logits\"");
  return llvm::Error::success();
}

/// The plan appears when all else is well: its summary printed, too.
static llvm::Error writePlan(llvm::ArrayRef<uint8_t> table) {
  auto file = runtime::startPlanFile(output, table);
  if (!file)
    return file.takeError();
  if (quiet)
    return (*file)->commit();
  auto topo = stepOptions.topology.empty()
                  ? cost::defaultTopology()
                  : cost::readTopology(stepOptions.topology);
  if (!topo)
    return topo.takeError();
  printSummary(output, *plan::GetPlan(table.data()), *topo, llvm::outs());
  llvm::outs().flush();
  // The program's end says what went wrong.
  return llvm::outs().has_error() ? llvm::Error::success() : (*file)->commit();
}

/// A folder may hold plans of earlier compilations, which are no inputs.
static llvm::Error checkOutput() {
  if (output.empty())
    return fail("-o takes a step.plan, not ''");
  bool isPlan = llvm::StringRef(output).ends_with(".plan") &&
                llvm::sys::fs::is_directory(input);
  return runtime::refuseOverwriting(
      "-o", output,
      {{"--topology", stepOptions.topology},
       {"the model", isPlan ? "" : input.c_str()}});
}

static llvm::Error run() {
  if (llvm::Error e = checkOptions())
    return e;
  if (llvm::Error e = checkOutput())
    return e;
  DialectRegistry registry;
  registry.insert<func::FuncDialect, tp::TPDialect, planir::PlanDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  auto module = readModel(context);
  if (!module)
    return module.takeError();
  if (function)
    trainNothing(**module);
  if (llvm::Error e = chooseResults(**module))
    return e;

  stepOptions.keepGradients = llvm::is_contained(outputs, "gradients");
  std::vector<uint8_t> table;
  PassManager manager(&context);
  // Each phase ends in its own verifier pass.
  manager.enableVerifier(false);
  passes::buildStepPipeline(manager, stepOptions);
  passes::buildToPlanPipeline(manager, {});
  manager.addPass(passes::createPlanWrite(table));
  FirstError error(context);
  if (failed(manager.run(**module)))
    return fail(error.text.empty() ? "the pipeline failed" : error.text);
  return writePlan(table);
}

int main(int argc, char **argv) {
  runtime::guardProgramEnd("tp-compile");
  // A write beyond the file-size limit is an error to report, not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  cl::HideUnrelatedOptions(
      {&modelOptions, &layoutOptions, &optimizerOptions, &outputOptions});
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &llvm::errs()))
    return 2;
  if (llvm::Error e = run()) {
    llvm::errs() << "tp-compile: error: " << llvm::toString(std::move(e))
                 << '\n';
    return 1;
  }
  return 0;
}
