// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The secret of a job.

#include "colrow/runtime/Job/Token.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/FileDescriptor.h"
#include "colrow/runtime/Support/ReadAt.h"
#include <sys/stat.h>

using namespace llvm;

namespace colrow::runtime {

static Expected<std::string> readTokenFile(const std::string &path) {
  constexpr uint64_t maxBytes = 4096;
  uint64_t size = 0;
  Expected<int> opened = openRegularFile(path, size);
  if (!opened)
    return prefixed("COLROW_TOKEN_FILE", opened.takeError());
  FileDescriptor file(*opened); // closes it
  struct stat status;
  if (::fstat(*opened, &status) != 0 || status.st_uid != ::geteuid() ||
      (status.st_mode & 077) != 0)
    return failure("COLROW_TOKEN_FILE={0}: wanted a file of this user's that "
                   "nobody else may read or write (chmod 600)",
                   path);
  if (size > maxBytes)
    return failure("COLROW_TOKEN_FILE={0}: is longer than {1} bytes", path,
                   maxBytes);
  std::string text(size, '\0');
  if (Error error = readAt(*opened, text.data(), size, 0))
    return prefixed("COLROW_TOKEN_FILE=" + path, std::move(error));
  std::string token = StringRef(text).trim().str();
  if (token.empty())
    return failure("COLROW_TOKEN_FILE={0}: is empty", path);
  return token;
}

Expected<std::string> readToken(EnvironmentLookup lookup) {
  std::optional<std::string> token = lookup("COLROW_TOKEN");
  std::optional<std::string> file = lookup("COLROW_TOKEN_FILE");
  if (token && file)
    return failure("COLROW_TOKEN and COLROW_TOKEN_FILE are both set: unset "
                   "one of them");
  if (file)
    return readTokenFile(*file);
  if (!token)
    return "";
  std::string trimmed = StringRef(*token).trim().str();
  if (trimmed.empty())
    return failure("COLROW_TOKEN is set, but empty");
  return trimmed;
}

} // namespace colrow::runtime
