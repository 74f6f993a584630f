// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals that end training after a step, and never in the middle of a file.

#ifndef COLROW_TOOLS_TPRUN_INTERRUPT_H
#define COLROW_TOOLS_TPRUN_INTERRUPT_H

namespace colrow::tprun {

/// From now on, to the end of the program, SIGINT and SIGTERM are noted. One
/// that comes more than a second after the first ends the program at once:
/// `timeout` and shells may send the first twice.
void catchInterrupts();
bool isInterrupted();

} // namespace colrow::tprun

#endif // COLROW_TOOLS_TPRUN_INTERRUPT_H
