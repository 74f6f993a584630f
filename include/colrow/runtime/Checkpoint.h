// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters from and to files. A checkpoint folder holds
//   step-N/            model.safetensors, config.json, optimizer.safetensors,
//                      state.json: written and synced before it gets its name
//   current            symbolic link to the step that counts
//   model.safetensors, config.json, optimizer.safetensors, state.json
//                      links through current/
// Replacing `current` is one rename, so weights and state change together and
// a kill at any moment leaves the old pair or the new one.

#ifndef COLROW_RUNTIME_CHECKPOINT_H
#define COLROW_RUNTIME_CHECKPOINT_H

#include "colrow/runtime/Executor.h"
#include "colrow/runtime/ModelFiles.h"

namespace colrow::runtime {

/// model: parameters with sources, under the model's own tensor names.
/// optimizer: the rest. State of a parameter is "<state>.<tensor>", a
/// parameter without sources "parameter.<symbol>".
enum class Holding { model, optimizer };

/// Gives every parameter its initial values on all ranks; optimizer state is
/// zero. With `onlyWithoutSources`, those that a model folder holds are left.
void initializeParameters(Executor &executor, uint64_t seed,
                          bool onlyWithoutSources);

/// Reads the parameters of `holding`; each rank reads its own blocks. Errors
/// name a missing tensor, or one of another shape with the shape wanted.
llvm::Error loadParameters(Executor &executor, const ModelFiles &files,
                           Holding holding);

/// What a run needs to go on, besides weights and optimizer state.
struct TrainingState {
  int64_t step = 0; // steps done
  uint64_t seed = 0;
};

/// Loads weights, optimizer state and position from a checkpoint folder. Error
/// when it was saved from another mesh, model or layout.
llvm::Expected<TrainingState> resumeFrom(Executor &executor,
                                         llvm::StringRef folder);

class CheckpointFolder {
public:
  /// Creates the folder if needed, locks it against other runs and removes what
  /// a killed run left. Refuses a folder with weights that are not links of an
  /// earlier save, and a plan whose parameters do not cover their tensors.
  static llvm::Expected<std::unique_ptr<CheckpointFolder>>
  open(llvm::StringRef path, Executor &executor);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder &) = delete;
  CheckpointFolder &operator=(const CheckpointFolder &) = delete;

  /// Saves all; older steps are removed afterwards. On error the last good
  /// step stays. Refuses weights that are not finite.
  llvm::Error save(const TrainingState &state);

private:
  CheckpointFolder(std::string path, Executor &executor, int lock)
      : path(std::move(path)), executor(executor), lock(lock) {}
  llvm::Error writeStep(llvm::StringRef folder, const TrainingState &state);
  llvm::Error linkTop();
  llvm::Error switchTo(llvm::StringRef step);
  void removeOld(llvm::StringRef keep);

  std::string path;
  Executor &executor;
  int lock;
};

/// Writes the plan's outputs, as the last step left them: gradients under
/// their parameters' tensor names, others under their own.
llvm::Error dumpOutputs(Executor &executor, llvm::StringRef path);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_H
