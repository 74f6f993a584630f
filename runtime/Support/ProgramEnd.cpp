// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last thing that a tool does.

#include "colrow/runtime/Support/ProgramEnd.h"
#include "colrow/runtime/Support/LastWord.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

static void onEnd(int status, void *tool) {
  outs().flush();
  if (outs().has_error()) {
    if (status == 0 && takeLastWord())
      errs() << static_cast<const char *>(tool)
             << ": error: cannot write to standard output: "
             << outs().error().message() << "\n";
    status = status == 0 ? 1 : status;
    outs().clear_error();
  }
  errs().clear_error(); // nobody is left to be told
#if __has_feature(address_sanitizer)
  if (status == 0)
    return; // to the search for leaks
#endif
  ::_exit(status);
}

void guardProgramEnd(const char *tool) {
  // open() takes the lowest free number: a closed file's own. All are opened
  // for reading, so that writing to them stays an error.
  for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(file, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", O_RDONLY);
  // Made before the handler is registered, so destroyed after it has run.
  (void)outs();
  (void)errs();
  ::on_exit(onEnd, const_cast<char *>(tool));
}

bool isStandardOutputOpen() {
  int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

} // namespace colrow::runtime
