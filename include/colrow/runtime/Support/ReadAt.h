// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening a file to read, and reading a part of it.

#ifndef COLROW_RUNTIME_SUPPORT_READAT_H
#define COLROW_RUNTIME_SUPPORT_READAT_H

#include "colrow/runtime/Support/Folder.h"
#include "llvm/Support/Error.h"

namespace colrow::runtime {

/// A descriptor of a regular file, to be closed by the caller, and its size in
/// `size`. Anything else is an error at once: nobody waits for a pipe's writer.
llvm::Expected<int> openRegularFile(llvm::StringRef path, uint64_t &size);

/// The same of an entry of a folder, which must be no link.
llvm::Expected<int> openRegularFile(const Folder &folder, llvm::StringRef name,
                                    uint64_t &size);

/// Reads `bytes` bytes from byte `offset` on. A file that ends before is an
/// error, also when it was longer a moment ago. Safe from many threads.
llvm::Error readAt(int fd, char *out, uint64_t bytes, uint64_t offset);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_READAT_H
