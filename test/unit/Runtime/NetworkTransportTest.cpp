// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of several machines give the bits of one machine's. Machines are
// threads here, each with its own page and arenas; messages go through queues.

#include "colrow/runtime/MPI/NetworkTransport.h"
#include "CollectiveChecks.h"
#include "TestPlan.h"
#include <array>
#include <map>
#include <mutex>
#include <numeric>
#include <queue>
#include <thread>

namespace colrow::runtime::test {
namespace {

/// What all processes' networks have in common.
struct Wire {
  struct Receive {
    void *to;
    size_t bytes;
    bool isDone = false;
  };
  struct Channel {
    std::queue<std::vector<char>> sent;
    std::queue<size_t> waiting; // receives
  };

  void deliver(Channel &channel) {
    for (; !channel.sent.empty() && !channel.waiting.empty();
         channel.sent.pop(), channel.waiting.pop()) {
      Receive &receive = receives[channel.waiting.front()];
      EXPECT_EQ(channel.sent.front().size(), receive.bytes);
      std::copy(channel.sent.front().begin(), channel.sent.front().end(),
                static_cast<char *>(receive.to));
      receive.isDone = true;
    }
  }

  std::mutex mutex;
  std::map<std::array<unsigned, 3>, Channel> channels; // from, to, tag
  std::vector<Receive> receives;
  size_t bytes = 0; // sent in all
};

class WireNetwork : public Network {
public:
  WireNetwork(Wire &wire, unsigned self) : wire(wire), self(self) {}

  unsigned process() const override { return self; }
  unsigned maxTag() const override { return 32767; }
  Request send(const void *from, size_t bytes, unsigned process,
               unsigned tag) override {
    std::lock_guard<std::mutex> lock(wire.mutex);
    EXPECT_LE(tag, maxTag());
    Wire::Channel &channel = wire.channels[{self, process, tag}];
    auto *first = static_cast<const char *>(from);
    channel.sent.emplace(first, first + bytes);
    wire.bytes += bytes;
    wire.deliver(channel);
    return sentAlready;
  }
  Request receive(void *to, size_t bytes, unsigned process,
                  unsigned tag) override {
    std::lock_guard<std::mutex> lock(wire.mutex);
    Wire::Channel &channel = wire.channels[{process, self, tag}];
    wire.receives.push_back({to, bytes});
    channel.waiting.push(wire.receives.size() - 1);
    wire.deliver(channel);
    return wire.receives.size() - 1;
  }
  bool test(Request &request) override {
    std::lock_guard<std::mutex> lock(wire.mutex);
    return request == sentAlready || wire.receives[request].isDone;
  }

private:
  static constexpr Request sentAlready = ~Request(0);

  Wire &wire;
  unsigned self;
};

/// A machine's memory.
struct MachineParts {
  std::unique_ptr<JobPage> page;
  std::vector<SharedArena> arenas;
  MachineMemory memory;
};

MachineParts partsOf(const Mesh &mesh,
                     const std::vector<std::vector<uint8_t>> &axes,
                     unsigned first, unsigned count) {
  constexpr uint64_t arenaBytes = 1 << 20;
  MachineParts parts;
  parts.page = std::make_unique<JobPage>(
      take(JobPage::create(PageLayout(mesh, axes, first, count))));
  for (unsigned i = 0; i < count; ++i) {
    parts.arenas.push_back(take(SharedArena::create("a test", arenaBytes)));
    parts.memory.arenas.push_back(parts.arenas.back().get());
  }
  parts.memory.arenaBytes = arenaBytes;
  return parts;
}

/// Processes of `share` ranks each, on machines of so many processes.
struct Cluster {
  std::vector<unsigned> machines;
  unsigned share = 1;

