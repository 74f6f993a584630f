// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading a part of an open file.

#ifndef COLROW_RUNTIME_SUPPORT_READAT_H
#define COLROW_RUNTIME_SUPPORT_READAT_H

#include "llvm/Support/Error.h"

namespace colrow::runtime {

/// Reads `bytes` bytes from byte `offset` on. A file that ends before is an
/// error, also when it was longer a moment ago. Safe from many threads.
llvm::Error readAt(int fd, char *out, uint64_t bytes, uint64_t offset);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_READAT_H
