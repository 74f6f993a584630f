// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of a model folder, and what about it differs from the plan.

#include "Weights.h"
#include "Agreement.h"
#include "colrow/runtime/Checkpoint/Checkpoint.h"
#include "colrow/runtime/Checkpoint/ModelConfig.h"
#include "colrow/runtime/Support/Errors.h"

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

Expected<std::vector<std::string>> loadWeights(Executor &executor,
                                               const RunOptions &options) {
  std::vector<std::string> notes;
  StringRef folder = options.weights;
  auto differences = configDifferences(executor.plan(), folder);
  if (!differences)
    return differences.takeError();
  if (!differences->empty()) {
    std::string text = firstOf(*differences, "; ");
    if (!options.acceptChanges)
      return failure("{0}: is another model: {1}; compile the plan from this "
                     "folder, or add --accept-changes",
                     folder, text);
    notes.push_back(formatv("{0}: is another model: {1}", folder, text));
  }
  Expected<ModelFiles> files = ModelFiles::open(folder);
  if (!files)
    return files.takeError();
  if (Error error = compare(
          executor.job(), {{"the contents of --weights",
                            files->mark([&] { executor.job().progress(); })}}))
    return std::move(error);
  auto loaded =
      loadParameters(executor, *files, Holding::model, FileOrigin::model);
  if (!loaded)
    return loaded.takeError();
  if (!loaded->missing.empty())
    notes.push_back(formatv("{0}: does not hold {1}: these start from initial "
                            "values of seed {2}",
                            folder, firstOf(loaded->missing),
                            options.seed.value_or(0)));
  if (!loaded->unused.empty())
    notes.push_back(formatv("{0}: holds tensors that the plan does not use: "
                            "{1}",
                            folder, firstOf(loaded->unused)));
  return notes;
}

} // namespace colrow::tprun
