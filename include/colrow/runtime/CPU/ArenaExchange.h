// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the processes of a machine get hold of each other's memory, and of each
// other: open files sent over a unix socket that nobody else can use.

#ifndef COLROW_RUNTIME_CPU_ARENAEXCHANGE_H
#define COLROW_RUNTIME_CPU_ARENAEXCHANGE_H

#include "colrow/runtime/Job/Control.h"
#include "colrow/runtime/Support/FileDescriptor.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace colrow::runtime {

/// What a process got from another one of its machine; nothing of itself.
struct Neighbour {
  std::vector<FileDescriptor> files; // in the order that it gave them
  FileDescriptor pidfd; // the process, whatever becomes of its number
};

/// Gives `own` files to all processes of this machine and gets theirs, in the
/// order of `members`: the machine's processes, rising, this one among them.
/// Called by all processes of the job at once. `own` stays the caller's.
///
/// The first member listens, for that time only, at a random name that it tells
/// through `control`, with a secret that others must know; they must be of the
/// same user. Error, at all processes that go on to agree(): somebody is
/// missing after `seconds`, or sent something else.
llvm::Expected<std::vector<Neighbour>>
exchangeArenas(Control &control, llvm::ArrayRef<unsigned> members,
               llvm::ArrayRef<int> own, double seconds);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_ARENAEXCHANGE_H
