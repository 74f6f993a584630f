// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding oneDNN, and whether it is one that this was written for.

#include "OneDnn.h"
#include "OneThread.h"
#include "colrow/runtime/Support/Errors.h"

using namespace llvm;

namespace colrow::runtime {

static constexpr const char *names[] = {"libdnnl.so.2"};

static Error checkVersion(const Library &library,
                          const dnnl_version_t &version) {
  if (version.major != DNNL_VERSION_MAJOR)
    return failure("{0}: is oneDNN {1}.{2}, but {3}.x is needed: name one with "
                   "COLROW_ONEDNN, or set it to none (slower)",
                   library.name(), version.major, version.minor,
                   DNNL_VERSION_MAJOR);
  if (version.cpu_runtime != DNNL_RUNTIME_OMP &&
      version.cpu_runtime != DNNL_RUNTIME_SEQ)
    return failure("{0}: was built for threads other than OpenMP's: build it "
                   "with DNNL_CPU_RUNTIME=OMP, or set COLROW_ONEDNN to none "
                   "(slower)",
                   library.name());
  return Error::success();
}

Expected<std::unique_ptr<OneDnn>> OneDnn::open() {
  auto library = Library::open(
      {"COLROW_ONEDNN", names, "dnnl_version",
       "bf16 matrix products on this CPU need oneDNN 2, and there is no {0}: "
       "install it (Debian 12: apt install libdnnl2), or set COLROW_ONEDNN to "
       "its path, or to none (slower: float32 by BLAS)"});
  if (!library)
    return library.takeError();
  OneDnnFunctions f;
  // First what every version has: others lack more.
  library->find("dnnl_version", f.version);
  if (Error error = checkVersion(*library, *f.version()))
    return std::move(error);
  if (const char *missing = f.findIn(*library))
    return failure("{0}: has no {1}", library->name(), missing);
  addOpenMpOf(*library);
  useOneThread();
  std::unique_ptr<OneDnn> result(new OneDnn(f));
  dnnl_engine_t engine;
  if (f.engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
    return failure("{0}: has no engine for CPUs", library->name());
  result->engine.reset(engine);
  return result;
}

bool OneDnn::multipliesBf16() const {
  dnnl_cpu_isa_t isa = f.get_effective_cpu_isa();
  return (isa & dnnl_cpu_isa_avx512_core_bf16) == dnnl_cpu_isa_avx512_core_bf16;
}

static std::string nameOf(dnnl_cpu_isa_t isa) {
  switch (isa) {
  case dnnl_cpu_isa_avx512_core_bf16:
    return "avx512_core_bf16";
  case dnnl_cpu_isa_avx512_core_amx:
    return "avx512_core_amx";
  default:
    return formatv("isa {0:x}", unsigned(isa));
  }
}

std::string OneDnn::description() const {
  const dnnl_version_t *version = f.version();
  return formatv("oneDNN {0}.{1}.{2} ({3})", version->major, version->minor,
                 version->patch, nameOf(f.get_effective_cpu_isa()));
}

} // namespace colrow::runtime
