// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared libraries that are looked for while the program runs. They stay
// loaded until it ends.

#ifndef COLROW_RUNTIME_LIBRARIES_LIBRARY_H
#define COLROW_RUNTIME_LIBRARIES_LIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Error.h"
#include <string>

namespace colrow::runtime {

class Library {
public:
  /// What to look for. All texts live for ever.
  struct Wanted {
    const char *variable; // of the environment: names the one to take
    llvm::ArrayRef<const char *> names; // else the first of these that loads
    const char *symbol;                 // and has this
    const char *missing; // text of the error, {0}: the names; says the cure
  };
  static llvm::Expected<Library> open(const Wanted &wanted);

  /// As it is called in errors: "libx.so.1" or "VARIABLE=path".
  const std::string &name() const { return called; }

  /// False, and `function` null: there is no such symbol, here or in a library
  /// that this one needs.
  template <typename F> bool find(const char *symbol, F *&function) {
    function = reinterpret_cast<F *>(handle.getAddressOfSymbol(symbol));
    return function;
  }

private:
  Library(llvm::sys::DynamicLibrary handle, std::string name)
      : handle(handle), called(std::move(name)) {}
  static llvm::Expected<Library> openNamed(const Wanted &wanted,
                                           const char *path);

  llvm::sys::DynamicLibrary handle;
  std::string called;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_LIBRARIES_LIBRARY_H
