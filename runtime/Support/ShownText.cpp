// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Character by character.

#include "colrow/runtime/Support/ShownText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

std::string shownText(StringRef text) {
  std::string shown;
  while (!text.empty()) {
    StringRef one = text.take_front(getNumBytesForUTF8(UTF8(text.front())));
    if (sys::unicode::columnWidthUTF8(one) >= 0) {
      shown += one;
    } else {
      one = text.take_front();
      shown += "\\x" + toHex(one, /*LowerCase=*/true);
    }
    text = text.drop_front(one.size());
  }
  return shown;
}

void writeErrorLine(StringRef tool, StringRef text) {
  std::string line = (Twine(tool) + ": error: " + shownText(text) + "\n").str();
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace colrow::runtime
