// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives of threads, of processes and of both give the same bits: those of
// sums that the test brackets itself.

#include "CollectiveChecks.h"
#include "TestPlan.h"

namespace colrow::runtime::test {
namespace {

void checkEverything(const Mesh &mesh, unsigned ranksPerProcess) {
  std::vector<std::vector<uint8_t>> lists = {{0}};
  if (mesh.sizes.size() == 2)
    lists = {{0}, {0, 1}, {1}, {1, 0}};
  EXPECT_TRUE(onMachine(mesh, lists, 1 << 20, {}, ranksPerProcess,
                        [&](const TestRank &on) {
                          for (const std::vector<uint8_t> &axes : lists) {
                            checkType<DType::f32>(mesh, on, axes);
                            checkType<DType::bf16>(mesh, on, axes);
                            checkType<DType::i32>(mesh, on, axes);
                            checkType<DType::i64>(mesh, on, axes);
                          }
                        }));
}

TEST(SharedMemory, ThreadsAndProcessesGiveTheSameBits) {
  for (unsigned ranksPerProcess : {1u, 2u})
    checkEverything(meshOf({2}), ranksPerProcess);
  for (unsigned ranksPerProcess : {1u, 3u})
    checkEverything(meshOf({3}), ranksPerProcess);
  for (unsigned ranksPerProcess : {1u, 2u, 4u})
    checkEverything(meshOf({2, 2}), ranksPerProcess);
  for (unsigned ranksPerProcess : {1u, 3u, 6u})
    checkEverything(meshOf({2, 3}), ranksPerProcess);
}

/// Ranks 0 to 3 of 2 x 2: 1e8, 1, -1e8, 1. One after the other they are 1,
/// over the outer axis first 2; over the inner axis first they are 0.
TEST(SharedMemory, SumsGoOverTheInnermostAxisFirst) {
  Mesh mesh = meshOf({2, 2});
  constexpr float values[] = {1e8f, 1, -1e8f, 1};
  std::vector<std::vector<uint8_t>> lists = {{0, 1}, {1, 0}};
  for (unsigned ranksPerProcess : {1u, 4u})
    for (int64_t count : {4, 4000})
      EXPECT_TRUE(onMachine(
          mesh, lists, 1 << 16, {}, ranksPerProcess, [&](const TestRank &on) {
            auto *data = reinterpret_cast<float *>(on.arena);
            for (const std::vector<uint8_t> &axes : lists) {
              auto group = on.transport.communicator(on.rank, axes);
              std::fill(data, data + count, values[on.rank]);
              group->run({CollectiveKind::reduce_scatter, Reduction::sum,
                          DType::f32, 0, 1, count / 4, count, data,
                          data + count});
              group->run({CollectiveKind::all_reduce, Reduction::sum,
                          DType::f32, count, 0, 0, 0, data, data});
              for (int64_t i :
                   {int64_t(0), count - 1, count, count * 5 / 4 - 1})
                EXPECT_EQ(data[i], 0) << i;
            }
          }));
}

/// Every process reads a constant where it has it itself.
TEST(SharedMemory, ConstantsAreOperands) {
  Mesh mesh = meshOf({2});
  constexpr int64_t count = 5000;
  std::vector<float> table(count);
  for (int64_t i = 0; i < count; ++i)
    table[i] = float(i);
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(table.data()),
                             count * sizeof(float));
  for (unsigned ranksPerProcess : {1u, 2u})
    EXPECT_TRUE(onMachine(
        mesh, {{0}}, 1 << 16, bytes, ranksPerProcess, [&](const TestRank &on) {
          auto *data = reinterpret_cast<float *>(on.arena);
          auto group = on.transport.communicator(on.rank, {0});
          group->run({CollectiveKind::all_reduce, Reduction::sum, DType::f32,
                      count, 0, 0, 0, on.constants, data});
          EXPECT_EQ(data[1], 2);
          EXPECT_EQ(data[count - 1], 2 * float(count - 1));
          // The arena's last bytes are of it, too.
          float *last = data + (1 << 14) - 2000;
          group->run({CollectiveKind::all_gather, Reduction::none, DType::f32,
                      0, 1, 1000, 2000, on.constants + 8, last});
          EXPECT_EQ(last[0], 2);
          EXPECT_EQ(last[1999], 1001);
        }));
}

} // namespace
} // namespace colrow::runtime::test
