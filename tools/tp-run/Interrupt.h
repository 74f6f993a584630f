// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals that end training after a step, and never in the middle of a file.

#ifndef COLROW_TOOLS_TPRUN_INTERRUPT_H
#define COLROW_TOOLS_TPRUN_INTERRUPT_H

namespace colrow::tprun {

/// From now on SIGINT and SIGTERM are noted. One that comes more than a second
/// after the first ends the program at once: `timeout` and shells may send the
/// first twice. Pipes that nobody reads are not waited for once one has come.
void catchInterrupts();
bool isInterrupted();
/// From now on both end the program, and one that was noted does so now.
void releaseInterrupts();

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_INTERRUPT_H
