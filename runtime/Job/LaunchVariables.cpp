// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the processes of a launcher meet.

#include "LaunchVariables.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace colrow::runtime {

/// As errors show what somebody else has set.
static StringRef shortened(StringRef value) { return value.take_front(100); }

/// Digits only: no sign, no blanks, no other base.
static bool parseNumber(StringRef text, unsigned most, unsigned &number) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos &&
         !text.getAsInteger(10, number) && number <= most;
}

Expected<unsigned> numberOf(StringRef name, EnvironmentLookup lookup,
                            unsigned most) {
  std::optional<std::string> value = lookup(name);
  if (!value)
    return failure("{0} is not set", name);
  unsigned number = 0;
  if (!parseNumber(*value, most, number))
    return failure("{0}={1}: wanted a number from 0 to {2}", name,
                   shortened(*value), most);
  return number;
}

/// HOST:PORT, or [HOST]:PORT, which an IPv6 address needs.
static Error parseAddress(StringRef text, LaunchInfo &info) {
  auto [host, port] = text.rsplit(':');
  if (host.consume_front("[") && !host.consume_back("]"))
    host = "";
  else if (host.contains(':') && !text.starts_with("["))
    host = "";
  unsigned number = 0;
  if (host.empty() || !parseNumber(port, 65535, number) || number == 0)
    return failure("--rendezvous {0}: wanted HOST:PORT, or [ADDRESS]:PORT of "
                   "an IPv6 address, with a port from 1 to 65535",
                   shortened(text));
  info.host = host.str();
  info.port = uint16_t(number);
  return Error::success();
}

/// Where torch's own processes would meet, or one port further where torchrun
/// listens there itself.
static Error useMaster(LaunchInfo &info, EnvironmentLookup lookup) {
  std::optional<std::string> host = lookup("MASTER_ADDR");
  if (!host || host->empty())
    return failure("MASTER_ADDR is not set: set it and MASTER_PORT to where "
                   "process 0 is to listen, or give --rendezvous HOST:PORT");
  if (!lookup("MASTER_PORT"))
    return failure("MASTER_PORT is not set: set it, or give --rendezvous "
                   "HOST:PORT");
  Expected<unsigned> port = numberOf("MASTER_PORT", lookup, 65535);
  if (!port)
    return port.takeError();
  bool isTaken = lookup("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
  if (*port == 0 || *port + isTaken > 65535)
    return failure("MASTER_PORT={0}: no port to listen on{1}: give "
                   "--rendezvous HOST:PORT",
                   *port, isTaken ? " behind torchrun's own" : "");
  info.host = std::move(*host);
  info.port = uint16_t(*port + isTaken);
  return Error::success();
}

/// Ranks of one machine need no MPI, and a port of its loopback interface that
/// other steps are unlikely to choose.
static Error useSlurm(LaunchInfo &info, EnvironmentLookup lookup) {
  constexpr unsigned firstPort = 12000, ports = 16000; // below those of clients
  StringRef name = "SLURM_STEP_NUM_NODES";
  if (lookup(name)) {
    Expected<unsigned> nodes = numberOf(name, lookup, UINT32_MAX);
    if (!nodes)
      return nodes.takeError();
    if (*nodes > 1)
      return failure("{0}={1}, but srun has started no MPI, through which data "
                     "goes between machines: give srun --mpi=pmix (Open MPI) "
                     "or --mpi=pmi2 (MPICH)",
                     name, *nodes);
  }
  info.host = "127.0.0.1";
  info.port = uint16_t(firstPort + xxh3_64bits(info.run) % ports);
  return Error::success();
}

static std::string runOf(const LaunchInfo &info, EnvironmentLookup lookup) {
  switch (info.kind) {
  case LauncherKind::torchrun:
    return lookup("TORCHELASTIC_RUN_ID").value_or("") + "." +
           lookup("TORCHELASTIC_RESTART_COUNT").value_or("");
  case LauncherKind::srun:
  case LauncherKind::pmix:
  case LauncherKind::pmi2:
    return lookup("SLURM_JOB_ID").value_or(lookup("SLURM_JOBID").value_or("")) +
           "." +
           lookup("SLURM_STEP_ID")
               .value_or(lookup("SLURM_STEPID").value_or(""));
  default:
    return "";
  }
}

/// The list of tp-run -n.
static Error readControlFds(LaunchInfo &info, EnvironmentLookup lookup) {
  constexpr StringLiteral name = "COLROW_CONTROL_FDS";
  std::optional<std::string> value = lookup(name);
  if (!value)
    return failure("COLROW_PROCESS is set: {0} is not set", name);
  SmallVector<StringRef> parts;
  StringRef(*value).split(parts, ',');
  for (StringRef part : parts) {
    unsigned fd = 0;
    if (!parseNumber(part, INT32_MAX, fd))
      return failure("{0}={1}: wanted numbers of open files", name,
                     shortened(*value));
    info.controlFds.push_back(int(fd));
  }
  if (lookup("COLROW_LAST_WORD")) {
    Expected<unsigned> fd = numberOf("COLROW_LAST_WORD", lookup, INT32_MAX);
    if (!fd)
      return fd.takeError();
    info.lastWordFd = int(*fd);
  }
  size_t wanted = info.process == 0 ? info.processes - 1 : 1;
  if (info.controlFds.size() != wanted)
    return failure("{0}={1}: wanted {2} of them in process {3} of {4}", name,
                   shortened(*value), wanted, info.process, info.processes);
  return Error::success();
}

Error findRendezvous(LaunchInfo &info, StringRef rendezvous,
                     EnvironmentLookup lookup) {
  if (info.kind == LauncherKind::own)
    return readControlFds(info, lookup);
  info.run = runOf(info, lookup);
  if (!rendezvous.empty())
    return parseAddress(rendezvous, info);
  switch (info.kind) {
  case LauncherKind::srun:
    return useSlurm(info, lookup);
  case LauncherKind::torchrun:
  case LauncherKind::environment:
    return useMaster(info, lookup);
  default: // MPI tells where, unless the user does
    if (lookup("MASTER_ADDR") && lookup("MASTER_PORT"))
      return useMaster(info, lookup);
    return Error::success();
  }
}

} // namespace colrow::runtime
