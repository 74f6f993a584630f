// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is done in a folder before the first step: it is made, its kinds of
// entries are tried, and all processes are seen to see it.

#include "OwnSteps.h"
#include "colrow/runtime/Checkpoint/CheckpointFolder.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

Error CheckpointFolder::begin() {
  if (isReady)
    return Error::success();
  if (Error error = job.agree(job.isFirst() ? prepare() : Error::success()))
    return error;
  if (job.processes() > 1)
    if (Error error = share())
      return error;
  isReady = true;
  return Error::success();
}

/// All processes must see one folder: what the first puts there.
Error CheckpointFolder::share() {
  std::string name = sharedFileName(run);
  if (job.isFirst()) {
    if (folder->kindOf(name) == EntryKind::file)
      if (Error error = folder->remove(name)) // of a killed run of this name
        return error;
    Expected<std::string> proof = newRunName();
    if (!proof)
      return proof.takeError();
    if (Error error = writeFileIn(*folder, name, *proof))
      return error;
    auto told = job.fromFirst(*proof);
    Error unseen = told ? job.agree(Error::success()) : told.takeError();
    Error kept = folder->remove(name);
    if (!unseen)
      return kept;
    consumeError(std::move(kept));
    return unseen;
  }
  auto proof = job.fromFirst("");
  if (!proof)
    return proof.takeError();
  Expected<Folder> opened = Folder::open(path);
  if (!opened)
    return job.agree(opened.takeError());
  auto seen = expectedToOptional(readTextFile(*opened, name, proof->size()));
  if (seen != *proof)
    return job.agree(failure("{0}: is not the folder that process 0 sees: give "
                             "--save a folder that all machines share",
                             path));
  folder = std::move(*opened);
  return job.agree(Error::success());
}

/// What the first process does alone.
Error CheckpointFolder::prepare() {
  if (!folder) {
    if (Error error = makeFolders())
      return error;
    if (Error error = lock())
      return error;
  }
  return form == Form::files ? Error::success() : tryLinks();
}

Error CheckpointFolder::makeFolders() {
  SmallVector<std::string> missing;
  struct stat status;
  StringRef next = path;
  while (!next.empty() && ::lstat(next.str().c_str(), &status) != 0 &&
         errno == ENOENT) {
    missing.push_back(next.str());
    next = sys::path::parent_path(next);
  }
  for (const std::string &name : reverse(missing)) {
    if (::mkdir(name.c_str(), 0777) == 0)
      made.push_back(name);
    else if (errno != EEXIST)
      return failure("{0}: cannot create folder: {1}", name, strerror(errno));
  }
  return Error::success();
}

/// Whether the file system has links: not all have.
Error CheckpointFolder::tryLinks() {
  std::string name = trialLinkName(run);
  if (folder->kindOf(name) == EntryKind::link)
    if (Error error = folder->remove(name)) // of a killed run of this name
      return error;
  if (::symlinkat(trialTarget.data(), folder->descriptor(), name.c_str()) ==
      0) {
    bool isLink = folder->linkTarget(name) == trialTarget;
    if (Error error = folder->remove(name))
      return error;
    if (isLink) {
      form = Form::links;
      return Error::success();
    }
  } else if (!is_contained({EPERM, ENOSYS, EOPNOTSUPP, EINVAL}, errno)) {
    return failure("{0}: cannot create a link: {1}", path, strerror(errno));
  }
  if (form == Form::links)
    return failure("{0}: was saved with links, which this file system does not "
                   "have: give --save another folder",
                   path);
  form = Form::files;
  return Error::success();
}

} // namespace colrow::runtime
