// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run does must be decided for all of its processes alike.

#include "SameOptions.h"
#include "Agreement.h"
#include "Interrupt.h"
#include "colrow/runtime/Job/JointFile.h"
#include "colrow/runtime/Support/Errors.h"

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

static Common given(StringRef option, bool is) {
  return {option.str(), is ? "given" : "not given"};
}

/// Of all verbs.
static std::vector<Common> ofAnyRun(const RunOptions &options) {
  return {
      {"--seed", options.seed ? std::to_string(*options.seed) : ""},
      given("--weights", !options.weights.empty()),
      given("--accept-changes", options.acceptChanges),
      given("--allow-mixed-cpus", options.allowMixedCpus),
      given("--split-last-axis", options.splitLastAxis),
  };
}

Error compareOptions(Job &job, const Options &options) {
  std::vector<Common> all = ofAnyRun(options);
  append_range(all, std::vector<Common>{
                        {"--steps", std::to_string(options.steps)},
                        {"--lr", formatv("{0:e17}", options.learningRate)},
                        {"--save-every", std::to_string(options.saveEvery)},
                        given("--resume", !options.resume.empty()),
                        given("--save", !options.save.empty()),
                        given("--overwrite", options.overwrite),
                        given("--data", !options.data.empty()),
                        given("--trace", !options.trace.empty()),
                        given("--dump-outputs", !options.dumpOutputs.empty()),
                    });
  return compare(job, all);
}

Error compareOptions(Job &job, const FunctionOptions &options) {
  std::vector<Common> all = ofAnyRun(options);
  all.push_back({"--program", options.program});
  all.push_back(given("--inputs", !options.inputs.empty()));
  return compare(job, all);
}

static Error compareFile(Job &job, StringRef option, StringRef path) {
  if (path.empty()) // of all processes alike
    return Error::success();
  // A file for a moment: a signal ends the run when that is gone.
  catchInterrupts();
  Error error = JointFile::check(job, path);
  releaseInterrupts();
  return error ? prefixed(option, std::move(error)) : Error::success();
}

Error compareFiles(Job &job, const Options &options) {
  if (Error error = compareFile(job, "--trace", options.trace))
    return error;
  return compareFile(job, "--dump-outputs", options.dumpOutputs);
}

Error compareFiles(Job &job, const FunctionOptions &options) {
  return compareFile(job, "--outputs", options.outputs);
}

} // namespace colrow::tprun
