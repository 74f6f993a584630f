// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run of training: its start, in TrainStart.cpp, its steps and its end.

#ifndef COLROW_TOOLS_TPRUN_TRAINER_H
#define COLROW_TOOLS_TPRUN_TRAINER_H

#include "Progress.h"
#include "Report.h"
#include "Session.h"
#include "colrow/runtime/Checkpoint/CheckpointFolder.h"
#include <vector>

namespace colrow::tprun {

class Trainer {
public:
  Trainer(const Options &options, Processes &processes)
      : options(options), processes(processes), job(processes.job()),
        progress(options.steps) {}

  llvm::Error run();

private:
  llvm::Error prepare();
  llvm::Error checkOutputs() const;
  llvm::Error openFolders();
  llvm::Error start();
  llvm::Error openData();
  llvm::Error loop();
  llvm::Error oneStep();
  llvm::Error save();
  llvm::Error writeFiles();
  void note(const std::string &text);

  const Options &options;
  Processes &processes;
  runtime::Job &job;
  Progress progress;
  Session session;
  runtime::Executor *executor = nullptr;
  runtime::LoadedProgram *program = nullptr;
  std::optional<runtime::SavedRun> resumed;
  std::unique_ptr<runtime::CheckpointFolder> folder;
  std::optional<Feed> feed; // none: the step takes no inputs
  runtime::TrainingState state;
  int64_t savedStep = -1;
  bool isStopping = false;      // all have agreed to end after this step
  int64_t rows = 0, tokens = 0; // of a step
  std::vector<StepRecord> records;
  std::vector<std::string> notes; // to be said when nothing is refused
};

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_TRAINER_H
