// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text from outside, such as from a socket, on a terminal.

#ifndef COLROW_RUNTIME_SUPPORT_SHOWNTEXT_H
#define COLROW_RUNTIME_SUPPORT_SHOWNTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace colrow::runtime {

/// The text in one line of printable UTF-8: every byte of anything else becomes
/// "\xNN".
std::string shownText(llvm::StringRef text);

/// "TOOL: error: TEXT" on stderr, by one call of the system: other processes
/// may write there too, and this one may end at any time.
void writeErrorLine(llvm::StringRef tool, llvm::StringRef text);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_SHOWNTEXT_H
