// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Topology files: the project's own are read, all others are refused in one
// line that says where.

#include "colrow/Cost/CostModel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <random>

using namespace colrow::cost;

namespace {

const std::string kValid = "name: small\n"
                           "flops_per_second_f32: 1e9\n"
                           "memory_bytes_per_second: 2.5e9\n"
                           "memory_bytes: 4000000000\n"
                           "levels:\n"
                           "  - name: inner\n"
                           "    ranks: 4\n"
                           "    latency_seconds: 0\n"
                           "    bytes_per_second: 1e9\n"
                           "  - name: outer\n"
                           "    ranks: 8\n"
                           "    latency_seconds: 1e-5\n"
                           "    bytes_per_second: 1e8\n";

/// Reads `text` from a file, whose name becomes FILE in errors.
llvm::Expected<Topology> readText(llvm::StringRef text) {
  llvm::SmallString<128> path;
  int descriptor = -1;
  (void)llvm::sys::fs::createTemporaryFile("topology", "yaml", descriptor,
                                           path);
  llvm::FileRemover remover(path);
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
  llvm::Expected<Topology> topology = readTopology(path);
  if (topology)
    return topology;
  std::string message = llvm::toString(topology.takeError());
  if (llvm::StringRef(message).starts_with(path))
    message.replace(0, path.size(), "FILE");
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// The error after replacing `line` of kValid (from 1) by `with`.
std::string errorAfter(unsigned line, llvm::StringRef with) {
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(kValid).split(lines, '\n');
  lines[line - 1] = with;
  llvm::Expected<Topology> topology = readText(llvm::join(lines, "\n"));
  return topology ? "" : llvm::toString(topology.takeError());
}

TEST(Topology, AllFieldsAreRead) {
  llvm::Expected<Topology> topology = readText(kValid);
  ASSERT_TRUE(bool(topology)) << llvm::toString(topology.takeError());
  EXPECT_EQ(topology->name, "small");
  EXPECT_EQ(topology->flopsPerSecondF32, 1e9);
  EXPECT_EQ(topology->memoryBytesPerSecond, 2.5e9);
  EXPECT_EQ(topology->memoryBytes, 4e9);
  ASSERT_EQ(topology->levels.size(), 2u);
  EXPECT_EQ(topology->levels[0].name, "inner");
  EXPECT_EQ(topology->levels[1].ranks, 8u);
  EXPECT_EQ(topology->levels[0].latencySeconds, 0);
  EXPECT_EQ(topology->levels[1].latencySeconds, 1e-5);
  EXPECT_EQ(topology->levels[1].bytesPerSecond, 1e8);
}

TEST(Topology, TheRateOfBf16MayBeLeftOut) {
  llvm::Expected<Topology> without = readText(kValid);
  ASSERT_TRUE(bool(without)) << llvm::toString(without.takeError());
  EXPECT_EQ(without->flopsPerSecondBf16, 0);
  llvm::Expected<Topology> with =
      readText("flops_per_second_bf16: 2e11\n" + kValid);
  ASSERT_TRUE(bool(with)) << llvm::toString(with.takeError());
  EXPECT_EQ(with->flopsPerSecondBf16, 2e11);
  llvm::Expected<Topology> none =
      readText("flops_per_second_bf16: 0\n" + kValid);
  ASSERT_FALSE(bool(none));
  EXPECT_EQ(llvm::toString(none.takeError()),
            "FILE:1: wanted a number above zero");
}

TEST(Topology, ProjectFilesAreRead) {
  llvm::Expected<Topology> flat = readTopology(TOPOLOGIES "/flat.yaml");
  ASSERT_TRUE(bool(flat)) << llvm::toString(flat.takeError());
  EXPECT_EQ(flat->levels.size(), 1u);
  EXPECT_EQ(flat->levels[0].latencySeconds, 0);
  llvm::Expected<Topology> node = readTopology(TOPOLOGIES "/node8.yaml");
  ASSERT_TRUE(bool(node)) << llvm::toString(node.takeError());
  EXPECT_FALSE(llvm::errorToBool(CostModel(*node).checkRanks(8)));
  EXPECT_TRUE(llvm::errorToBool(CostModel(*node).checkRanks(9)));
}

TEST(Topology, DefaultIsUsable) {
  CostModel model(defaultTopology());
  EXPECT_GT(model.computePs(1, 1), 0);
  EXPECT_GT(model.allReducePs(1, 2), 0);
}

TEST(Topology, FieldsThatAreNoRateAreRefused) {
  EXPECT_EQ(errorAfter(2, "flops_per_second_f32: fast"),
            "FILE:2: wanted a finite number");
  EXPECT_EQ(errorAfter(2, "flops_per_second_f32: nan"),
            "FILE:2: wanted a finite number");
  EXPECT_EQ(errorAfter(3, "memory_bytes_per_second: inf"),
            "FILE:3: wanted a finite number");
  EXPECT_EQ(errorAfter(3, "memory_bytes_per_second: 1e999"),
            "FILE:3: wanted a finite number");
  EXPECT_EQ(errorAfter(4, "memory_bytes: 0"),
            "FILE:4: wanted a number above zero");
  EXPECT_EQ(errorAfter(9, "    bytes_per_second: -1"),
            "FILE:9: wanted a number above zero");
  EXPECT_EQ(errorAfter(8, "    latency_seconds: -1e-9"),
            "FILE:8: wanted a number that is not negative");
  EXPECT_EQ(errorAfter(7, "    ranks: 0"),
            "FILE:7: wanted a whole number above zero");
  EXPECT_EQ(errorAfter(7, "    ranks: 2.5"),
            "FILE:7: wanted a whole number above zero");
}

TEST(Topology, UnknownAndMissingFieldsAreRefused) {
  EXPECT_EQ(errorAfter(4, "memory_size: 5"),
            "FILE:1: missing required key 'memory_bytes'");
  EXPECT_EQ(errorAfter(4, "memory_bytes: 5\ncolour: blue"),
            "FILE:5: unknown key 'colour'");
  EXPECT_EQ(errorAfter(9, "    speed: 3"),
            "FILE:6: missing required key 'bytes_per_second'");
}

TEST(Topology, LevelsMustGrow) {
  EXPECT_EQ(errorAfter(11, "    ranks: 4"),
            "FILE:1: level 'outer' holds 4 ranks, wanted more than the 4 of "
            "level 'inner' inside it");
  EXPECT_EQ(llvm::toString(
                readText(kValid.substr(0, kValid.find("levels")) + "levels: []")
                    .takeError()),
            "FILE:1: wanted at least one network level in 'levels'");
}

TEST(Topology, FilesThatAreNoTopologyAreRefused) {
  auto errorOf = [](llvm::StringRef text) {
    return llvm::toString(readText(text).takeError());
  };
  EXPECT_EQ(errorOf(""), "FILE:1: holds no topology");
  EXPECT_EQ(errorOf("# nothing\n"), "FILE:1: holds no topology");
  EXPECT_EQ(errorOf(kValid + "---\n" + kValid),
            "FILE:1: holds more than one document");
  EXPECT_EQ(errorOf(std::string(20000, ' ')),
            "FILE:1: has 20000 bytes, a topology has at most 16384");
  EXPECT_EQ(llvm::toString(readTopology("no/such.yaml").takeError()),
            "no/such.yaml:1: cannot read the topology: No such file or "
            "directory");
  EXPECT_EQ(llvm::toString(readTopology(TOPOLOGIES).takeError()),
            TOPOLOGIES ":1: cannot read the topology: not a regular file");
}

TEST(Topology, DeepNestingIsNoCrash) {
  for (const char *unit : {"[", "{", "- ", "? ", "{a: ", "a:\n "}) {
    std::string text;
    while (text.size() + 8 < 16 * 1024)
      text += unit;
    EXPECT_TRUE(llvm::errorToBool(readText(text).takeError())) << unit;
  }
}

/// Files with random damage: never a crash, never an invalid topology.
TEST(Topology, DamagedFilesAreRefusedOrValid) {
  std::mt19937 random(3);
  const char bytes[] = "{}[]:,-?!&*|>%@'\"#\n\t \\\x7f\xff"
                       "e0";
  for (unsigned round = 0; round < 300; ++round) {
    std::string text = kValid;
    for (unsigned i = 0, n = 1 + random() % 4; i < n; ++i)
      text[random() % text.size()] = bytes[random() % (sizeof(bytes) - 1)];
    llvm::Expected<Topology> topology = readText(text);
    if (!topology) {
      std::string message = llvm::toString(topology.takeError());
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      EXPECT_EQ(message.rfind("FILE:", 0), 0u) << message;
      continue;
    }
    EXPECT_GT(topology->flopsPerSecondF32, 0);
    EXPECT_FALSE(topology->levels.empty());
  }
}

} // namespace
