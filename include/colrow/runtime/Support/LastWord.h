// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line says why a run fails, whoever of its processes writes it. Those of
// tp-run -n, and tp-run -n itself, share one right to write it, from before
// they meet until after they have left each other; those of other launchers
// share one from when they share memory.

#ifndef COLROW_RUNTIME_SUPPORT_LASTWORD_H
#define COLROW_RUNTIME_SUPPORT_LASTWORD_H

#include "colrow/runtime/Support/FileDescriptor.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <cstdint>

namespace colrow::runtime {

/// A launcher's: makes the right. The descriptor is passed on to its processes.
llvm::Expected<FileDescriptor> makeLastWord();

/// From now on takeLastWord() asks there. Error: the descriptor is none that
/// makeLastWord() made.
llvm::Error useLastWord(int descriptor);

/// The same for processes that share memory, whoever has started them: `word`,
/// 0 at first, gets the value `mine`. Null: not any more.
void useLastWord(std::atomic<uint32_t> *word, uint32_t mine);

/// True for the first of all who call it, once; where nothing is shared, for
/// the first call of this process. May be called in a signal handler, and when
/// memory is full.
bool takeLastWord();

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_LASTWORD_H
