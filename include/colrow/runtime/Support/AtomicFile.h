// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that appears whole or not at all: written under a temporary name in
// the same folder, synced, then renamed. What fails leaves the old file.

#ifndef COLROW_RUNTIME_SUPPORT_ATOMICFILE_H
#define COLROW_RUNTIME_SUPPORT_ATOMICFILE_H

#include "colrow/runtime/Support/Folder.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace colrow::runtime {

class AtomicFile {
public:
  /// Opens a temporary file beside `path`. A path that is not a regular file
  /// (/dev/null, a pipe) is written directly. Also sets SIGXFSZ to ignored, so
  /// that a file-size limit (ulimit -f) is an error of write() like a full
  /// disk.
  static llvm::Expected<std::unique_ptr<AtomicFile>>
  create(llvm::StringRef path);
  /// A pipe that nobody reads is waited for until somebody does; or until
  /// `givesUp`, which is asked now and then, says so (once a pipe has a reader:
  /// and that has taken nothing for a second). For all files.
  static void waitForReadersUntil(bool (*givesUp)());

  /// A new file in a folder that is itself given its name when it is whole:
  /// written under `name`, which must be free, and synced, which the folder is
  /// not yet. `folder` must outlive the file.
  static llvm::Expected<std::unique_ptr<AtomicFile>>
  createIn(const Folder &folder, llvm::StringRef name);

  /// Opens a file that another process creates as `path`, under the temporary
  /// name that it has, or in a folder as `name`: to write parts of it with
  /// writeAt(). It is the other one's to publish and to remove. Of `temporary`
  /// only the last part counts: the folder is that of `path`. Empty: it is
  /// written directly; error where `path` is a regular file.
  static llvm::Expected<std::unique_ptr<AtomicFile>>
  join(llvm::StringRef path, llvm::StringRef temporary);
  static llvm::Expected<std::unique_ptr<AtomicFile>>
  joinIn(const Folder &folder, llvm::StringRef name);

  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  /// Removes the unfinished file unless commit() succeeded.
  ~AtomicFile();

  /// The path that the file is to have, for errors.
  llvm::StringRef name() const { return path; }
  /// The name that it has until then; empty when it is written directly.
  llvm::StringRef temporaryName() const { return temporary; }

  /// Takes `bytes` on the disk from the start of the file, where the file
  /// system can, and makes it so long. Of a file that is written directly:
  /// nothing.
  llvm::Error reserve(uint64_t bytes);
  /// Waits until what was written is on the disk.
  llvm::Error syncData();

  /// Appends. Buffered. After an error the file cannot be committed.
  llvm::Error write(const void *data, size_t size);
  llvm::Error write(llvm::StringRef text) {
    return write(text.data(), text.size());
  }

  /// Writes at a place of its own, past what write() appends. Not buffered.
  llvm::Error writeAt(uint64_t offset, const void *data, size_t size);

  /// Flushes and syncs the file; nothing can be written afterwards.
  llvm::Error finish();
  /// Renames a finished file to the final name, and syncs the folder.
  llvm::Error publish();
  /// Both.
  llvm::Error commit();

private:
  AtomicFile(std::string path, std::string temporary, int fd);
  llvm::Error flush(const char *data, size_t size);
  llvm::Error failed(const char *action);

  const Folder *folder = nullptr; // that of createIn()
  std::string path, temporary;    // temporary is empty when written directly
  int fd;
  bool isOwn = true; // false: joined
  bool broken = false;
  std::vector<char> buffer;
};

/// Writes a whole file through AtomicFile.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef text);

/// The same for AtomicFile::createIn.
llvm::Error writeFileIn(const Folder &folder, llvm::StringRef name,
                        llvm::StringRef text);

/// Syncs a folder, so that renames inside it survive a loss of power.
llvm::Error syncFolder(llvm::StringRef folder);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_ATOMICFILE_H
