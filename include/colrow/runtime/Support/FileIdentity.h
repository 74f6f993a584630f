// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which file a path means, however it is spelled.

#ifndef COLROW_RUNTIME_SUPPORT_FILEIDENTITY_H
#define COLROW_RUNTIME_SUPPORT_FILEIDENTITY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace colrow::runtime {

/// A file that is there: device and inode behind all links. One that is not
/// yet: those of the folder that would hold it, and its name.
struct FileIdentity {
  uint64_t device = 0, inode = 0;
  std::string name; // empty: the file is there

  bool operator==(const FileIdentity &other) const {
    return device == other.device && inode == other.inode && name == other.name;
  }
};

/// Nothing when neither the file nor its folder is there.
std::optional<FileIdentity> identityOf(llvm::StringRef path);

/// Something that is read, and how it is called in errors ("--data").
struct InputPath {
  std::string title, path;
  bool withFiles = true; // of a folder: the files in it too
};

/// Refuses an output that is also an input, or one of the files in it.
llvm::Error refuseOverwriting(llvm::StringRef option, llvm::StringRef output,
                              llvm::ArrayRef<InputPath> inputs);

/// The same for a command line that others parse: what follows -o must be none
/// of the other arguments. LLVM's tools empty their output before they read,
/// and remove it when they fail.
llvm::Error refuseOverwriting(llvm::ArrayRef<const char *> arguments);

/// Tells contents apart without reading all of a large file: from the size and
/// blocks spread over it. Empty for what is no readable regular file. `onBlock`
/// is called for each block that was read.
std::string contentMark(llvm::StringRef path,
                        llvm::function_ref<void()> onBlock);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_FILEIDENTITY_H
