// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of a rank.

#ifndef COLROW_RUNTIME_CORE_ARENA_H
#define COLROW_RUNTIME_CORE_ARENA_H

#include "llvm/Support/Error.h"
#include <cstdint>

namespace colrow::runtime {

/// Zeroed memory, in huge pages where the system has them.
class Arena {
public:
  Arena() = default;
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena();

  /// Once. `use` says in an error what the memory is for.
  llvm::Error allocate(llvm::StringRef use, uint64_t size);
  char *get() const { return start; }

private:
  char *start = nullptr;
  uint64_t bytes = 0;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_ARENA_H
