// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoint folders: weights and state change together, whatever happens.

#include "colrow/runtime/Checkpoint.h"
#include "TestPlan.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <csignal>
#include <cstring>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime::test {
namespace {

void setAll(Executor &executor, float value) {
  for (unsigned r = 0; r < executor.mesh().ranks(); ++r) {
    auto *values = reinterpret_cast<float *>(executor.persistent(r));
    std::fill_n(values, executor.plan().persistent_bytes() / 4, value);
  }
}

/// The names in a folder, sorted.
std::vector<std::string> list(const std::string &path) {
  std::vector<std::string> names;
  std::error_code code;
  for (sys::fs::directory_iterator it(path, code, false), end;
       !code && it != end; it.increment(code))
    names.push_back(StringRef(it->path()).rsplit('/').second.str());
  sort(names);
  return names;
}

float firstWeight(const std::string &path, StringRef tensor) {
  auto file = take(SafetensorsFile::open(path));
  float value;
  std::memcpy(&value, dataOf(*file, *file->find(tensor)).data(), 4);
  return value;
}

TEST(Checkpoint, FolderHoldsOneStepAndLinks) {
  LoadedPlan plan = toyPlan(2, 5).load();
  auto executor = take(Executor::create(plan.get()));
  TempFolder folder;
  std::string out = folder / "a/b";
  auto checkpoint = take(CheckpointFolder::open(out, *executor));
  setAll(*executor, 1);
  ASSERT_EQ(textOf(checkpoint->save({1, 9})), "");
  setAll(*executor, 2);
  ASSERT_EQ(textOf(checkpoint->save({2, 9})), "");
  ASSERT_EQ(textOf(checkpoint->save({2, 9})), "");
  EXPECT_EQ(list(out), (std::vector<std::string>{
                           "config.json", "current", "model.safetensors",
                           "optimizer.safetensors", "state.json", "step-2.1"}));
  EXPECT_EQ(firstWeight(out + "/model.safetensors", "toy.weight"), 2);
  EXPECT_EQ(firstWeight(out + "/optimizer.safetensors", "velocity.toy.weight"),
            2);
  EXPECT_EQ(readFile(out + "/config.json"), "{\"model_type\": \"toy\"}");

  setAll(*executor, 0);
  TrainingState state = take(resumeFrom(*executor, out));
  EXPECT_EQ(state.step, 2);
  EXPECT_EQ(state.seed, 9u);
  float value;
  std::memcpy(&value,
              executor->persistent(1) + plan->parameters()->Get(1)->offset(),
              4);
  EXPECT_EQ(value, 2);
}

TEST(Checkpoint, ForeignFoldersAreRefused) {
  LoadedPlan plan = toyPlan(1, 5).load();
  auto executor = take(Executor::create(plan.get()));
  TempFolder folder;
  writeFile(folder / "model.safetensors", "someone's");
  EXPECT_HAS(textOf(CheckpointFolder::open(folder.path, *executor)),
             "not from an earlier --save");
  EXPECT_EQ(readFile(folder / "model.safetensors"), "someone's");
  // A config.json of the user's own stays.
  TempFolder configured;
  writeFile(configured / "config.json", "mine");
  auto checkpoint = take(CheckpointFolder::open(configured.path, *executor));
  ASSERT_EQ(textOf(checkpoint->save({})), "");
  EXPECT_EQ(readFile(configured / "config.json"), "mine");
  EXPECT_HAS(textOf(CheckpointFolder::open(configured.path, *executor)),
             "another run is saving");
  writeFile(folder / "file", "");
  EXPECT_HAS(textOf(CheckpointFolder::open(folder / "file", *executor)),
             "cannot");
}

TEST(Checkpoint, OtherMeshAndOtherModelAreRefused) {
  LoadedPlan plan = toyPlan(2, 6).load();
  auto executor = take(Executor::create(plan.get()));
  TempFolder folder;
  auto checkpoint = take(CheckpointFolder::open(folder.path, *executor));
  ASSERT_EQ(textOf(checkpoint->save({3, 0})), "");
  LoadedPlan whole = toyPlan(1, 6).load();
  auto one = take(Executor::create(whole.get()));
  EXPECT_HAS(textOf(resumeFrom(*one, folder.path)),
             "resuming on another tp is not supported yet: saved on tp=2, this "
             "plan is tp=1");
  TestPlan builder = toyPlan(2, 6);
  builder.fingerprint = 8;
  LoadedPlan altered = builder.load();
  auto other = take(Executor::create(altered.get()));
  EXPECT_HAS(textOf(resumeFrom(*other, folder.path)),
             "other parameters or layouts");
  TempFolder empty;
  EXPECT_HAS(textOf(resumeFrom(*other, empty.path)), "state.json: cannot open");
  writeFile(empty / "state.json", "{\"step\": -1}");
  EXPECT_HAS(textOf(resumeFrom(*other, empty.path)), "not the state");
}

TEST(Checkpoint, PoisonedWeightsAreNotSaved) {
  LoadedPlan plan = toyPlan(2, 5).load();
  auto executor = take(Executor::create(plan.get()));
  TempFolder folder;
  auto checkpoint = take(CheckpointFolder::open(folder.path, *executor));
  setAll(*executor, 1);
  ASSERT_EQ(textOf(checkpoint->save({1, 0})), "");
  setAll(*executor, INFINITY);
  EXPECT_HAS(textOf(checkpoint->save({2, 0})),
             "tensor toy.weight holds values that are not finite");
  EXPECT_EQ(firstWeight(folder / "model.safetensors", "toy.weight"), 1);
  EXPECT_EQ(take(resumeFrom(*executor, folder.path)).step, 1);
}

TEST(Checkpoint, FullDiskLeavesTheLastOne) {
  LoadedPlan plan = toyPlan(1, 50000).load();
  TempFolder folder;
  pid_t child = ::fork();
  if (child == 0) {
    auto executor = take(Executor::create(plan.get()));
    auto checkpoint = take(CheckpointFolder::open(folder.path, *executor));
    bool good = !checkpoint->save({1, 0});
    struct rlimit limits = {100000, 100000};
    ::setrlimit(RLIMIT_FSIZE, &limits);
    std::string text = textOf(checkpoint->save({2, 0}));
    good &= text.find("limit on file size") != std::string::npos;
    ::_exit(good ? 7 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  auto executor = take(Executor::create(plan.get()));
  EXPECT_EQ(take(resumeFrom(*executor, folder.path)).step, 1);
  EXPECT_EQ(list(folder.path).size(), 6u);
}

/// A process that saves on and on is killed at an arbitrary moment; what is
/// left is a whole checkpoint whose weights are those of its step.
TEST(Checkpoint, KilledWhileSavingLeavesAPair) {
  LoadedPlan plan = toyPlan(1, 20000).load();
  TempFolder folder;
  auto executor = take(Executor::create(plan.get()));
  int64_t last = 0;
  for (unsigned round = 0; round < 25; ++round) {
    pid_t child = ::fork();
    if (child == 0) {
      // New memory: the parent's executor has no threads with one rank.
      auto mine = take(Executor::create(plan.get()));
      auto checkpoint = take(CheckpointFolder::open(folder.path, *mine));
      for (int64_t step = last + 1;; ++step) {
        setAll(*mine, float(step));
        if (checkpoint->save({step, 0}))
          ::_exit(1);
      }
    }
    ::usleep(3000 + round * 1717 % 20000);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    if (::access((folder / "current").c_str(), F_OK) != 0)
      continue; // killed before the first was whole
    setAll(*executor, -1);
    last = take(resumeFrom(*executor, folder.path)).step;
    for (unsigned p = 0; p < 2; ++p) {
      auto *values = reinterpret_cast<float *>(
          executor->persistent(0) + plan->parameters()->Get(p)->offset());
      for (int64_t i = 0; i < 20000; ++i)
        ASSERT_EQ(values[i], float(last));
    }
    EXPECT_EQ(firstWeight(folder / "model.safetensors", "toy.weight"),
              float(last));
  }
  EXPECT_GT(last, 0);
}

} // namespace
} // namespace colrow::runtime::test
