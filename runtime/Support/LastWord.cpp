// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An eventfd that holds one: reading it is taking it.

#include "colrow/runtime/Support/LastWord.h"
#include "colrow/runtime/Support/Errors.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/eventfd.h>

using namespace llvm;

namespace colrow::runtime {

static int shared = -1;
static std::atomic<std::atomic<uint32_t> *> sharedWord{nullptr};
static std::atomic<uint32_t> ownMark{0};
static std::atomic<bool> hasAsked{false};

Expected<FileDescriptor> makeLastWord() {
  FileDescriptor made(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made)
    return failure("cannot make an eventfd: {0}", strerror(errno));
  return std::move(made);
}

Error useLastWord(int descriptor) {
  char target[64] = "";
  std::string link = formatv("/proc/self/fd/{0}", descriptor);
  ssize_t size = ::readlink(link.c_str(), target, sizeof(target) - 1);
  if (size > 0 && StringRef(target) != "anon_inode:[eventfd]")
    return failure("COLROW_LAST_WORD: {0} is nothing that tp-run -n has passed "
                   "on",
                   descriptor);
  // Where there is no /proc it is asked whether it is open at all.
  int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || !(flags & O_NONBLOCK) ||
      ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
    return failure("COLROW_LAST_WORD: {0} is no open file", descriptor);
  shared = descriptor;
  return Error::success();
}

void useLastWord(std::atomic<uint32_t> *word, uint32_t mine) {
  ownMark = mine;
  sharedWord = word;
}

bool takeLastWord() {
  if (hasAsked.exchange(true))
    return false;
  std::atomic<uint32_t> *word = sharedWord;
  uint32_t owner = 0;
  if (word && !word->compare_exchange_strong(owner, ownMark) &&
      owner != ownMark)
    return false;
  eventfd_t count;
  return shared < 0 || ::eventfd_read(shared, &count) == 0;
}

} // namespace colrow::runtime
