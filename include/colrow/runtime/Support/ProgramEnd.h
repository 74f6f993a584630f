// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tool ends: what it printed has arrived, or it says so and fails; and
// nothing can hold its end.

#ifndef COLROW_RUNTIME_SUPPORT_PROGRAMEND_H
#define COLROW_RUNTIME_SUPPORT_PROGRAMEND_H

namespace colrow::runtime {

/// To be called first in main(). From then on the process ends, however
/// main() or exit() is reached, with its output flushed and without waiting for
/// threads that libraries have started (those of a BLAS that cannot allocate
/// never end). A standard output that could not be written turns exit status 0
/// into 1, with one line on stderr. Standard files that are closed are occupied
/// first, so that no file of the tool's takes their place.
/// `tool` must live for ever: the name in that line.
void guardProgramEnd(const char *tool);

/// False when standard output is closed: nothing can be written to it.
bool isStandardOutputOpen();

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_PROGRAMEND_H
