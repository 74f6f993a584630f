// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading of plans, and inputs on their way to the ranks.

#include "Session.h"
#include "Agreement.h"
#include "colrow/runtime/CPU/HostCpu.h"
#include "colrow/runtime/Plan/DType.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <gnu/libc-version.h>

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

/// All that decides how numbers are computed, beside the plan.
static Error compareLibraries(const Executor &executor) {
  Error error =
      compare(executor.job(), {{"what computes", executor.libraries()},
                               {"the C library", gnu_get_libc_version()}});
  if (!error)
    return error;
  return failure("{0}; --allow-mixed-cpus runs nevertheless",
                 toString(std::move(error)));
}

Expected<Session> Session::start(const RunOptions &options,
                                 Processes &processes, bool trace) {
  Session result;
  Expected<LoadedPlan> loaded = readPlanFile(options.plan);
  if (!loaded)
    return loaded.takeError();
  result.plan = std::move(*loaded);
  if (Error error =
          compare(processes.job(),
                  {{"the version of tp-run", COLROW_VERSION},
                   {"the plan", formatv("{0} with contents {1:x16}",
                                        sys::path::filename(options.plan),
                                        result.plan.hash())}}))
    return std::move(error);
  if (Error error = checkHostCpu(result.plan.get()))
    return prefixed(options.plan, std::move(error));
  ExecutorOptions executorOptions;
  executorOptions.trace = trace;
  executorOptions.job = &processes.job();
  executorOptions.monitor = processes.monitor();
  executorOptions.network = processes.network();
  executorOptions.networkOptions.splitLastAxis = options.splitLastAxis;
  auto created = Executor::create(result.plan.get(), executorOptions);
  if (!created)
    return prefixed(options.plan, created.takeError());
  result.executor = std::move(*created);
  if (!options.allowMixedCpus)
    if (Error error = compareLibraries(*result.executor))
      return std::move(error);
  return result;
}

Expected<LoadedProgram *> Session::open(const RunOptions &options,
                                        StringRef name) {
  Expected<LoadedProgram *> program = executor->open(name);
  if (!program)
    return prefixed(options.plan, program.takeError());
  return program;
}

Feed::Feed(Executor &executor, LoadedProgram &program,
           std::unique_ptr<InputData> opened)
    : executor(executor), program(program), data(std::move(opened)) {
  for (const plan::Input *input : data->inputs())
    values.emplace_back(elementsOf(listOf(input->shape())) *
                        elementBytes(input->dtype()));
}

/// Of all values.
static uint64_t hashOf(ArrayRef<std::vector<char>> values) {
  uint64_t hash = 0;
  for (const std::vector<char> &value : values) {
    uint64_t both[] = {hash,
                       xxh3_64bits(StringRef(value.data(), value.size()))};
    hash =
        xxh3_64bits(ArrayRef(reinterpret_cast<uint8_t *>(both), sizeof both));
  }
  return hash;
}

Error Feed::set(int64_t step) {
  Job &job = executor.job();
  for (size_t i = 0; i < values.size(); ++i) {
    if (Error error = data->fill(step, i, values[i].data()))
      return error;
    executor.setInput(program, *data->inputs()[i], values[i].data());
    job.progress();
  }
  if (job.processes() == 1)
    return Error::success();
  // A process without inputs would let the others wait in the step, one with
  // others would spoil it: of files only samples have been compared.
  return compare(job, {{formatv("the input of step {0}", step + 1),
                        formatv("{0:x16}", hashOf(values))}});
}

} // namespace colrow::tprun
