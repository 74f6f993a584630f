// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proof that a folder is a step that a run saved, and its removal. A step
// is a folder itself, not a link; it holds nothing but regular files of the
// names that a save gives; and its state.json names the run and the folder, or,
// while it is written or removed, its own name does. A run's name is random:
// nothing else has it but copies, which have other names.

#ifndef COLROW_RUNTIME_CHECKPOINT_OWNSTEPS_H
#define COLROW_RUNTIME_CHECKPOINT_OWNSTEPS_H

#include "State.h"

namespace colrow::runtime {

/// Whether a name is one that a save gives to folders of steps, finished or
/// not. `current` is one where a copy made a folder of the link.
bool isStepName(llvm::StringRef name);

/// Names of what a run leaves in its folder for a moment: a link that becomes
/// `current`, one that shows that there are links, a file that all processes
/// are to see.
std::string newCurrentName(llvm::StringRef run);
std::string trialLinkName(llvm::StringRef run);
std::string sharedFileName(llvm::StringRef run);

/// What the second one leads to.
inline constexpr llvm::StringLiteral trialTarget = "link";

/// Removes those of `names`, entries of `folder`, that a run has left which was
/// killed: whichever, as no other can live while this one holds the folder.
void removeLeftovers(const Folder &folder, llvm::ArrayRef<std::string> names);

/// A name for a step that `run` writes or removes; no entry has it yet.
std::string unfinishedName(const Folder &folder, llvm::StringRef run);

/// Removes entry `name` of `folder` if it is a step of one of `runs`, of which
/// the first is the one that removes it. Error: why it stays.
llvm::Error removeStep(const Folder &folder, llvm::StringRef name,
                       llvm::ArrayRef<std::string> runs);

/// Removes a step's files from an open folder, and then the folder, which is
/// entry `name` of `parent`: one that this process has made.
llvm::Error discardStep(const Folder &parent, llvm::StringRef name,
                        const Folder &step);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CHECKPOINT_OWNSTEPS_H
