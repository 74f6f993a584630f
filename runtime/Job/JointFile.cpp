// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One temporary name, told by the process that made it.

#include "colrow/runtime/Job/JointFile.h"
#include "colrow/runtime/Support/Errors.h"

using namespace llvm;

namespace colrow::runtime {

using Opened = Expected<std::unique_ptr<AtomicFile>>;

/// `made` is an error where `job` is not the first process.
Expected<JointFile> JointFile::share(Job &job, Opened made,
                                     function_ref<Opened(StringRef)> join) {
  if (job.isFirst() && !made)
    return made.takeError();
  auto name = job.fromFirst(job.isFirst() ? (*made)->temporaryName() : "");
  if (!job.isFirst())
    consumeError(made.takeError());
  if (!name)
    return name.takeError();
  if (job.isFirst()) {
    if (Error error = job.agree(Error::success()))
      return std::move(error);
    return JointFile(job, std::move(*made));
  }
  Opened joined = join(*name);
  if (Error error = job.agree(joined ? Error::success() : joined.takeError()))
    return std::move(error);
  return JointFile(job, std::move(*joined));
}

static Opened notMine() { return failure("made by the first process"); }

Expected<JointFile> JointFile::create(Job &job, StringRef path) {
  return share(
      job, job.isFirst() ? AtomicFile::create(path) : notMine(),
      [&](StringRef temporary) { return AtomicFile::join(path, temporary); });
}

Expected<JointFile> JointFile::createIn(Job &job, const Folder &folder,
                                        StringRef name) {
  return share(job,
               job.isFirst() ? AtomicFile::createIn(folder, name) : notMine(),
               [&](StringRef) { return AtomicFile::joinIn(folder, name); });
}

Error JointFile::writeAt(uint64_t offset, const void *data, size_t size) {
  return job->processes() == 1 ? file->write(data, size)
                               : file->writeAt(offset, data, size);
}

Error JointFile::commit() {
  if (Error error = job->agree(file->finish()))
    return error;
  if (job->hasFailed())
    return failure("{0}: not written: the run has failed", name());
  return job->agree(file->publish());
}

} // namespace colrow::runtime
