// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// state.json.

#ifndef COLROW_RUNTIME_CHECKPOINT_STATE_H
#define COLROW_RUNTIME_CHECKPOINT_STATE_H

#include "colrow/runtime/Checkpoint/Checkpoint.h"
#include "colrow/runtime/Support/Folder.h"
#include "llvm/Support/JSON.h"

namespace colrow::runtime {

/// Names of a step's files.
inline constexpr llvm::StringLiteral modelName = "model.safetensors";
inline constexpr llvm::StringLiteral configName = "config.json";
inline constexpr llvm::StringLiteral optimizerName = "optimizer.safetensors";
inline constexpr llvm::StringLiteral stateName = "state.json";
/// A second state.json, to be moved out of the step's folder.
inline constexpr llvm::StringLiteral commitName = "commit.json";

/// Largest state.json that is read, in bytes.
constexpr uint64_t maxStateBytes = 1 << 20;

/// What state.json holds of a run and a plan.
struct SavedState {
  TrainingState training;
  std::string run, folder; // empty in version 1
  std::string mesh, fingerprint;
  int64_t batch = 0, seq = 0; // 0 in version 1
  std::optional<llvm::json::Object> optimizer;
};

/// What a step of training takes: rows of tokens. 0: the plan has no such
/// program, or it has no tokens.
struct TrainingBatch {
  int64_t rows = 0, tokens = 0;
};
TrainingBatch trainingBatch(const plan::Plan &plan);

/// `folder`: name of the step's folder.
std::string stateText(const Executor &executor, const TrainingState &state,
                      llvm::StringRef run, llvm::StringRef folder);

/// Errors name `path`.
llvm::Expected<SavedState> parseState(llvm::StringRef path,
                                      llvm::StringRef text);

/// The plan's optimizer numbers that differ, "beta1 is 0.9, this plan has 0.8".
std::vector<std::string> optimizerDifferences(const SavedState &saved,
                                              const plan::Plan &plan);

/// Hexadecimal digits that no other run has, `runNameSize` of them.
llvm::Expected<std::string> newRunName();
inline constexpr size_t runNameSize = 32;
/// Whether a text has the form of such a name.
bool isRunName(llvm::StringRef text);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_STATE_H
