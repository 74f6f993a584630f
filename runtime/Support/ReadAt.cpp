// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading a part of an open file.

#include "colrow/runtime/Support/ReadAt.h"
#include "colrow/runtime/Support/Errors.h"
#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

Error readAt(int fd, char *out, uint64_t bytes, uint64_t offset) {
  while (bytes > 0) {
    ssize_t done = ::pread(fd, out, bytes, offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return failure("cannot read: {0}", strerror(errno));
    if (done == 0)
      return failure("file ends at byte {0}, {1} more were wanted", offset,
                     bytes);
    out += done;
    offset += done;
    bytes -= done;
  }
  return Error::success();
}

} // namespace colrow::runtime
