// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checkpoint folders: weights and state change together, whatever happens.

#include "TestPlan.h"
#include "colrow/runtime/Checkpoint/CheckpointFolder.h"
#include "colrow/runtime/Checkpoint/ModelConfig.h"
#include "llvm/ADT/StringExtras.h"
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

/// Goes on from a folder, values and all.
Expected<TrainingState> resumeFrom(Executor &executor,
                                   const std::string &path) {
  Expected<SavedRun> run = SavedRun::open(executor, path);
  if (!run)
    return run.takeError();
  if (Error error = run->load(executor))
    return std::move(error);
  return run->state();
}

/// The folder as the run that `resumed` goes on from, if any, saves to it.
std::unique_ptr<CheckpointFolder>
openFolder(const std::string &path, Executor &executor,
           const SavedRun *resumed = nullptr) {
  SaveOptions options;
  options.resumed = resumed;
  return take(CheckpointFolder::open(path, executor, std::move(options)));
}

/// The four files of a checkpoint without its links, as some copies are.
void copyWithoutLinks(const std::string &from, const std::string &to) {
  for (const char *name : {"/model.safetensors", "/config.json",
                           "/optimizer.safetensors", "/state.json"})
    writeFile(to + name, readFile(from + name));
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
  std::memcpy(&value, executor->parameter(1, *plan->parameters()->Get(1)), 4);
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
  // A config.json of the user's own stays, if it is of the model.
  TempFolder configured;
  writeFile(configured / "config.json", "{\"model_type\": \"gpt2\"}");
  EXPECT_HAS(textOf(CheckpointFolder::open(configured.path, *executor)),
             "config.json: is of another model and is not overwritten: "
             "model_type is \"gpt2\", this plan has \"toy\"");
  std::string mine = "{\"model_type\":\"toy\",\"top_k\":5}";
  writeFile(configured / "config.json", mine);
  auto checkpoint = take(CheckpointFolder::open(configured.path, *executor));
  ASSERT_EQ(textOf(checkpoint->save({})), "");
  EXPECT_EQ(readFile(configured / "config.json"), mine);
  EXPECT_HAS(textOf(CheckpointFolder::open(configured.path, *executor)),
             "another run is saving");
  writeFile(folder / "file", "");
  EXPECT_HAS(textOf(CheckpointFolder::open(folder / "file", *executor)),
             "cannot");
}

/// Folders that look like checkpoints but for one entry: refused, whatever the
/// form, and left as they are.
TEST(Checkpoint, CheckpointsWithAForeignEntryAreRefused) {
  LoadedPlan plan = toyPlan(1, 5).load();
  auto executor = take(Executor::create(plan.get()));
  TempFolder links;
  setAll(*executor, 1);
  ASSERT_EQ(textOf(openFolder(links.path, *executor)->save({1, 0})), "");
  auto refused = [&](const std::string &path, const std::string &name) {
    SaveOptions options;
    options.overwrite = true;
    std::vector<std::string> before = list(path);
    EXPECT_EQ(textOf(CheckpointFolder::open(path, *executor, options)),
              path + "/" + name +
                  ": is not from an earlier --save, so it is not overwritten: "
                  "give --save another folder");
    EXPECT_EQ(list(path), before);
  };
  // Of plain files.
  std::string old = "{\"version\": 1, \"step\": 3, \"seed\": \"9\", "
                    "\"data_position\": 6, \"mesh\": \"tp=1\", "
                    "\"persistent_fingerprint\": \"0x0000000000000007\"}";
  for (const char *name : {"model.safetensors", "optimizer.safetensors",
                           "config.json", "model.safetensors.index.json"})
    for (bool isLink : {false, true}) {
      TempFolder files;
      copyWithoutLinks(links.path, files.path);
      (void)sys::fs::remove(files / name);
      ASSERT_EQ(isLink ? ::symlink("nowhere", (files / name).c_str())
                       : ::mkdir((files / name).c_str(), 0777),
                0);
      refused(files.path, name);
    }
  TempFolder files;
  copyWithoutLinks(links.path, files.path);
  writeFile(files / "state.json", old);
  refused(files.path, "state.json");
  // Of links: one that leads elsewhere, or a file of its own in place of it.
  for (const char *name :
       {"model.safetensors", "optimizer.safetensors", "state.json"})
    for (bool isLink : {false, true}) {
      ASSERT_FALSE(sys::fs::remove(links / name));
      if (isLink)
        ASSERT_EQ(::symlink("step-1/x", (links / name).c_str()), 0);
      else
        writeFile(links / name, "mine");
      refused(links.path, name);
      ASSERT_FALSE(sys::fs::remove(links / name));
      ASSERT_EQ(::symlink((std::string("current/") + name).c_str(),
                          (links / name).c_str()),
                0);
    }
  for (const char *target : {"elsewhere", "../step-1", "step-1/inner"}) {
    ASSERT_FALSE(sys::fs::remove(links / "current"));
    ASSERT_EQ(::symlink(target, (links / "current").c_str()), 0);
    refused(links.path, "current");
  }
}

