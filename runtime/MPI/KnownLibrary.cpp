// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The MPI that belongs to a launcher, and its plug-in.

#include "KnownLibrary.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

using namespace llvm;

namespace colrow::runtime {

static constexpr KnownLibrary knownLibraries[] = {
    {LauncherKind::openmpi, "openmpi", "Open MPI", "Open MPI's launcher",
     "libopenmpi-dev"},
    {LauncherKind::mpich, "mpich", "MPICH", "MPICH's launcher", "libmpich-dev"},
    {LauncherKind::mvapich, "mvapich", "MVAPICH", "MVAPICH's launcher",
     nullptr},
    {LauncherKind::pmix, "openmpi", "Open MPI", "srun --mpi=pmix",
     "libopenmpi-dev"},
    {LauncherKind::pmi2, "mpich", "MPICH", "srun --mpi=pmi2", "libmpich-dev"},
};

const KnownLibrary &knownOf(LauncherKind kind) {
  for (const KnownLibrary &known : knownLibraries)
    if (known.kind == kind)
      return known;
  return knownLibraries[0];
}

static std::string defaultPath(const KnownLibrary &known) {
  SmallString<128> program;
  if (sys::fs::real_path("/proc/self/exe", program))
    return "";
  StringRef folder = sys::path::parent_path(sys::path::parent_path(program));
  return formatv("{0}/lib/colrow/libcolrow-mpi-{1}.so", folder, known.plugin);
}

static bool isSlurm(const KnownLibrary &known) {
  return known.kind == LauncherKind::pmix || known.kind == LauncherKind::pmi2;
}

static std::string cureOf(const KnownLibrary &known) {
  std::string cure =
      known.package
          ? formatv("install {0} and build Colrow again", known.package).str()
          : formatv("build Colrow where {0}'s mpicc is found", known.name)
                .str();
  return cure + (isSlurm(known) ? ", or run on one machine with srun "
                                  "--mpi=none"
                                : "");
}

Expected<const ColrowMpi *> loadPlugin(const KnownLibrary &known) {
  std::optional<std::string> named = environmentOf("COLROW_MPI_PLUGIN");
  std::string path = named ? *named : defaultPath(known);
  std::string cure = cureOf(known);
  if (!named && !sys::fs::exists(path))
    return failure("started by {0}, but this build has no plug-in for {1} "
                   "({2}): {3}",
                   known.launcher, known.name, path, cure);
  std::string what = named ? "COLROW_MPI_PLUGIN=" + path : path;
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return failure("the plug-in for {0} cannot be loaded: {1}: {2}", known.name,
                   ::dlerror(), cure);
  auto *get =
      reinterpret_cast<decltype(&colrow_mpi)>(::dlsym(library, "colrow_mpi"));
  if (!get)
    return failure("{0}: is no plug-in for MPI", what);
  const ColrowMpi *mpi = get();
  if (mpi->abi != COLROW_MPI_ABI)
    return failure("{0}: is of another version of Colrow: build it again",
                   what);
  return mpi;
}

Error checkWorld(const LaunchInfo &launch, const KnownLibrary &known,
                 const ColrowMpiWorld &world) {
  if (world.size == launch.processes && world.rank == launch.process)
    return Error::success();
  const char *cure =
      isSlurm(known) ? "give srun --mpi=pmix for Open MPI, --mpi=pmi2 for MPICH"
                     : "start with the mpirun of that library, or name the "
                       "launcher (--launcher)";
  return failure("the variables of {0} say process {1} of {2}, but the library "
                 "that was loaded, {3}, says {4} of {5}: {6}",
                 known.launcher, launch.process, launch.processes,
                 StringRef(world.library).split(',').first, world.rank,
                 world.size, cure);
}

} // namespace colrow::runtime
