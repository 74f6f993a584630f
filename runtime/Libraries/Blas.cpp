// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding BLAS, keeping it to one thread a call, and asking what it is.

#include "Blas.h"
#include "OneThread.h"
#include "colrow/runtime/Support/Errors.h"
#include <cstdlib>
#include <sys/mman.h>
#include <sys/resource.h>

using namespace llvm;

namespace colrow::runtime {

static constexpr const char *names[] = {"libopenblas.so.0", "libmkl_rt.so.2",
                                        "libblis.so.4", "libblas.so.3"};

/// OpenBLAS maps 128 MiB a thread and tries for ever when it cannot: with
/// a limit on address space, see first that there is room.
static Error checkRoom(unsigned ranks) {
  struct rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return Error::success();
  uint64_t bytes = (uint64_t(ranks) * 192 + 64) << 20; // stacks and heaps too
  void *room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    return failure("cannot allocate {0} bytes of work memory for BLAS on {1} "
                   "ranks: the limit on address space is {2} bytes (ulimit -v)",
                   bytes, ranks, uint64_t(limit.rlim_cur));
  ::munmap(room, bytes);
  return Error::success();
}

/// Before it is loaded: OpenBLAS starts its threads then.
static void askForOneThread() {
  for (const char *variable :
       {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"})
    ::setenv(variable, "1", /*overwrite=*/1);
  ::setenv("MKL_THREADING_LAYER", "SEQUENTIAL", /*overwrite=*/1);
}

static void setOneThread(Library &library) {
  for (const char *symbol : {"openblas_set_num_threads", "MKL_Set_Num_Threads"})
    if (void (*set)(int); library.find(symbol, set))
      set(1);
  if (void (*set)(long); library.find("bli_thread_set_num_threads", set))
    set(1);
  addOpenMpOf(library);
}

/// "OpenBLAS 0.3.21 ... Haswell MAX_THREADS=64": its own words, where it has
/// some.
static std::string describe(Library &library) {
  if (const char *(*config)(); library.find("openblas_get_config", config))
    return config();
  if (void (*version)(char *, int);
      library.find("MKL_Get_Version_String", version)) {
    char text[256] = {};
    version(text, sizeof(text) - 1);
    int (*branch)();
    bool known = library.find("MKL_CBWR_Get_Auto_Branch", branch);
    return formatv("{0} (branch {1})", StringRef(text).trim(),
                   known ? branch() : -1);
  }
  const char *(*version)(), *(*nameOf)(int);
  int (*architecture)();
  if (library.find("bli_info_get_version_str", version) &&
      library.find("bli_arch_query_id", architecture) &&
      library.find("bli_arch_string", nameOf))
    return formatv("BLIS {0} ({1})", version(), nameOf(architecture()));
  return library.name();
}

Expected<Blas> Blas::open(unsigned ranks) {
  if (Error error = checkRoom(ranks))
    return std::move(error);
  askForOneThread();
  auto library = Library::open(
      {"COLROW_BLAS", names, "cblas_sgemm",
       "matrix products need a BLAS library with the C interface, and there is "
       "none of {0}: install one (Debian: apt install libopenblas0), or set "
       "COLROW_BLAS to the path of one"});
  if (!library)
    return library.takeError();
  setOneThread(*library);
  std::string text = describe(*library);
  if (StringRef(text).contains("USE64BITINT"))
    return failure("{0}: is built for 64-bit sizes: the plain one is needed",
                   library->name());
  Sgemm *sgemm;
  library->find("cblas_sgemm", sgemm);
  return Blas(sgemm, std::move(text));
}

} // namespace colrow::runtime
