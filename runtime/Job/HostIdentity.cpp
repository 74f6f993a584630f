// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Identity of the machine.

#include "colrow/runtime/Job/HostIdentity.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

/// The kernel's own number of what `path` stands for; the process' id where
/// there is none, so that nobody else is thought to be on the same machine.
static std::string namespaceOf(const char *path) {
  struct stat status;
  if (::stat(path, &status) == 0)
    return formatv("{0}", uint64_t(status.st_ino));
  return formatv("p{0}", ::getpid());
}

/// Files of /proc have no size that readTextFile() could go by.
static std::string bootId() {
  char text[64];
  int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : ::read(fd, text, sizeof(text));
  if (fd >= 0)
    ::close(fd);
  return got > 0 ? StringRef(text, size_t(got)).trim().str()
                 : formatv("{0}/p{1}", hostName(), ::getpid()).str();
}

std::string machineId() {
  return formatv("{0} net {1} pid {2} user {3}", bootId(),
                 namespaceOf("/proc/self/ns/net"),
                 namespaceOf("/proc/self/ns/pid"), ::geteuid());
}

std::string hostName() {
  char text[65] = "";
  if (::gethostname(text, sizeof(text) - 1) != 0 || text[0] == '\0')
    return "unknown";
  for (char &c : text)
    if (c != '\0' && !isPrint(c))
      c = '?';
  return text;
}

} // namespace colrow::runtime
