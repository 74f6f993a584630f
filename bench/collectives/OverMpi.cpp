// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pair's parent, and its two processes.

#include "OverMpi.h"
#include "colrow/runtime/MPI/MpiNetwork.h"
#include "colrow/runtime/MPI/NetworkTransport.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace colrow;
using namespace colrow::runtime;

namespace colrow::bench {

static ExitOnError orExit("bench-collectives: ");

MpiPair::MpiPair(const std::vector<std::string> &program) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
    return;
  std::vector<std::string> words = {
      "mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", "2"};
  if (::geteuid() == 0)
    words.insert(words.begin() + 1, "--allow-run-as-root");
  words.insert(words.end(), program.begin(), program.end());
  child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    std::vector<char *> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string &word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  orders = ::fdopen(in[1], "w");
  times = ::fdopen(out[0], "r");
}

MpiPair::~MpiPair() {
  if (orders)
    std::fclose(orders);
  if (child > 0)
    ::waitpid(child, nullptr, 0);
  if (times)
    std::fclose(times);
}

double MpiPair::turn(int64_t bytes, unsigned calls) {
  double seconds = -1;
  if (orders &&
      std::fprintf(orders, "%lld %u\n", (long long)bytes, calls) > 0 &&
      std::fflush(orders) == 0 && std::fscanf(times, "%lf", &seconds) != 1)
    seconds = -1;
  return seconds;
}

/// The turn that process 0 was told: bytes, calls; 0 bytes: none is left.
static void nextTurn(Network &network, int64_t (&turn)[2]) {
  long long bytes = 0, calls = 0;
  unsigned self = network.process();
  if (self == 0 && std::scanf("%lld %lld", &bytes, &calls) == 2) {
    turn[0] = bytes;
    turn[1] = calls;
  }
  Network::Request request =
      self == 0 ? network.send(turn, sizeof(turn), 1, network.maxTag())
                : network.receive(turn, sizeof(turn), 0, network.maxTag());
  while (!network.test(request))
    ::usleep(1000);
}

int serveOverMpi(int64_t largest) {
  LaunchInfo launch = orExit(recognise("openmpi", "", environmentOf));
  auto network = orExit(MpiNetwork::start(launch, 60, "bench-collectives"));
  unsigned self = network->process();
  Mesh mesh;
  mesh.sizes = {2};
  mesh.names = {"tp"};
  JobPage page = orExit(JobPage::create(PageLayout(mesh, {{0}}, self, 1)));
  uint64_t arenaBytes = 2 * uint64_t(largest);
  SharedArena arena = orExit(SharedArena::create("a rank", arenaBytes));
  orExit(arena.populate());
  std::fill_n(reinterpret_cast<float *>(arena.get()),
              arenaBytes / sizeof(float), 1.0f);
  NetworkOptions options;
  options.splitLastAxis = true;
  auto transport = orExit(
      NetworkTransport::create(mesh, page, {{arena.get()}, arenaBytes, nullptr},
                               {{0, 1}, {"a", "b"}}, {{0}}, *network, options));
  auto group = transport->communicator(self, {0});
  auto run = [&](int64_t count) {
    group->run({plan::CollectiveKind::all_reduce, plan::Reduction::sum,
                plan::DType::f32, count, 0, 0, 0, arena.get(),
                arena.get() + largest});
  };
  for (int64_t turn[2] = {};; turn[0] = 0) {
    nextTurn(*network, turn);
    if (turn[0] <= 0 || turn[0] > largest)
      break;
    for (int i = 0; i < 32; ++i)
      run(1);
    auto begin = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < turn[1]; ++i)
      run(turn[0] / int64_t(sizeof(float)));
    std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - begin;
    if (self == 0) {
      std::printf("%.9g\n", passed.count() / double(turn[1]));
      std::fflush(stdout);
    }
  }
  network->finish();
  return 0;
}

} // namespace colrow::bench
