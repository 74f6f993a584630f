// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan file as a file: damage of any kind is an error, writing is atomic.

#include "TestPlan.h"
#include "llvm/Support/FileSystem.h"
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime::test {
namespace {

TEST(PlanFile, RoundTrip) {
  TempFolder folder;
  std::string path = folder / "step.plan";
  std::vector<uint8_t> table = toyPlan(2, 5).table();
  ASSERT_EQ(textOf(writePlanFile(path, table)), "");
  LoadedPlan plan = take(readPlanFile(path));
  EXPECT_EQ(plan->programs()->Get(0)->inputs()->Get(0)->high(), 5);
  EXPECT_EQ(plan->parameters()->size(), 2u);
  EXPECT_EQ(readFile(path), textOfBytes(planFile(table)));
}

TEST(PlanFile, EveryTruncationIsAnError) {
  std::vector<uint8_t> bytes = toyPlan(2, 5).file();
  for (size_t size = 0; size < bytes.size(); size += size < 300 ? 1 : 97)
    EXPECT_NE(textOf(readPlanBuffer("p", ArrayRef(bytes).take_front(size))), "")
        << size;
}

TEST(PlanFile, EveryFlippedByteIsAnError) {
  TestPlan plan = toyPlan(1, 4);
  plan.object.resize(64); // small: only the file's form matters here
  std::vector<uint8_t> bytes = plan.file();
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= 0x41;
    EXPECT_NE(textOf(readPlanBuffer("p", bytes)), "") << "byte " << i;
    bytes[i] ^= 0x41;
  }
  EXPECT_EQ(textOf(readPlanBuffer("p", bytes)), "");
}

/// With a right checksum, tables may still say anything: an error or a plan
/// that is safe to run, never a crash.
TEST(PlanFile, AlteredTablesNeverCrashTheReader) {
  TestPlan plan = toyPlan(2, 4);
  plan.object.resize(64);
  std::vector<uint8_t> table = plan.table();
  for (size_t i = 0; i < table.size(); ++i)
    for (uint8_t change : {0x01, 0x80, 0xff}) {
      table[i] ^= change;
      (void)textOf(readPlanBuffer("p", planFile(table)));
      table[i] ^= change;
    }
}

TEST(PlanFile, OtherVersionAndOtherFilesAreNamed) {
  std::vector<uint8_t> bytes = toyPlan(1, 4).file();
  for (uint8_t version : {1, 9}) {
    bytes[8] = version;
    EXPECT_EQ(textOf(readPlanBuffer("p", bytes)),
              "p: plan has format version " + std::to_string(version) +
                  ", this release reads version 2: compile it again");
  }
  std::string json = "{\"not\": \"a plan, though quite a long text\"}";
  EXPECT_HAS(textOf(readPlanBuffer(
                 "p", ArrayRef(reinterpret_cast<const uint8_t *>(json.data()),
                               json.size()))),
             "not a plan file");
  EXPECT_HAS(textOf(readPlanFile("/nowhere/step.plan")), "cannot open");
}

/// Tables that the format cannot address, of memory that nobody touches.
TEST(PlanFile, TablesBeyondTheFormatAreRefused) {
  constexpr uint64_t most = uint64_t(2) << 30;
  size_t bytes = most + 4096;
  void *room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  auto *data = static_cast<uint8_t *>(room);
  TempFolder folder;
  std::string path = folder / "step.plan";
  EXPECT_EQ(textOf(writePlanFile(path, ArrayRef(data, most))),
            path + ": a plan of 2147483648 bytes is larger than the format's "
                   "2 GiB");
  EXPECT_FALSE(sys::fs::exists(path));
  std::vector<uint8_t> header = TestPlan().file();
  std::memcpy(data, header.data(), 32);
  std::memcpy(data + 16, &most, 8);
  EXPECT_EQ(textOf(readPlanBuffer("p", ArrayRef(data, most + 32))),
            "p: plan file is larger than 2 GiB");
  ::munmap(room, bytes);
  writeFile(path, "");
  ASSERT_EQ(::truncate(path.c_str(), most + 33), 0);
  EXPECT_HAS(textOf(readPlanFile(path)),
             "file of 2147483681 bytes is too large, at most 2147483680");
}

/// In a child process: writes with a limit on file size.
int writeLimited(const std::string &path, size_t size, rlim_t limit) {
  pid_t child = ::fork();
  if (child == 0) {
    struct rlimit limits = {limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &limits);
    std::string text =
        textOf(writePlanFile(path, std::vector<uint8_t>(size, 1)));
    ::_exit(text.find("limit on file size") != std::string::npos ? 7 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(PlanFile, FullDiskIsAnErrorAndLeavesNothing) {
  TempFolder folder;
  std::string path = folder / "step.plan";
  EXPECT_EQ(writeLimited(path, 3 << 20, 1 << 20), 7);
  std::error_code code;
  EXPECT_TRUE(sys::fs::directory_iterator(folder.path, code) ==
              sys::fs::directory_iterator());
  writeFile(path, "old");
  EXPECT_EQ(writeLimited(path, 3 << 20, 1 << 20), 7);
  EXPECT_EQ(readFile(path), "old");
}

} // namespace
} // namespace colrow::runtime::test
