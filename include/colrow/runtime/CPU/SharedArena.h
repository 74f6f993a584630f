// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that the processes of a machine can map: a rank's regions, or what
// ranks tell each other (JobPage.h).

#ifndef COLROW_RUNTIME_CPU_SHAREDARENA_H
#define COLROW_RUNTIME_CPU_SHAREDARENA_H

#include "colrow/runtime/Support/FileDescriptor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace colrow::runtime {

/// Who uses an arena: only then is it a file, which limits on files count.
enum class Sharing { threads, processes };

/// Memory of this process, or a mapping of a memfd whose size is sealed: nobody
/// can take its pages away.
class SharedArena {
public:
  SharedArena() = default;
  SharedArena(SharedArena &&other) noexcept { *this = std::move(other); }
  SharedArena &operator=(SharedArena &&other) noexcept;
  ~SharedArena();

  /// New memory, zeroed. `use` says in errors what it is for. Error: more than
  /// the system, or a limit on address space, grants.
  static llvm::Expected<SharedArena>
  create(llvm::StringRef use, uint64_t bytes,
         Sharing sharing = Sharing::processes);
  /// Maps what create() made of as many bytes, here or in another process;
  /// `file` stays the caller's. Error: it is something else.
  static llvm::Expected<SharedArena> map(int file, uint64_t bytes);

  /// Takes all pages now, near the calling thread, in huge pages where the
  /// system grants them: a later access cannot fail. Of memory from create().
  /// `onPart`, if any, is called after each of them that takes a while. Error:
  /// there is not enough.
  llvm::Error populate(llvm::function_ref<void()> onPart = nullptr);

  char *get() const { return start; }
  /// What to give to other processes for map(); -1 when closed, mapped, or for
  /// threads.
  int file() const { return fd.get(); }
  /// When nobody else is going to map it.
  void closeFile() { fd.reset(); }

private:
  llvm::Error mapAligned(int file, uint64_t size);
  llvm::Error shortOf(int code) const;

  char *start = nullptr;
  uint64_t bytes = 0;
  FileDescriptor fd;
  std::string use;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_SHAREDARENA_H