  Placement placement() const {
    Placement result;
    for (unsigned processes : machines) {
      result.machines.insert(result.machines.end(), processes,
                             unsigned(result.hosts.size()));
      result.hosts.push_back("m" + std::to_string(result.hosts.size()));
    }
    return result;
  }
};

/// Runs f for all ranks of all machines. Returns the bytes that were sent.
size_t onMachines(const Mesh &mesh, std::vector<std::vector<uint8_t>> axes,
                  const Cluster &cluster,
                  llvm::function_ref<void(const TestRank &)> f) {
  Wire wire;
  std::vector<MachineParts> all;
  std::vector<std::unique_ptr<WireNetwork>> networks;
  std::vector<std::unique_ptr<NetworkTransport>> transports;
  std::vector<std::thread> threads;
  NetworkOptions options;
  options.splitLastAxis = true;
  options.bufferBytes = 0; // the smallest pieces
  for (unsigned processes : cluster.machines) {
    unsigned first = networks.size() * cluster.share;
    all.push_back(partsOf(mesh, axes, first, processes * cluster.share));
    for (unsigned p = 0; p < processes; ++p) {
      networks.push_back(std::make_unique<WireNetwork>(wire, networks.size()));
      transports.push_back(take(NetworkTransport::create(
          mesh, *all.back().page, all.back().memory, cluster.placement(), axes,
          *networks.back(), options)));
    }
  }
  threads.reserve(mesh.ranks());
  for (unsigned rank = 0; rank < mesh.ranks(); ++rank)
    threads.emplace_back([&, rank] {
      unsigned process = rank / cluster.share;
      const MachineParts &parts = all[cluster.placement().machines[process]];
      unsigned local = rank - parts.page->layout().firstRank();
      f({rank, *transports[process], parts.arenas[local].get(), nullptr});
    });
  for (std::thread &thread : threads)
    thread.join();
  return wire.bytes;
}

void checkEverything(const Mesh &mesh, const Cluster &cluster) {
  std::vector<std::vector<uint8_t>> lists = {{0}};
  if (mesh.sizes.size() == 2)
    lists = {{0}, {0, 1}, {1}, {1, 0}};
  onMachines(mesh, lists, cluster, [&](const TestRank &on) {
    for (const std::vector<uint8_t> &axes : lists) {
      checkType<DType::f32>(mesh, on, axes);
      checkType<DType::bf16>(mesh, on, axes);
      Collectives<DType::bf16>(mesh, on, axes).checkLongAllReduce();
    }
  });
}

TEST(NetworkTransport, MachinesAddIntegers) {
  onMachines(meshOf({2, 2}), {{0, 1}}, {{2, 2}, 1}, [](const TestRank &on) {
    checkType<DType::i32>(meshOf({2, 2}), on, {0, 1});
    checkType<DType::i64>(meshOf({2, 2}), on, {0, 1});
  });
}

TEST(NetworkTransport, MachinesGiveTheBitsOfOne) {
  checkEverything(meshOf({2}), {{1, 1}, 1});
  checkEverything(meshOf({3}), {{1, 2}, 1});
  checkEverything(meshOf({4}), {{2, 2}, 1}); // an axis that is cut
  checkEverything(meshOf({4}), {{1, 1}, 2});
  checkEverything(meshOf({2, 2}), {{2, 2}, 1});
  checkEverything(meshOf({2, 2}), {{1, 1}, 2});
  checkEverything(meshOf({2, 2}), {{1, 3}, 1});
  checkEverything(meshOf({2, 3}), {{1, 1}, 3});
  checkEverything(meshOf({2, 3}), {{3, 3}, 1});
  checkEverything(meshOf({2, 3}), {{1, 2}, 2}); // borders within an axis
  checkEverything(meshOf({3, 2}), {{1, 1, 1}, 2});
}

/// Bytes that an all-reduce of `count` floats over all axes sends.
size_t trafficOf(const Mesh &mesh, const Cluster &cluster, int64_t count) {
  std::vector<uint8_t> axes(mesh.sizes.size());
  std::iota(axes.begin(), axes.end(), 0);
  return onMachines(mesh, {axes}, cluster, [&](const TestRank &on) {
    on.transport.communicator(on.rank, axes)
        ->run({CollectiveKind::all_reduce, Reduction::sum, DType::f32, count, 0,
               0, 0, on.arena, on.arena});
  });
}

/// An inner axis that lies within machines costs nothing: each machine sends
/// its sum of the other's chunks, and the results of its own.
TEST(NetworkTransport, SumsWithinAMachineAreSentOnce) {
  constexpr int64_t count = 4096;
  size_t outer = trafficOf(meshOf({2}), {{1, 1}, 1}, count);
  EXPECT_EQ(outer, 2 * count * sizeof(float));
  EXPECT_EQ(trafficOf(meshOf({2, 2}), {{2, 2}, 1}, count), outer);
  EXPECT_EQ(trafficOf(meshOf({2, 4}), {{1, 1}, 4}, count), outer);
  // Ranks of an axis that is cut are summed one by one.
  EXPECT_EQ(trafficOf(meshOf({4}), {{2, 2}, 1}, count), outer * 3 / 2);
}

/// A collective whose other machine is gone ends when that is known, and until
/// then says that it waits.
TEST(NetworkTransport, CollectivesEndWhenTheJobHasFailed) {
  Mesh mesh = meshOf({2});
  Wire wire;
  WireNetwork network(wire, 0);
  MachineParts parts = partsOf(mesh, {{0}}, 0, 1);
  NetworkOptions options;
  options.splitLastAxis = true;
  auto transport = take(NetworkTransport::create(
      mesh, *parts.page, parts.memory, Cluster{{1, 1}, 1}.placement(), {{0}},
      network, options));
  auto group = transport->communicator(0, {0});
  std::thread rank([&] {
    for (int64_t count : {1, 4000})
      group->run({CollectiveKind::all_reduce, Reduction::sum, DType::f32, count,
                  0, 0, 0, parts.arenas[0].get(), parts.arenas[0].get()});
  });
  while (parts.page->status(0).waitingSince == 0)
    std::this_thread::yield();
  parts.page->failed() = 1;
  rank.join();
  EXPECT_EQ(parts.page->status(0).waitingSince, 0);
}

std::string refusal(const Mesh &mesh, const Cluster &cluster) {
  Wire wire;
  WireNetwork network(wire, 0);
  MachineParts parts = partsOf(mesh, {{0}}, 0, cluster.share);
  auto made = NetworkTransport::create(mesh, *parts.page, parts.memory,
                                       cluster.placement(), {{0}}, network);
  return made ? "" : llvm::toString(made.takeError());
}

TEST(NetworkTransport, TheLastAxisStaysWithinAMachine) {
  Mesh mesh = meshOf({2, 2});
  EXPECT_EQ(refusal(mesh, {{2, 2}, 1}), "");
  std::string text = refusal(mesh, {{1, 3}, 1});
  for (const char *part : {"axis x", "m0", "m1", "--split-last-axis"})
    EXPECT_NE(text.find(part), text.npos) << text;
}

TEST(NetworkTransport, RanksOfAProcessNeedTags) {
  EXPECT_EQ(refusal(meshOf({2, 128}), {{1, 1}, 128}), "");
  std::string text = refusal(meshOf({2, 129}), {{1, 1}, 129});
  EXPECT_NE(text.find("tags"), text.npos) << text;
}

} // namespace
} // namespace colrow::runtime::test
