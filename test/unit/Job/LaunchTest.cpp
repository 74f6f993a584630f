// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How launchers are recognised.

#include "colrow/runtime/Job/Launch.h"
#include "SocketPair.h"
#include "gtest/gtest.h"
#include <map>

using namespace colrow::runtime;
using namespace llvm;

namespace {

using Environment = std::map<std::string, std::string>;

Expected<LaunchInfo> launch(Environment environment, StringRef launcher = "",
                            StringRef rendezvous = "") {
  return recognise(
      launcher, rendezvous, [&](StringRef name) -> std::optional<std::string> {
        auto found = environment.find(name.str());
        return found == environment.end() ? std::nullopt
                                          : std::optional(found->second);
      });
}

/// kind process/processes [local] host:port run
std::string shown(Expected<LaunchInfo> info) {
  if (!info)
    return "error: " + toString(info.takeError());
  std::string text = nameOf(info->kind).str() + " " +
                     std::to_string(info->process) + "/" +
                     std::to_string(info->processes);
  if (info->localProcess)
    text += " local " + std::to_string(*info->localProcess);
  if (info->hasRendezvous())
    text += " " + info->host + ":" + std::to_string(info->port);
  for (int fd : info->controlFds)
    text += " fd " + std::to_string(fd);
  if (!info->run.empty())
    text += " run " + info->run;
  return text;
}

Environment with(Environment base, const Environment &more) {
  for (const auto &[name, value] : more)
    base[name] = value;
  return base;
}

const Environment byHand = {{"RANK", "1"},
                            {"WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "node0"},
                            {"MASTER_PORT", "29500"}};
const Environment ofOpenMpi = {{"OMPI_COMM_WORLD_RANK", "2"},
                               {"OMPI_COMM_WORLD_SIZE", "3"},
                               {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}};
// What Slurm 22.05 gives to the script of sbatch -N2 -n4, but for what is named
// SLURM_JOB_*, SLURM_SUBMIT_* and SLURM_TOPOLOGY_*.
const Environment ofSbatch = {{"SLURMD_NODENAME", "left"},
                              {"SLURM_CLUSTER_NAME", "test"},
                              {"SLURM_CPUS_ON_NODE", "3"},
                              {"SLURM_GTIDS", "0"},
                              {"SLURM_JOBID", "8"},
                              {"SLURM_JOB_ID", "8"},
                              {"SLURM_LOCALID", "0"},
                              {"SLURM_NNODES", "2"},
                              {"SLURM_NODEID", "0"},
                              {"SLURM_NODELIST", "left,right"},
                              {"SLURM_NPROCS", "4"},
                              {"SLURM_NTASKS", "4"},
                              {"SLURM_PRIO_PROCESS", "0"},
                              {"SLURM_PROCID", "0"},
                              {"SLURM_TASKS_PER_NODE", "3,1"},
                              {"SLURM_TASK_PID", "467"}};
// To the last task of srun --mpi=none -N1 -n4.
const Environment ofSrun =
    with(ofSbatch, {{"SLURM_CPUS_ON_NODE", "4"},
                    {"SLURM_GTIDS", "0,1,2,3"},
                    {"SLURM_LAUNCH_NODE_IPADDR", "10.77.0.1"},
                    {"SLURM_LOCALID", "3"},
                    {"SLURM_NNODES", "1"},
                    {"SLURM_NODELIST", "left"},
                    {"SLURM_PROCID", "3"},
                    {"SLURM_SRUN_COMM_HOST", "10.77.0.1"},
                    {"SLURM_SRUN_COMM_PORT", "36545"},
                    {"SLURM_STEPID", "0"},
                    {"SLURM_STEP_ID", "0"},
                    {"SLURM_STEP_LAUNCHER_PORT", "36545"},
                    {"SLURM_STEP_NODELIST", "left"},
                    {"SLURM_STEP_NUM_NODES", "1"},
                    {"SLURM_STEP_NUM_TASKS", "4"},
                    {"SLURM_STEP_TASKS_PER_NODE", "4"},
                    {"SLURM_TASKS_PER_NODE", "4"},
                    {"SRUN_DEBUG", "3"}});
// With -N2 --ntasks-per-node=2.
const Environment onTwoNodes = {{"SLURMD_NODENAME", "right"},
                                {"SLURM_GTIDS", "2,3"},
                                {"SLURM_LOCALID", "1"},
                                {"SLURM_NNODES", "2"},
                                {"SLURM_NODEID", "1"},
                                {"SLURM_NODELIST", "left,right"},
                                {"SLURM_STEP_NODELIST", "left,right"},
                                {"SLURM_STEP_NUM_NODES", "2"},
                                {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}};
// What --mpi=pmi2 and --mpi=pmix (PMIx 4.2) add.
const Environment ofPmi2 = {{"PMI_FD", "17"},
                            {"PMI_JOBID", "8.0"},
                            {"PMI_RANK", "3"},
                            {"PMI_SIZE", "4"},
                            {"SLURM_MPI_TYPE", "pmi2"}};
const Environment ofPmix = {
    {"PMIX_GDS_MODULE", "ds21,ds12,hash"},
    {"PMIX_HOSTNAME", "right"},
    {"PMIX_NAMESPACE", "slurm.pmix.8.0"},
    {"PMIX_RANK", "3"},
    {"PMIX_SECURITY_MODE", "native"},
    {"PMIX_SERVER_URI4", "pmix-server.133;tcp4://127.0.0.1:38857"},
    {"PMIX_VERSION", "4.2.2rc2"},
    {"SLURM_MPI_TYPE", "pmix"},
    {"SLURM_PMIXP_ABORT_AGENT_PORT", "38443"},
    {"SLURM_PMIX_MAPPING_SERV", "(vector,(0,2,2))"}};

TEST(Launch, NobodyIsThreads) {
  EXPECT_EQ(shown(launch({})), "threads 0/1");
  EXPECT_EQ(shown(launch({{"WORLD_SIZE", "2"}})), "threads 0/1");
  EXPECT_EQ(shown(launch({{"OMPI_COMM_WORLD_SIZE", "2"}})), "threads 0/1");
  EXPECT_EQ(shown(launch(byHand, "threads")), "threads 0/1");
}

TEST(Launch, OneProcessIsThreads) {
  EXPECT_EQ(shown(launch({{"RANK", "0"}, {"WORLD_SIZE", "1"}})), "threads 0/1");
  EXPECT_EQ(shown(launch({{"RANK", "0"}, {"WORLD_SIZE", "1"}}, "", "h:1")),
            "threads 0/1");
  EXPECT_EQ(shown(launch({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}, "mpich")),
            "threads 0/1");
  // One process of MPI says nothing of the processes that it starts itself.
  EXPECT_EQ(shown(launch(with(byHand, {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}))),
            "env 1/4 node0:29500");
}

TEST(Launch, EachLauncher) {
  EXPECT_EQ(shown(launch(byHand)), "env 1/4 node0:29500");
  EXPECT_EQ(shown(launch(with(byHand, {{"LOCAL_RANK", "1"}}), "", "h:80")),
            "env 1/4 local 1 h:80");
  EXPECT_EQ(shown(launch(ofOpenMpi)), "openmpi 2/3 local 0");
  EXPECT_EQ(shown(launch(ofOpenMpi, "", "[::1]:7")),
            "openmpi 2/3 local 0 ::1:7");
  EXPECT_EQ(shown(launch(
                with(ofOpenMpi, {{"MASTER_ADDR", "a"}, {"MASTER_PORT", "9"}}))),
            "openmpi 2/3 local 0 a:9");
  EXPECT_EQ(
      shown(launch(
          {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}})),
      "mpich 1/2 local 1");
  EXPECT_EQ(shown(launch({{"PMI_RANK", "1"},
                          {"PMI_SIZE", "2"},
                          {"MV2_COMM_WORLD_RANK", "1"},
                          {"MV2_COMM_WORLD_SIZE", "2"}})),
            "mvapich 1/2");
}

TEST(Launch, TorchrunListensItself) {
  Environment torchrun = with(byHand, {{"TORCHELASTIC_RUN_ID", "abc"},
                                       {"TORCHELASTIC_RESTART_COUNT", "0"},
                                       {"LOCAL_RANK", "1"}});
  EXPECT_EQ(shown(launch(torchrun)),
            "torchrun 1/4 local 1 node0:29500 run abc.0");
  torchrun["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  EXPECT_EQ(shown(launch(torchrun)),
            "torchrun 1/4 local 1 node0:29500 run abc.0");
  torchrun["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(shown(launch(torchrun)),
            "torchrun 1/4 local 1 node0:29501 run abc.0");
  EXPECT_EQ(shown(launch(torchrun, "", "x:5")),
            "torchrun 1/4 local 1 x:5 run abc.0");
  torchrun["MASTER_PORT"] = "65535";
  EXPECT_EQ(shown(launch(torchrun)),
            "error: MASTER_PORT=65535: no port to listen on behind torchrun's "
            "own: give --rendezvous HOST:PORT");
}

TEST(Launch, OwnProcesses) {
  Environment own = {{"COLROW_PROCESS", "0"},
                     {"COLROW_PROCESSES", "3"},
                     {"COLROW_CONTROL_FDS", "5,9"}};
  EXPECT_EQ(shown(launch(own)), "own 0/3 fd 5 fd 9");
  EXPECT_EQ(shown(launch(with(ofOpenMpi, own))), "own 0/3 fd 5 fd 9");
  EXPECT_EQ(launch(own)->lastWordFd, -1);
  EXPECT_EQ(launch(with(own, {{"COLROW_LAST_WORD", "7"}}))->lastWordFd, 7);
  EXPECT_EQ(shown(launch(with(own, {{"COLROW_LAST_WORD", "-7"}}))),
            "error: COLROW_LAST_WORD=-7: wanted a number from 0 to 2147483647");
  own["COLROW_PROCESS"] = "1";
  EXPECT_EQ(shown(launch(own)),
            "error: COLROW_CONTROL_FDS=5,9: wanted 1 of them in "
            "process 1 of 3");
  own["COLROW_CONTROL_FDS"] = "4x";
  EXPECT_EQ(shown(launch(own)),
            "error: COLROW_CONTROL_FDS=4x: wanted numbers of open files");
  own.erase("COLROW_CONTROL_FDS");
  EXPECT_EQ(shown(launch(own)),
            "error: COLROW_PROCESS is set: COLROW_CONTROL_FDS is not set");
}

TEST(Launch, Order) {
  Environment all = with(with(ofSrun, byHand), ofOpenMpi);
  EXPECT_EQ(shown(launch(all)), "openmpi 2/3 local 0 node0:29500");
  EXPECT_EQ(shown(launch(with(ofSrun, byHand))), "env 1/4 node0:29500");
  EXPECT_EQ(shown(launch(all, "env")), "env 1/4 node0:29500");
  EXPECT_EQ(shown(launch(all, "mpich")),
            "error: --launcher mpich: PMI_RANK is not set");
  EXPECT_EQ(shown(launch(all, "mpi")), "error: --launcher mpi: wanted one of "
                                       "threads, own, openmpi, mpich, mvapich, "
                                       "pmix, pmi2, srun, torchrun, env");
  // mpirun that starts one torchrun a machine.
  all["TORCHELASTIC_RUN_ID"] = "x";
  EXPECT_EQ(
      shown(launch(all)),
      "error: OMPI_COMM_WORLD_SIZE=3 but WORLD_SIZE=4: say with --launcher "
      "openmpi or --launcher torchrun which of them counts");
}

TEST(Launch, SrunButNotSbatch) {
  EXPECT_EQ(shown(launch(ofSbatch)), "threads 0/1");
  std::string first = shown(launch(ofSrun));
  EXPECT_EQ(first.substr(0, 27), "srun 3/4 local 3 127.0.0.1:");
  EXPECT_EQ(first.substr(first.find(" run ")), " run 8.0");
  EXPECT_EQ(shown(launch(ofSrun, "srun")), first);
  // Another step, another port.
  std::string second = shown(launch(with(ofSrun, {{"SLURM_STEP_ID", "1"}})));
  EXPECT_NE(second.substr(0, 32), first.substr(0, 32));
  // The shell of salloc; a step of one task.
  EXPECT_EQ(shown(launch(with(ofSrun, {{"SLURM_STEP_ID", "4294967290"}}))),
            "threads 0/1");
  EXPECT_EQ(shown(launch(with(ofSrun, {{"SLURM_PROCID", "0"},
                                       {"SLURM_LOCALID", "0"},
                                       {"SLURM_STEP_NUM_TASKS", "1"}}))),
            "threads 0/1");
  EXPECT_EQ(shown(launch(with(ofSrun, {{"SLURM_STEP_ID", "batch"}}))),
            "error: SLURM_STEP_ID=batch: wanted a number from 0 to 4294967295");
  Environment older = ofSrun;
  older.erase("SLURM_STEP_NUM_TASKS");
  EXPECT_EQ(shown(launch(older)), first);
}

TEST(Launch, SrunStartsMpi) {
  Environment two = with(ofSrun, onTwoNodes);
  EXPECT_EQ(shown(launch(with(two, ofPmix))), "pmix 3/4 local 1 run 8.0");
  EXPECT_EQ(shown(launch(with(two, ofPmi2))), "pmi2 3/4 local 1 run 8.0");
  EXPECT_EQ(shown(launch(with(two, ofPmix), "srun")),
            "pmix 3/4 local 1 run 8.0");
  EXPECT_EQ(shown(launch(with(two, ofPmi2), "srun")),
            "pmi2 3/4 local 1 run 8.0");
  EXPECT_EQ(shown(launch(with(two, ofPmi2), "pmix")),
            "error: --launcher pmix: PMIX_RANK is not set");
  EXPECT_EQ(shown(launch(two, "pmi2")),
            "error: --launcher pmi2: PMI_RANK is not set");
  for (const Environment &more : {ofPmix, ofPmi2}) {
    auto info = launch(with(two, more));
    ASSERT_TRUE(bool(info));
    EXPECT_TRUE(info->isMpi());
    // MPI's variables come before those by hand.
    EXPECT_NE(shown(launch(with(with(two, more), byHand))).substr(0, 4),
              "env ");
  }
  // torchrun, one a machine.
  EXPECT_EQ(
      shown(launch(with(with(with(two, ofPmix), byHand),
                        {{"WORLD_SIZE", "8"}, {"TORCHELASTIC_RUN_ID", "x"}}))),
      "error: SLURM_STEP_NUM_TASKS=4 but WORLD_SIZE=8: say with "
      "--launcher pmix or --launcher torchrun which of them counts");
  // No MPI, nothing to carry data.
  EXPECT_EQ(shown(launch(two)),
            "error: SLURM_STEP_NUM_NODES=2, but srun has started no MPI, "
            "through which data goes between machines: give srun --mpi=pmix "
            "(Open MPI) or --mpi=pmi2 (MPICH)");
  EXPECT_EQ(shown(launch(two, "", "left:5")),
            "srun 3/4 local 1 left:5 run 8.0");
}

TEST(Launch, MpirunInAStep) {
  // Seen on the second of two nodes: Open MPI's daemon is a step of one task,
  // MPICH's are one of two.
  Environment ofDaemon = with(ofSrun, {{"SLURM_STEP_NUM_TASKS", "1"},
                                       {"SLURM_NTASKS", "1"},
                                       {"SLURM_PROCID", "0"},
                                       {"SLURM_LOCALID", "0"},
                                       {"PMIX_RANK", "3"},
                                       {"PMIX_NAMESPACE", "664797185"},
                                       {"OMPI_COMM_WORLD_RANK", "3"},
                                       {"OMPI_COMM_WORLD_SIZE", "4"},
                                       {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}});
  EXPECT_EQ(shown(launch(ofDaemon)), "openmpi 3/4 local 1");
  Environment ofHydra = with(ofSrun, {{"SLURM_STEP_NUM_TASKS", "2"},
                                      {"SLURM_STEP_NUM_NODES", "2"},
                                      {"SLURM_PROCID", "1"},
                                      {"SLURM_LOCALID", "0"},
                                      {"PMI_RANK", "3"},
                                      {"PMI_SIZE", "4"},
                                      {"PMI_FD", "6"},
                                      {"MPI_LOCALNRANKS", "2"},
                                      {"MPI_LOCALRANKID", "1"}});
  EXPECT_EQ(shown(launch(ofHydra)), "mpich 3/4 local 1");
}

TEST(Launch, WrongValuesAreNamed) {
  auto error = [&](Environment more, StringRef rendezvous = "") {
    return shown(launch(with(byHand, more), "", rendezvous));
  };
  EXPECT_EQ(error({{"RANK", "4"}}),
            "error: RANK=4: wanted less than 4 (WORLD_SIZE)");
  for (std::string bad :
       {"", "x", "-1", "+1", " 1", "1 ", "0x1", "1e3", "99999999999"})
    EXPECT_EQ(error({{"RANK", bad}}),
              "error: RANK=" + bad + ": wanted a number from 0 to 4294967295");
  EXPECT_EQ(error({{"WORLD_SIZE", "0"}}),
            "error: WORLD_SIZE=0: wanted at least one process");
  EXPECT_EQ(
      error({{"WORLD_SIZE", "4097"}}),
      "error: RANK is set: WORLD_SIZE=4097: wanted a number from 0 to 4096");
  EXPECT_EQ(error({{"LOCAL_RANK", "4"}}),
            "error: LOCAL_RANK=4: wanted a number from 0 to 3");
  EXPECT_EQ(error({{"MASTER_PORT", "0"}}),
            "error: MASTER_PORT=0: no port to listen on: give --rendezvous "
            "HOST:PORT");
  EXPECT_EQ(error({{"MASTER_PORT", "65536"}}),
            "error: MASTER_PORT=65536: wanted a number from 0 to 65535");
  EXPECT_EQ(shown(launch({{"RANK", "0"}})),
            "error: RANK is set: WORLD_SIZE is not set");
  EXPECT_EQ(shown(launch({{"RANK", "0"}, {"WORLD_SIZE", "2"}})),
            "error: MASTER_ADDR is not set: set it and MASTER_PORT to where "
            "process 0 "
            "is to listen, or give --rendezvous HOST:PORT");
  for (std::string bad :
       {"x", "x:", ":5", "x:0", "x:65536", "::1:5", "[::1:5", "x:5y"})
    EXPECT_EQ(error({}, bad).substr(0, 22 + bad.size()),
              "error: --rendezvous " + bad + ": ");
  EXPECT_EQ(
      shown(launch({}, "", "h:5")),
      "error: --rendezvous h:5: nothing says which of how many processes this "
      "is: set RANK and WORLD_SIZE");
  EXPECT_EQ(
      shown(launch({{"PMIX_RANK", "0"}})),
      "error: PMIX_RANK is set, but nothing says how many processes there are: "
      "set RANK and WORLD_SIZE, or give --launcher");
}

} // namespace
