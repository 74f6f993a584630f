// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON from files that are not trusted: LLVM's parser is recursive, so deep
// nesting is refused before it runs.

#ifndef COLROW_RUNTIME_SUPPORT_JSON_H
#define COLROW_RUNTIME_SUPPORT_JSON_H

#include "colrow/runtime/Support/Folder.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace colrow::runtime {

/// Parses `text`; errors name `file`. Nesting beyond `maxDepth` is an error.
llvm::Expected<llvm::json::Value>
parseJson(llvm::StringRef file, llvm::StringRef text, unsigned maxDepth = 64);

/// Reads and parses a whole file of at most `maxBytes`.
llvm::Expected<llvm::json::Value> readJsonFile(llvm::StringRef path,
                                               uint64_t maxBytes = 256 << 20);

/// The text of a regular file of at most `maxBytes`.
llvm::Expected<std::string> readTextFile(llvm::StringRef path,
                                         uint64_t maxBytes = 256 << 20);
/// The same for a folder's own entry, which may not be a link.
llvm::Expected<std::string>
readTextFile(const Folder &folder, llvm::StringRef name, uint64_t maxBytes);

/// A number as people write it, to nine digits.
std::string textOfNumber(double number);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_JSON_H
