// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters and training state from and to files. A saved step is a folder of
// model.safetensors, config.json, optimizer.safetensors and state.json;
// CheckpointFolder.h says how such folders follow each other.

#ifndef COLROW_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define COLROW_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "colrow/runtime/Checkpoint/ModelFiles.h"
#include "colrow/runtime/Core/Executor.h"
#include "colrow/runtime/Support/FileIdentity.h"

namespace colrow::runtime {

/// model: parameters, under the model's own tensor names, those without sources
/// under their symbols'. optimizer: their state, "<state>.<tensor>".
enum class Holding { model, optimizer };

/// Gives every parameter its initial values on all ranks; optimizer state is
/// zero. With `onlyWithoutSources`, those with sources are left.
void initializeParameters(Executor &executor, uint64_t seed,
                          bool onlyWithoutSources);

/// What is known of files besides the plan.
enum class FileOrigin {
  /// A model folder: a parameter without sources may be missing, and there may
  /// be other tensors.
  model,
  /// Our own checkpoint: exactly the plan's tensors, all values finite, and
  /// none below 0 of which the optimizer takes the root.
  checkpoint
};

struct LoadResult {
  std::vector<std::string> missing; // parameters that keep what they have
  std::vector<std::string> unused;  // tensors, without known buffers
};

/// Reads the parameters of `holding`; each rank reads its own blocks. Errors
/// name a missing tensor, or one of another shape with the shape wanted.
llvm::Expected<LoadResult> loadParameters(Executor &executor,
                                          const ModelFiles &files,
                                          Holding holding, FileOrigin origin);

/// What a run needs to go on, besides weights and optimizer state.
struct TrainingState {
  int64_t step = 0; // steps done
  uint64_t seed = 0;
  int64_t samples = 0;       // sequences taken from the data so far
  std::string data = "";     // name of the data's file, if there was one
  std::string dataMark = ""; // its contentMark()
};

/// A saved step that --resume names, checked as far as headers.
class SavedRun {
public:
  /// `path`: a folder that --save left, or one step of it. Errors: saved from
  /// another mesh, model, layout or length of sequences; with other optimizer
  /// numbers or another config, unless `acceptChanges`.
  static llvm::Expected<SavedRun> open(const Executor &executor,
                                       llvm::StringRef path,
                                       bool acceptChanges = false);

  const TrainingState &state() const { return training; }
  /// Tells another save by its run, step and the contents of its files.
  /// `onBlock`: see contentMark().
  std::string mark(llvm::function_ref<void()> onBlock) const;
  /// Names the run that saved it; empty in old checkpoints.
  llvm::StringRef run() const { return runName; }
  /// The folder that holds its state.json.
  const FileIdentity &place() const { return folder; }
  /// Differences that were accepted, a sentence each.
  llvm::ArrayRef<std::string> notes() const { return remarks; }

  /// Reads weights and optimizer state.
  llvm::Error load(Executor &executor) const;

private:
  TrainingState training;
  std::string runName, modelFile, optimizerFile;
  FileIdentity folder;
  std::vector<std::string> remarks;
};

/// Differences between the config.json of a model folder and the plan's, as
/// configDifferences; none when either has no config.
llvm::Expected<std::vector<std::string>>
configDifferences(const plan::Plan &plan, llvm::StringRef folder);

/// The outputs of a program that are tensors to look at: not its loss, norm and
/// count of labels.
std::vector<Programs::Leaving> tensorOutputs(const Programs &programs);

/// Writes outputs as the last run of their program left them, whole and in
/// their types: gradients under their parameters' tensor names, others under
/// their own.
llvm::Error writeOutputs(Executor &executor,
                         llvm::ArrayRef<Programs::Leaving> outputs,
                         llvm::StringRef path);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_CHECKPOINT_H
