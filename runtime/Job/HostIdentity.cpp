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

static constexpr StringLiteral unknown = "unknown, ";

/// The kernel's own number of what `path` stands for; 0: there is none.
static uint64_t namespaceOf(const char *path) {
  struct stat status;
  return ::stat(path, &status) == 0 ? uint64_t(status.st_ino) : 0;
}

/// Files of /proc have no size that readTextFile() could go by.
static std::string bootId() {
  char text[64];
  int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : ::read(fd, text, sizeof(text));
  if (fd >= 0)
    ::close(fd);
  return got > 0 ? StringRef(text, size_t(got)).trim().str() : "";
}

std::string machineId() {
  std::string boot = bootId();
  uint64_t net = namespaceOf("/proc/self/ns/net"),
           pid = namespaceOf("/proc/self/ns/pid");
  if (!boot.empty() && net != 0 && pid != 0)
    return formatv("{0} net {1} pid {2} user {3}", boot, net, pid, ::geteuid());
  // Nobody else is thought to be on the same machine.
  return formatv("{0}{1} process {2} user {3}", unknown, hostName(), ::getpid(),
                 ::geteuid());
}

bool isKnownMachine(StringRef machineId) {
  return !machineId.starts_with(unknown);
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
