// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An open folder. All that is done to its entries goes through its descriptor,
// so that nothing that happens to paths meanwhile leads elsewhere.

#ifndef COLROW_RUNTIME_SUPPORT_FOLDER_H
#define COLROW_RUNTIME_SUPPORT_FOLDER_H

#include "colrow/runtime/Support/FileIdentity.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace colrow::runtime {

/// What stands under a name; links are not followed.
enum class EntryKind { nothing, file, folder, link, other };

/// Names are those of the folder's own entries, without separators. A link is
/// never followed. Errors name the entry's path.
class Folder {
public:
  /// `path` may be a link, or lead through links: it is the user's own.
  static llvm::Expected<Folder> open(llvm::StringRef path);
  Folder(Folder &&other) noexcept;
  Folder &operator=(Folder &&other) noexcept;
  ~Folder();

  /// As it was given to open().
  llvm::StringRef path() const { return title; }
  std::string pathOf(llvm::StringRef name) const;
  int descriptor() const { return fd; }
  FileIdentity identity() const;

  EntryKind kindOf(llvm::StringRef name) const;
  /// The target of a link, empty when the entry is none.
  std::string linkTarget(llvm::StringRef name) const;
  llvm::Expected<std::vector<std::string>> names() const;

  /// Error when the entry is not a folder itself.
  llvm::Expected<Folder> enter(llvm::StringRef name) const;
  /// A new folder; the name must be free.
  llvm::Expected<Folder> create(llvm::StringRef name) const;
  /// A new link; the name must be free.
  llvm::Error link(llvm::StringRef target, llvm::StringRef name) const;
  /// Renames within the folder. `to` must be free.
  llvm::Error renameNew(llvm::StringRef from, llvm::StringRef to) const;
  /// Moves entry `from` to `name` of `to`, in place of what stands there.
  llvm::Error replace(llvm::StringRef from, const Folder &to,
                      llvm::StringRef name) const;
  /// Removes a file or a link.
  llvm::Error remove(llvm::StringRef name) const;
  llvm::Error removeEmptyFolder(llvm::StringRef name) const;
  /// Makes renames survive a loss of power.
  llvm::Error sync() const;

private:
  Folder(std::string title, int fd) : title(std::move(title)), fd(fd) {}
  llvm::Error failed(llvm::StringRef name, const char *action) const;

  std::string title;
  int fd;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_FOLDER_H
