// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// memfd mappings. A missing page of shared memory is a signal when it cannot be
// had, so all are taken while an error can still be told.

#include "colrow/runtime/CPU/SharedArena.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

// Newer than the headers of some systems.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

using namespace llvm;

namespace colrow::runtime {

static constexpr uint64_t pageBytes = 4096, hugeBytes = 2 << 20;
static constexpr int sizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

static uint64_t roundedSize(uint64_t bytes) {
  return alignTo(std::max<uint64_t>(bytes, 1), pageBytes);
}

SharedArena &SharedArena::operator=(SharedArena &&other) noexcept {
  std::swap(start, other.start);
  std::swap(bytes, other.bytes);
  std::swap(fd, other.fd);
  std::swap(use, other.use);
  return *this;
}

SharedArena::~SharedArena() {
  if (start)
    ::munmap(start, bytes);
}

Error SharedArena::shortOf(int code) const {
  return failure("cannot allocate {0} bytes for {1}: {2}{3}", bytes, use,
                 strerror(code),
                 code == EFBIG ? " (memory that processes share is limited by "
                                 "ulimit -f)"
                               : "");
}

/// What private memory of this size would be refused for. The system checks
/// shared memory page by page only.
static int checkSize(uint64_t bytes) {
  void *p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return errno;
  ::munmap(p, bytes);
  return 0;
}

/// At a multiple of huge pages: without it none of them can be one. `file`: -1
/// for memory without one.
Error SharedArena::mapAligned(int file, uint64_t size) {
  bytes = size;
  uint64_t room = size >= hugeBytes ? size + hugeBytes : size;
  void *reserved = ::mmap(nullptr, room, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    return shortOf(errno);
  char *begin = static_cast<char *>(reserved);
  char *at = size >= hugeBytes
                 ? reinterpret_cast<char *>(
                       alignTo(reinterpret_cast<uintptr_t>(begin), hugeBytes))
                 : begin;
  int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  if (::mmap(at, size, PROT_READ | PROT_WRITE, kind | MAP_FIXED, file, 0) ==
      MAP_FAILED) {
    int code = errno;
    ::munmap(begin, room);
    return shortOf(code);
  }
  if (at != begin)
    ::munmap(begin, at - begin);
  if (at + size != begin + room)
    ::munmap(at + size, begin + room - (at + size));
  start = at;
  return Error::success();
}

Expected<SharedArena> SharedArena::create(StringRef use, uint64_t bytes,
                                          Sharing sharing) {
  SharedArena result;
  result.use = use.str();
  result.bytes = roundedSize(bytes);
  if (int code = checkSize(result.bytes))
    return result.shortOf(code);
  if (sharing == Sharing::threads) {
    if (Error error = result.mapAligned(-1, result.bytes))
      return std::move(error);
    return std::move(result);
  }
  result.fd =
      FileDescriptor(::memfd_create("colrow", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!result.fd || ::ftruncate(result.file(), result.bytes) != 0 ||
      ::fcntl(result.file(), F_ADD_SEALS, sizeSeals | F_SEAL_SEAL) != 0)
    return result.shortOf(errno);
  if (Error error = result.mapAligned(result.file(), result.bytes))
    return std::move(error);
  return std::move(result);
}

Expected<SharedArena> SharedArena::map(int file, uint64_t bytes) {
  SharedArena result;
  result.use = "memory of another process";
  struct stat status;
  if (::fstat(file, &status) != 0)
    return failure("cannot map memory of another process: {0}",
                   strerror(errno));
  if (!S_ISREG(status.st_mode) ||
      uint64_t(status.st_size) != roundedSize(bytes))
    return failure("memory of another process has {0} bytes, expected {1}",
                   uint64_t(status.st_size), roundedSize(bytes));
  int seals = ::fcntl(file, F_GET_SEALS);
  if (seals < 0 || (seals & sizeSeals) != sizeSeals)
    return failure("memory of another process may still change its size");
  if (Error error = result.mapAligned(file, roundedSize(bytes)))
    return std::move(error);
  return std::move(result);
}

/// One page of each huge page first: only what is mapped is collapsed. Small
/// pages where the system refuses.
static void askForHugePages(char *start, uint64_t bytes) {
  ::madvise(start, bytes, MADV_HUGEPAGE);
  uint64_t whole = alignDown(bytes, hugeBytes);
  for (uint64_t at = 0; at < whole; at += hugeBytes)
    if (::madvise(start + at, pageBytes, MADV_POPULATE_WRITE) != 0)
      return;
  ::madvise(start, whole, MADV_COLLAPSE);
}

Error SharedArena::populate(function_ref<void()> onPart) {
  constexpr uint64_t partBytes = 1 << 30;
  bool asksForHuge = bytes >= 2 * hugeBytes;
  for (uint64_t at = 0; at < bytes; at += partBytes) {
    uint64_t part = std::min(partBytes, bytes - at);
    if (asksForHuge)
      askForHugePages(start + at, part);
    if (::madvise(start + at, part, MADV_POPULATE_WRITE) != 0)
      // Before Linux 5.14: the pages are near whoever touches them first, and a
      // closed file's are taken only then.
      return errno == EINVAL && (!fd || ::fallocate(file(), 0, 0, bytes) == 0)
                 ? Error::success()
                 : shortOf(errno == EFAULT ? ENOMEM : errno);
    if (onPart)
      onPart();
  }
  return Error::success();
}

} // namespace colrow::runtime
