// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Library.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace llvm;

namespace colrow::runtime {

/// Libraries stay until the process ends: what they have started, such as the
/// threads of an OpenMP runtime, still runs their code then.
static void keep(const char *name) {
  (void)::dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

Expected<Library> Library::openNamed(const Wanted &wanted, const char *path) {
  std::string reason, name = formatv("{0}={1}", wanted.variable, path);
  auto handle = sys::DynamicLibrary::getPermanentLibrary(path, &reason);
  if (!handle.isValid())
    return failure("{0}: cannot be loaded: {1}", name, reason);
  if (!handle.getAddressOfSymbol(wanted.symbol))
    return failure("{0}: has no {1}: name a library that has it", name,
                   wanted.symbol);
  keep(path);
  return Library(handle, std::move(name));
}

Expected<Library> Library::open(const Wanted &wanted) {
  if (const char *path = ::getenv(wanted.variable); path && *path)
    return openNamed(wanted, path);
  for (const char *name : wanted.names) {
    auto handle = sys::DynamicLibrary::getPermanentLibrary(name);
    if (handle.isValid() && handle.getAddressOfSymbol(wanted.symbol)) {
      keep(name);
      return Library(handle, name);
    }
  }
  return failure(wanted.missing, join(wanted.names, ", "));
}

} // namespace colrow::runtime
