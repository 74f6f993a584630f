// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-import: a Hugging Face folder to a graph of tp ops in text form.

#include "colrow/Import/Import.h"
#include "colrow/runtime/Support/AtomicFile.h"
#include "colrow/runtime/Support/FileIdentity.h"
#include "colrow/runtime/Support/ProgramEnd.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include <csignal>

using namespace llvm;

static cl::OptionCategory category("tp-import");

static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("DIR|config.json"),
                                  cl::cat(category));
static cl::opt<int64_t> batchSize("batch", cl::Required, cl::value_desc("B"),
                                  cl::desc("sequences of the global batch"),
                                  cl::cat(category));
static cl::opt<int64_t> seqLength("seq", cl::Required, cl::value_desc("S"),
                                  cl::desc("tokens a sequence"),
                                  cl::cat(category));
static cl::opt<std::string>
    output("o", cl::init("-"), cl::value_desc("graph.mlir"),
           cl::desc("file to write; - is the standard output (default)"),
           cl::cat(category));
static cl::opt<bool> locations(
    "locations",
    cl::desc("print the module path that each op comes from as its location"),
    cl::cat(category));

static constexpr StringLiteral overview =
    "From a Hugging Face model folder to a graph of tp ops.\n\n"
    "Reads config.json, and the headers of model.safetensors (or its shards)\n"
    "where the folder has them. With config.json alone the graph is for\n"
    "random initial weights.\n\n"
    "Example:\n"
    "  tp-import gpt2/ --batch 8 --seq 256 -o graph.mlir\n";

static Error writeText(StringRef path, StringRef text) {
  if (path != "-")
    return colrow::runtime::writeFileAtomically(path, text);
  std::signal(SIGXFSZ, SIG_IGN);
  outs() << text; // the program's end sees that it arrived
  return Error::success();
}

/// A folder may hold graphs of earlier imports, which are no inputs.
static Error checkOutput() {
  bool isGraph = StringRef(output).ends_with(".mlir");
  return output == "-" || isGraph ? Error::success()
                                  : colrow::runtime::refuseOverwriting(
                                        "-o", output, {{"the model", input}});
}

static Error run() {
  if (Error error = checkOutput())
    return error;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  colrow::import::ImportOptions options;
  options.path = input;
  options.batch = batchSize;
  options.seq = seqLength;
  auto module = colrow::import::importModel(context, options);
  if (!module)
    return module.takeError();
  std::string text;
  raw_string_ostream stream(text);
  (*module)->print(stream, mlir::OpPrintingFlags()
                               .enableDebugInfo(locations, false)
                               .printNameLocAsPrefix());
  return writeText(output, text);
}

int main(int argc, char **argv) {
  colrow::runtime::guardProgramEnd("tp-import");
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &errs()))
    return 2;
  if (Error error = run()) {
    errs() << "tp-import: error: " << toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
