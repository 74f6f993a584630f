// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pages from the system: near the rank that first touches them.

#include "Arena.h"
#include "colrow/runtime/Support/Errors.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace llvm;

namespace colrow::runtime {

Arena::~Arena() {
  if (bytes)
    ::munmap(start, bytes);
}

Error Arena::allocate(StringRef use, uint64_t size) {
  constexpr uint64_t huge = 2 << 20;
  uint64_t rounded = std::max<uint64_t>((size + 4095) / 4096 * 4096, 4096);
  void *p = ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return failure("cannot allocate {0} bytes for a rank ({1}): {2}", rounded,
                   use, strerror(errno));
  start = static_cast<char *>(p);
  bytes = rounded;
  if (rounded >= 2 * huge)
    ::madvise(start, bytes, MADV_HUGEPAGE);
  return Error::success();
}

} // namespace colrow::runtime
