// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that all processes of a job write at once, each its own parts, and
// that appears whole or not at all. All processes make the same calls but
// writeAt().

#ifndef COLROW_RUNTIME_JOB_JOINTFILE_H
#define COLROW_RUNTIME_JOB_JOINTFILE_H

#include "colrow/runtime/Job/Job.h"
#include "colrow/runtime/Support/AtomicFile.h"

namespace colrow::runtime {

class JointFile {
public:
  /// As AtomicFile's: the first process creates the file, the others open it.
  /// Errors: also that `path` has another last name than the first process', or
  /// its folder is another one, or that only one of them is a regular file.
  static llvm::Expected<JointFile> create(Job &job, llvm::StringRef path);
  static llvm::Expected<JointFile> createIn(Job &job, const Folder &folder,
                                            llvm::StringRef name);
  /// The errors of create(); writes nothing. Nothing is looked at by one
  /// process, for which a pipe may be meant.
  static llvm::Error check(Job &job, llvm::StringRef path);

  llvm::StringRef name() const { return file->name(); }

  /// Takes `bytes` on the disk, which is all that will be written, so that a
  /// full one is an error now. Of one process nothing is taken.
  llvm::Error reserve(uint64_t bytes);

  /// Parts may not overlap, and together they are the file. Of one process they
  /// must follow each other: it may be writing to a pipe.
  /// Counts as progress of the job, and leaves little to sync at the end.
  llvm::Error writeAt(uint64_t offset, const void *data, size_t size);

  /// Syncs what all wrote, then the first process renames. Nothing is renamed
  /// once any of them has failed.
  llvm::Error commit();

private:
  JointFile(Job &job, std::unique_ptr<AtomicFile> file)
      : job(&job), file(std::move(file)) {}
  static llvm::Expected<JointFile>
  share(Job &job, llvm::Expected<std::unique_ptr<AtomicFile>> made,
        llvm::function_ref<llvm::Expected<std::unique_ptr<AtomicFile>>(
            llvm::StringRef, llvm::StringRef)>
            join);

  Job *job;
  std::unique_ptr<AtomicFile> file;
  uint64_t unsynced = 0; // bytes
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_JOINTFILE_H