/// The folder of a run may be gone where a step of it stands; what is in the
/// way of its folder is named.
TEST(Checkpoint, FoldersThatCannotBeMadeAreNamed) {
  LoadedPlan plan = toyPlan(1, 5).load();
  auto executor = take(Executor::create(plan.get()));
  TempFolder folder;
  auto checkpoint = take(CheckpointFolder::open(folder / "a/b", *executor));
  writeFile(folder / "a", "came in between");
  EXPECT_HAS(textOf(checkpoint->begin()), "a/b: ");
  EXPECT_EQ(readFile(folder / "a"), "came in between");
  ASSERT_EQ(::symlink("nowhere", (folder / "link").c_str()), 0);
  EXPECT_HAS(textOf(CheckpointFolder::open(folder / "link", *executor)),
             "link: cannot open folder");
}

/// A run that goes on from a checkpoint whose `current` names its step by its
/// whole path.
TEST(Checkpoint, CurrentMayBeAWholePath) {
  LoadedPlan plan = toyPlan(1, 5).load();
  auto executor = take(Executor::create(plan.get()));
  TempFolder folder;
  setAll(*executor, 1);
  ASSERT_EQ(textOf(openFolder(folder.path, *executor)->save({4, 0})), "");
  ASSERT_FALSE(sys::fs::remove(folder / "current"));
  ASSERT_EQ(
      ::symlink((folder / "step-4").c_str(), (folder / "current").c_str()), 0);
  EXPECT_EQ(take(resumeFrom(*executor, folder.path)).step, 4);
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

/// Checkpoints of version 1 name no run: one goes on from them, and what it
/// cannot prove to be its own stays.
TEST(Checkpoint, VersionOneIsResumedAndStays) {
  LoadedPlan plan = toyPlan(2, 5).load();
  auto executor = take(Executor::create(plan.get()));
  TempFolder folder;
  setAll(*executor, 1);
  ASSERT_EQ(textOf(openFolder(folder.path, *executor)->save({3, 9, 6})), "");
  std::string old = "{\"version\": 1, \"step\": 3, \"seed\": \"9\", "
                    "\"data_position\": 6, \"mesh\": \"tp=2\", "
                    "\"persistent_fingerprint\": \"0x0000000000000007\"}";
  writeFile(folder / "step-3/state.json", old);
  setAll(*executor, 0);
  TrainingState state = take(resumeFrom(*executor, folder.path));
  EXPECT_EQ(state.step, 3);
  EXPECT_EQ(state.samples, 6);
  SavedRun run = take(SavedRun::open(*executor, folder.path));
  SaveOptions options;
  options.resumed = &run;
  std::string notes;
  options.note = [&](const std::string &text) { notes += text + "\n"; };
  auto checkpoint =
      take(CheckpointFolder::open(folder.path, *executor, options));
  EXPECT_TRUE(checkpoint->goesOn());
  ASSERT_EQ(textOf(checkpoint->save({4, 9, 8})), "");
  ASSERT_EQ(textOf(checkpoint->save({5, 9, 10})), "");
  EXPECT_EQ(notes, (folder / "step-3: stays: another run saved it\n"));
  EXPECT_EQ(readFile(folder / "step-3/state.json"), old);
  EXPECT_EQ(list(folder.path),
            (std::vector<std::string>{
                "config.json", "current", "model.safetensors",
                "optimizer.safetensors", "state.json", "step-3", "step-5"}));
  EXPECT_EQ(take(resumeFrom(*executor, folder.path)).samples, 10);
}

/// Every state that a kill can leave between the renames of a save without
/// links: the files that were not moved yet count.
TEST(Checkpoint, HalfMovedStepsAreWhole) {
  LoadedPlan plan = toyPlan(1, 5).load();
  auto executor = take(Executor::create(plan.get()));
  TempFolder first, links;
  setAll(*executor, 1);
  ASSERT_EQ(textOf(openFolder(links.path, *executor)->save({1, 0})), "");
  copyWithoutLinks(links.path, first.path);
  SavedRun run = take(SavedRun::open(*executor, first.path));
  auto checkpoint = openFolder(first.path, *executor, &run);
  setAll(*executor, 2);
  ASSERT_EQ(textOf(checkpoint->save({2, 0})), "");
  const char *names[] = {"/model.safetensors", "/optimizer.safetensors"};
  for (unsigned moved = 0; moved <= 3; ++moved) {
    TempFolder folder;
    copyWithoutLinks(links.path, folder.path);
    std::string step = folder / "step-2";
    ASSERT_FALSE(sys::fs::create_directory(step));
    copyWithoutLinks(first.path, step);
    // 0: nothing counts yet; then state.json, and one file after the other.
    if (moved > 0)
      writeFile(folder / "state.json", readFile(first / "state.json"));
    for (unsigned i = 0; i + 1 < moved; ++i)
      ASSERT_FALSE(sys::fs::rename(step + names[i], folder.path + names[i]));
    setAll(*executor, 0);
    SavedRun found = take(SavedRun::open(*executor, folder.path));
    ASSERT_EQ(textOf(found.load(*executor)), "");
    EXPECT_EQ(found.state().step, moved > 0 ? 2 : 1);
    for (unsigned p = 0; p < 2; ++p)
      EXPECT_EQ(*reinterpret_cast<float *>(
                    executor->parameter(0, *plan->parameters()->Get(p))),
                moved > 0 ? 2 : 1)
          << moved;
    setAll(*executor, 3);
    auto next = openFolder(folder.path, *executor, &found);
    ASSERT_EQ(textOf(next->save({3, 0})), "");
    EXPECT_EQ(list(folder.path), (std::vector<std::string>{
                                     "config.json", "model.safetensors",
                                     "optimizer.safetensors", "state.json"}));
    EXPECT_EQ(firstWeight(folder / "model.safetensors", "toy.weight"), 3);
  }
}

/// Saves the steps after `last` until it is killed.
[[noreturn]] void saveForEver(const LoadedPlan &plan, const TempFolder &folder,
                              int64_t last) {
  // New memory: the parent's executor has no threads with one rank.
  auto mine = take(Executor::create(plan.get()));
  std::optional<SavedRun> before;
  if (last > 0)
    before = take(SavedRun::open(*mine, folder.path));
  auto checkpoint = openFolder(folder.path, *mine, before ? &*before : nullptr);
  for (int64_t step = last + 1;; ++step) {
    setAll(*mine, float(step));
    if (checkpoint->save({step, 0}))
      ::_exit(1);
  }
}

/// Nothing in the folder is of the run but its own place.
void expectNothingLeft(const TempFolder &folder, const SavedRun &run) {
  for (const std::string &name : list(folder.path)) {
    sys::fs::UniqueID id;
    // Killed before its first save was whole, a run leaves a link to nothing,
    // by which no other run can know it.
    bool leadsNowhere = bool(sys::fs::getUniqueID(folder / name, id));
    if (!leadsNowhere && (!sys::fs::is_directory(folder / name) ||
                          id.getFile() == run.place().inode))
      continue;
    EXPECT_EQ(StringRef(name).find(run.run()), StringRef::npos) << name;
    if (leadsNowhere)
      continue;
    std::string state = readFile(folder / (name + "/state.json"));
    EXPECT_EQ(StringRef(state).find(run.run()), StringRef::npos) << name;
  }
}

/// A process that saves on and on is killed at an arbitrary moment; what is
/// left is a whole checkpoint whose weights are those of its step.
void killWhileSaving(const LoadedPlan &plan, const TempFolder &folder,
                     int64_t last) {
  auto executor = take(Executor::create(plan.get()));
  int64_t first = last;
  // On a slow disk until something was saved.
  for (unsigned round = 0; round < 25 || (last == first && round < 500);
       ++round) {
    pid_t child = ::fork();
    if (child == 0)
      saveForEver(plan, folder, last);
    ::usleep(3000 + round * 1717 % 20000);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    if (::access((folder / "current").c_str(), F_OK) != 0 &&
        ::access((folder / "state.json").c_str(), F_OK) != 0)
      continue; // killed before the first was whole
    setAll(*executor, -1);
    last = take(resumeFrom(*executor, folder.path)).step;
    for (unsigned p = 0; p < 2; ++p) {
      auto *values = reinterpret_cast<float *>(
          executor->parameter(0, *plan->parameters()->Get(p)));
      for (int64_t i = 0; i < 20000; ++i)
        ASSERT_EQ(values[i], float(last));
    }
  }
  EXPECT_GT(last, first);
  // What the kills left goes with the next save.
  SavedRun run = take(SavedRun::open(*executor, folder.path));
  auto checkpoint = openFolder(folder.path, *executor, &run);
  ASSERT_EQ(textOf(checkpoint->save({last + 1, 0})), "");
  run = take(SavedRun::open(*executor, folder.path));
  expectNothingLeft(folder, run);
  EXPECT_EQ(firstWeight(folder / "model.safetensors", "toy.weight"),
            float(last));
}

TEST(Checkpoint, KilledWhileSavingLeavesAPair) {
  LoadedPlan plan = toyPlan(1, 20000).load();
  TempFolder folder;
  killWhileSaving(plan, folder, 0);
}

TEST(Checkpoint, KilledWhileSavingWithoutLinksLeavesAPair) {
  LoadedPlan plan = toyPlan(1, 20000).load();
  TempFolder links, folder;
  auto executor = take(Executor::create(plan.get()));
  setAll(*executor, 1);
  ASSERT_EQ(textOf(openFolder(links.path, *executor)->save({1, 0})), "");
  copyWithoutLinks(links.path, folder.path);
  killWhileSaving(plan, folder, 1);
  EXPECT_NE(::access((folder / "current").c_str(), F_OK), 0);
}

TEST(ModelConfig, WhatDiffersIsNamed) {
  auto differences = [](StringRef a, StringRef b) {
    return join(take(configDifferences("c.json", a, b)), "; ");
  };
  EXPECT_EQ(differences("{}", "{\"a\": null}"), "");
  EXPECT_EQ(
      differences("{\"a\": 1, \"b\": [1, 2]}", "{\"b\": [1.0, 2], \"a\": 1.0}"),
      "");
  EXPECT_EQ(differences("{\"_a\": 1, \"dtype\": 2}", "{\"top_k\": 4}"), "");
  EXPECT_EQ(differences("{\"eps\": 1e-5, \"r\": {\"f\": 2}}",
                        "{\"eps\": 1e-6, \"h\": \"x\", \"r\": {\"f\": 3}}"),
            "eps is 1e-05, this plan has 1e-06; h is none, this plan has "
            "\"x\"; r is {\"f\":2}, this plan has {\"f\":3}");
  EXPECT_HAS(textOf(configDifferences("c.json", "[]", "{}")),
             "c.json: not a JSON object");
  EXPECT_HAS(textOf(configDifferences("c.json", "{", "{}")),
             "c.json: not valid");
  EXPECT_HAS(textOf(configDifferences("c.json", "{}", "{")),
             "the plan's config.json: not valid");
  // A value of 60 characters is whole, a longer one is cut.
  for (size_t size : {58, 59}) {
    std::string value = "\"" + std::string(size, 'x') + "\"";
    EXPECT_EQ(differences("{\"a\": " + value + "}", "{}"),
              "a is " + (size == 58 ? value : value.substr(0, 60) + "...") +
                  ", this plan has none");
  }
}

/// The first four of a list; one line, in any language.
TEST(ModelConfig, ListsAreCutAndOnOneLine) {
  std::vector<std::string> items = {"a\nb", "\xc3\xa9", "c\x7f", "d"};
  EXPECT_EQ(firstOf(items, "; "), "a?b; \xc3\xa9; c?; d");
  items.push_back("e");
  items.push_back("f");
  EXPECT_EQ(firstOf(items, "; "), "a?b; \xc3\xa9; c?; d and 2 more");
  EXPECT_EQ(firstOf({}, "; "), "");
}

} // namespace
} // namespace colrow::runtime::test
