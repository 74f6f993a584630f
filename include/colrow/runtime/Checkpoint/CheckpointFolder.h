// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folder of --save. With links:
//   step-N/            the files of a step, written and synced before the
//   folder
//                      gets its name
//   current            link to the step that counts; replacing it is one rename
//   model.safetensors, config.json, optimizer.safetensors, state.json
//                      links through current/
// Where the file system has no links, or a copy made files of them:
//   state.json         names the step that counts, and its folder
//   model.safetensors, config.json, optimizer.safetensors
//                      moved out of that folder; what is still there counts
// So weights and state change together, and a kill at any moment leaves the old
// pair or the new one. All that is removed is proved to be this run's own: see
// OwnSteps.h.

#ifndef COLROW_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
#define COLROW_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H

#include "colrow/runtime/Checkpoint/Checkpoint.h"
#include "colrow/runtime/Support/Folder.h"
#include "llvm/ADT/StringSet.h"
#include <functional>

namespace colrow::runtime {

struct SaveOptions {
  /// What the run goes on from, if anything.
  const SavedRun *resumed = nullptr;
  /// An earlier run's checkpoint may be replaced.
  bool overwrite = false;
  /// Is told what stays in the folder though it looks like a step, and why.
  std::function<void(const std::string &)> note;
};

/// All processes of a job make the same calls. The first one makes, renames and
/// removes; all of them write tensors.
class CheckpointFolder {
public:
  /// Looks, and changes nothing; a folder that is there is locked against other
  /// runs. Refuses one that holds what no --save left, or the checkpoint of an
  /// earlier run, unless this one goes on from it or may overwrite it; and a
  /// plan whose parameters do not cover their tensors.
  static llvm::Expected<std::unique_ptr<CheckpointFolder>>
  open(llvm::StringRef path, Executor &executor, SaveOptions options = {});
  /// Removes the folders that begin() made, if nothing was saved.
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder &) = delete;
  CheckpointFolder &operator=(const CheckpointFolder &) = delete;

  /// Whether the run goes on from what this folder holds.
  bool goesOn() const { return isContinued; }

  /// Makes the folder if needed, and finds out how steps can be kept in it and
  /// whether all processes see it, so that a save after hours of training does
  /// not fail for that.
  llvm::Error begin();

  /// Saves all; this run's older steps are removed afterwards. On error the
  /// last good step stays. Refuses weights that are not finite.
  llvm::Error save(const TrainingState &state);

private:
  enum class Form { unknown, links, files };

  CheckpointFolder(std::string path, Executor &executor, SaveOptions options);
  llvm::Error look();
  llvm::Error prepare();
  llvm::Error share();
  llvm::Error lock();
  llvm::Error inspect();
  llvm::Error inspectLinks();
  llvm::Error inspectFiles();
  llvm::Error checkEarlier(llvm::StringRef step, bool isHere);
  llvm::Error checkConfig();
  llvm::Error makeFolders();
  llvm::Error tryLinks();
  llvm::Error foreign(llvm::StringRef name) const;
  llvm::Error writeTexts(const Folder &to, llvm::StringRef name,
                         const TrainingState &state) const;
  llvm::Error writeTensorFiles(const Folder &to) const;
  llvm::Error writeStep(const Folder &to, llvm::StringRef name,
                        const TrainingState &state) const;
  llvm::Error saveAsFirst(const TrainingState &state);
  llvm::Error saveAsOther();
  llvm::Error count(llvm::StringRef step, llvm::StringRef temporary);
  llvm::Error checkRunning() const;
  llvm::Error linkTop() const;
  llvm::Error switchTo(llvm::StringRef step) const;
  llvm::Error moveUp(llvm::StringRef step) const;
  void removeOld(llvm::StringRef keep);

  std::string path, run;
  std::string
      replacedRun; // the earlier one that is overwritten, if it is named
  Executor &executor;
  Job &job;
  SaveOptions options;
  std::optional<Folder> folder;  // nothing: not there yet
  std::vector<std::string> made; // folders of begin(), outermost first
  Form form = Form::unknown;
  bool isContinued = false, isReady = false, hasSaved = false;
  bool replacesConfig = false; // form files: the one that is there is not ours
  llvm::StringSet<> told;      // entries that a note was about
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
