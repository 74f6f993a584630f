// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One temporary name, told by the process that made it.

#include "colrow/runtime/Job/JointFile.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace colrow::runtime {

/// What a process writes before it waits for the disk, so that the sync at the
/// end, in which it cannot be seen to get on, is short.
static constexpr uint64_t syncBytes = 64 << 20;

using Opened = Expected<std::unique_ptr<AtomicFile>>;

/// `made` is an error where `job` is not the first process. `join` gets the
/// path of the first process and the temporary name.
Expected<JointFile>
JointFile::share(Job &job, Opened made,
                 function_ref<Opened(StringRef, StringRef)> join) {
  std::string mine;
  if (made)
    mine = ((*made)->name() + Twine('\0') + (*made)->temporaryName()).str();
  else if (job.isFirst())
    return made.takeError();
  else
    consumeError(made.takeError());
  auto told = job.fromFirst(mine);
  if (!told)
    return told.takeError();
  if (job.isFirst()) {
    if (Error error = job.agree(Error::success()))
      return std::move(error);
    return JointFile(job, std::move(*made));
  }
  auto [path, temporary] = StringRef(*told).split('\0');
  Opened joined = join(path, temporary);
  if (Error error = job.agree(joined ? Error::success() : joined.takeError()))
    return std::move(error);
  return JointFile(job, std::move(*joined));
}

static Opened notMine() { return failure("made by the first process"); }

Expected<JointFile> JointFile::create(Job &job, StringRef path) {
  return share(job, job.isFirst() ? AtomicFile::create(path) : notMine(),
               [&](StringRef first, StringRef temporary) -> Opened {
                 Opened joined =
                     sys::path::filename(first) == sys::path::filename(path)
                         ? AtomicFile::join(path, temporary)
                         : failure("{0}: has another name", path);
                 if (joined)
                   return joined;
                 return failure("{0}; process 0 writes {1}, and all processes "
                                "must write one file",
                                toString(joined.takeError()), first);
               });
}

Expected<JointFile> JointFile::createIn(Job &job, const Folder &folder,
                                        StringRef name) {
  return share(
      job, job.isFirst() ? AtomicFile::createIn(folder, name) : notMine(),
      [&](StringRef, StringRef) { return AtomicFile::joinIn(folder, name); });
}

Error JointFile::check(Job &job, StringRef path) {
  if (job.processes() == 1)
    return Error::success();
  return create(job, path).takeError();
}

Error JointFile::reserve(uint64_t bytes) {
  if (job->processes() == 1)
    return Error::success();
  return job->agree(job->isFirst() ? file->reserve(bytes) : Error::success());
}

/// Part by part: each is progress that others can see.
Error JointFile::writeAt(uint64_t offset, const void *data, size_t size) {
  if (job->processes() == 1)
    return file->write(data, size);
  const char *bytes = static_cast<const char *>(data);
  while (size > 0) {
    size_t part = std::min<size_t>(size, syncBytes - unsynced);
    if (Error error = file->writeAt(offset, bytes, part))
      return error;
    job->progress();
    bytes += part;
    offset += part;
    size -= part;
    unsynced += part;
    if (unsynced < syncBytes)
      continue;
    if (Error error = file->syncData())
      return error;
    job->progress();
    unsynced = 0;
  }
  return Error::success();
}

Error JointFile::commit() {
  if (Error error = job->agree(file->finish()))
    return error;
  if (job->hasFailed())
    return failure("{0}: not written: the run has failed", name());
  return job->agree(file->publish());
}

} // namespace colrow::runtime
