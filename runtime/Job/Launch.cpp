// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which launcher started this process, by the variables that it sets.

#include "colrow/runtime/Job/Launch.h"
#include "LaunchVariables.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>

using namespace llvm;

namespace colrow::runtime {

namespace {
/// The variables that one launcher sets for each process.
struct Variables {
  LauncherKind kind;
  StringLiteral rank, size, local;
};
} // namespace

static constexpr Variables variablesOfOpenMpi = {
    LauncherKind::openmpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK"};
static constexpr Variables variablesOfMvapich = {
    LauncherKind::mvapich, "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
    "MV2_COMM_WORLD_LOCAL_RANK"};
static constexpr Variables variablesOfMpich = {LauncherKind::mpich, "PMI_RANK",
                                               "PMI_SIZE", "MPI_LOCALRANKID"};
static constexpr Variables variablesOfTorch = {
    LauncherKind::environment, "RANK", "WORLD_SIZE", "LOCAL_RANK"};
static constexpr Variables variablesOfOwn = {
    LauncherKind::own, "COLROW_PROCESS", "COLROW_PROCESSES", ""};
static constexpr Variables variablesOfPmix = {
    LauncherKind::pmix, "PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"};
static constexpr Variables variablesOfPmi2 = {LauncherKind::pmi2, "PMI_RANK",
                                              "PMI_SIZE", "SLURM_LOCALID"};
static constexpr Variables variablesOfSrun = {
    LauncherKind::srun, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
    "SLURM_LOCALID"};
static constexpr Variables variablesOfTasks = {
    LauncherKind::srun, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"};

static constexpr std::pair<LauncherKind, StringLiteral> names[] = {
    {LauncherKind::threads, "threads"},   {LauncherKind::own, "own"},
    {LauncherKind::openmpi, "openmpi"},   {LauncherKind::mpich, "mpich"},
    {LauncherKind::mvapich, "mvapich"},   {LauncherKind::pmix, "pmix"},
    {LauncherKind::pmi2, "pmi2"},         {LauncherKind::srun, "srun"},
    {LauncherKind::torchrun, "torchrun"}, {LauncherKind::environment, "env"},
};

StringRef nameOf(LauncherKind kind) {
  for (const auto &[known, name] : names)
    if (known == kind)
      return name;
  return "";
}

static Expected<LauncherKind> kindOf(StringRef name) {
  std::vector<StringRef> all;
  for (const auto &[kind, known] : names) {
    if (known == name)
      return kind;
    all.push_back(known);
  }
  return failure("--launcher {0}: wanted one of {1}", name, join(all, ", "));
}

std::optional<std::string> environmentOf(StringRef name) {
  const char *value = std::getenv(name.str().c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

/// Rank, size and local rank; nothing where the launcher has set none of the
/// first two. A size alone is what an earlier process left in the environment.
static Expected<std::optional<LaunchInfo>>
readVariables(const Variables &variables, EnvironmentLookup lookup) {
  if (!lookup(variables.rank))
    return std::nullopt;
  Expected<unsigned> size = numberOf(variables.size, lookup, maxProcesses);
  if (!size)
    return prefixed((variables.rank + " is set").str(), size.takeError());
  if (*size == 0)
    return failure("{0}=0: wanted at least one process", variables.size);
  Expected<unsigned> rank = numberOf(variables.rank, lookup, UINT32_MAX);
  if (!rank)
    return rank.takeError();
  if (*rank >= *size)
    return failure("{0}={1}: wanted less than {2} ({3})", variables.rank, *rank,
                   *size, variables.size);
  LaunchInfo info;
  info.kind = variables.kind;
  info.process = *rank;
  info.processes = *size;
  if (!variables.local.empty() && lookup(variables.local)) {
    Expected<unsigned> local = numberOf(variables.local, lookup, *size - 1);
    if (!local)
      return local.takeError();
    info.localProcess = *local;
  }
  return info;
}

/// True in a step of srun that runs tasks. sbatch sets SLURM_PROCID too, but no
/// step; the shell of salloc is in one of a number that no task's step has.
static Expected<bool> isSrunStep(EnvironmentLookup lookup) {
  constexpr unsigned firstReserved = 0xfffffff0;
  if (!lookup("SLURM_STEP_ID") && !lookup("SLURM_STEPID"))
    return false;
  StringRef name = lookup("SLURM_STEP_ID") ? "SLURM_STEP_ID" : "SLURM_STEPID";
  Expected<unsigned> step = numberOf(name, lookup, UINT32_MAX);
  if (!step)
    return step.takeError();
  return *step < firstReserved;
}

/// How srun lets an MPI's processes find each other, if at all.
static const Variables &variablesOfStep(EnvironmentLookup lookup) {
  for (const Variables *variables :
       {&variablesOfPmix, &variablesOfPmi2, &variablesOfSrun})
    if (lookup(variables->rank) && lookup(variables->size))
      return *variables;
  return variablesOfTasks;
}

static Expected<std::optional<LaunchInfo>> readSrun(EnvironmentLookup lookup) {
  Expected<bool> isStep = isSrunStep(lookup);
  if (!isStep)
    return isStep.takeError();
  if (!*isStep)
    return std::nullopt;
  return readVariables(variablesOfStep(lookup), lookup);
}

/// Those of MPI's launchers, in the order in which they are asked. MVAPICH2 and
/// others set PMI's too. mpirun may run in a step of its own, or of the user's.
static Expected<SmallVector<const Variables *>>
launchersOfMpi(EnvironmentLookup lookup) {
  SmallVector<const Variables *> all = {&variablesOfOpenMpi,
                                        &variablesOfMvapich, &variablesOfMpich};
  Expected<bool> isStep = isSrunStep(lookup);
  if (!isStep)
    return isStep.takeError();
  if (!*isStep)
    return all;
  if (!lookup(variablesOfMpich.local))
    all.back() = &variablesOfPmi2;
  all.push_back(&variablesOfPmix);
  return all;
}

static Expected<std::optional<LaunchInfo>> readTorch(EnvironmentLookup lookup) {
  Expected<std::optional<LaunchInfo>> info =
      readVariables(variablesOfTorch, lookup);
  if (info && *info && lookup("TORCHELASTIC_RUN_ID"))
    (*info)->kind = LauncherKind::torchrun;
  return info;
}

/// torchrun may itself be what MPI's launcher has started, once a machine.
static Expected<std::optional<LaunchInfo>>
checkAgainstTorch(const Variables &variables, const LaunchInfo &mpi,
                  EnvironmentLookup lookup) {
  Expected<std::optional<LaunchInfo>> torch = readTorch(lookup);
  if (!torch)
    return torch.takeError();
  if (*torch && (*torch)->kind == LauncherKind::torchrun &&
      (*torch)->processes != mpi.processes)
    return failure("{0}={1} but {2}={3}: say with --launcher {4} or --launcher "
                   "torchrun which of them counts",
                   variables.size, mpi.processes, variablesOfTorch.size,
                   (*torch)->processes, nameOf(mpi.kind));
  return mpi;
}

/// Who says that there are several processes, or who says that there is one.
static Expected<std::optional<LaunchInfo>> readAny(EnvironmentLookup lookup) {
  std::optional<LaunchInfo> single;
  auto read = [&](Expected<std::optional<LaunchInfo>> info)
      -> Expected<std::optional<LaunchInfo>> {
    if (!info || !*info || (*info)->processes > 1)
      return info;
    single = **info;
    return std::nullopt;
  };
  auto found = read(readVariables(variablesOfOwn, lookup));
  if (!found || *found)
    return found;
  auto launchers = launchersOfMpi(lookup);
  if (!launchers)
    return launchers.takeError();
  for (const Variables *variables : *launchers) {
    auto mpi = read(readVariables(*variables, lookup));
    if (mpi && *mpi)
      return checkAgainstTorch(*variables, **mpi, lookup);
    if (!mpi)
      return mpi;
  }
  if (auto torch = read(readTorch(lookup)); !torch || *torch)
    return torch;
  if (auto srun = read(readSrun(lookup)); !srun || *srun)
    return srun;
  if (!single && lookup("PMIX_RANK"))
    return failure("PMIX_RANK is set, but nothing says how many processes "
                   "there are: set RANK and WORLD_SIZE, or give --launcher");
  return single;
}

/// Nothing for threads.
static const Variables *variablesOf(LauncherKind kind,
                                    EnvironmentLookup lookup) {
  if (kind == LauncherKind::srun)
    return &variablesOfStep(lookup);
  if (kind == LauncherKind::torchrun)
    return &variablesOfTorch;
  for (const Variables *variables :
       {&variablesOfOwn, &variablesOfOpenMpi, &variablesOfMvapich,
        &variablesOfMpich, &variablesOfPmix, &variablesOfPmi2,
        &variablesOfTorch})
    if (variables->kind == kind)
      return variables;
  return nullptr;
}

/// A launcher that was named must have started this process.
static Expected<LaunchInfo> readNamed(StringRef name,
                                      EnvironmentLookup lookup) {
  Expected<LauncherKind> kind = kindOf(name);
  if (!kind)
    return kind.takeError();
  const Variables *variables = variablesOf(*kind, lookup);
  if (!variables)
    return LaunchInfo();
  Expected<std::optional<LaunchInfo>> info =
      variables == &variablesOfTorch ? readTorch(lookup)
                                     : readVariables(*variables, lookup);
  if (!info)
    return info.takeError();
  if (!*info)
    return failure("--launcher {0}: {1} is not set", name, variables->rank);
  return **info;
}

Expected<LaunchInfo> recognise(StringRef launcher, StringRef rendezvous,
                               EnvironmentLookup lookup) {
  LaunchInfo info;
  if (!launcher.empty()) {
    Expected<LaunchInfo> named = readNamed(launcher, lookup);
    if (!named)
      return named.takeError();
    info = std::move(*named);
  } else {
    Expected<std::optional<LaunchInfo>> any = readAny(lookup);
    if (!any)
      return any.takeError();
    if (!*any && !rendezvous.empty())
      return failure("--rendezvous {0}: nothing says which of how many "
                     "processes this is: set RANK and WORLD_SIZE",
                     rendezvous);
    if (*any)
      info = std::move(**any);
  }
  if (info.processes == 1)
    return LaunchInfo();
  if (Error error = findRendezvous(info, rendezvous, lookup))
    return std::move(error);
  return info;
}

} // namespace colrow::runtime
