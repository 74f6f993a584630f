// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of the runtime: one line of text each, formatted as llvm::formatv.

#ifndef COLROW_RUNTIME_SUPPORT_ERRORS_H
#define COLROW_RUNTIME_SUPPORT_ERRORS_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace colrow::runtime {

/// An error whose text is formatv(format, values...).
template <typename... Ts> llvm::Error failure(const char *format, Ts &&...ts) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Ts>(ts)...).str(),
      llvm::inconvertibleErrorCode());
}

/// "name: text of E".
inline llvm::Error prefixed(llvm::StringRef name, llvm::Error error) {
  return failure("{0}: {1}", name, llvm::toString(std::move(error)));
}

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_ERRORS_H
