// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tp-run as a user runs it: trains, saves, resumes to the bit, and says what
// is wrong in one line.

#include "TestPlan.h"
#include "colrow/runtime/Checkpoint/Init.h"
#include "colrow/runtime/Support/Json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>
#include <cstring>
#include <sys/wait.h>

using namespace llvm;

namespace colrow::runtime::test {
namespace {

class TpRun : public ::testing::Test {
protected:
  void SetUp() override {
    writePlan("one.plan", toyPlan(1, 7));
    writePlan("two.plan", toyPlan(2, 7));
    writeFile(folder / "text.bin", std::string("\1\0\2\0\6\0\3\0\4\0\5\0\0\0"
                                               "\1\0\6\0\2\0\2\0\3\0\1\0",
                                               26));
  }

  void writePlan(const std::string &name, TestPlan plan) {
    ASSERT_EQ(textOf(writePlanFile(folder / name, plan.table())), "");
  }

  /// Runs `tp-run train` in the folder; output and errors come together.
  int run(const std::string &arguments) { return runVerb("train", arguments); }

  int runVerb(const std::string &verb, const std::string &arguments) {
    std::string command = "cd " + folder.path + " && " TP_RUN " " + verb + " " +
                          arguments + " > log 2>&1";
    int status = std::system(command.c_str());
    log = readFile(folder / "log");
    return WEXITSTATUS(status);
  }

  std::vector<double> losses(const std::string &report) {
    std::vector<double> result;
    json::Value value = take(readJsonFile(folder / report));
    for (const json::Value &step : *value.getAsObject()->getArray("steps"))
      result.push_back(*step.getAsObject()->getNumber("loss"));
    return result;
  }

  TempFolder folder;
  std::string log;
};

TEST_F(TpRun, TrainsAndReports) {
  ASSERT_EQ(run("two.plan --seed 3 --data text.bin --steps 8 --lr 0.05 "
                "--report two.json --trace two.trace -n 2"),
            0)
      << log;
  EXPECT_HAS(log, "step 8  loss ");
  std::vector<double> two = losses("two.json");
  ASSERT_EQ(two.size(), 8u);
  EXPECT_LT(two[7], two[0]);
  ASSERT_EQ(run("one.plan --seed 3 --data text.bin --steps 8 --lr 0.05 "
                "--report one.json"),
            0)
      << log;
  std::vector<double> one = losses("one.json");
  for (unsigned i = 0; i < 8; ++i)
    EXPECT_NEAR(one[i], two[i], 1e-6 * one[i]);
  json::Value report = take(readJsonFile(folder / "two.json"));
  const json::Object &root = *report.getAsObject();
  EXPECT_EQ(root.getObject("memory")->getInteger("arena"), 5);
  const json::Object &collective =
      *(*root.getArray("collectives"))[0].getAsObject();
  EXPECT_EQ(collective.getString("kind"), "all_reduce");
  EXPECT_EQ(collective.getString("axis"), "tp");
  EXPECT_EQ(collective.getInteger("count"), 1);
  EXPECT_EQ(collective.getInteger("bytes"), 4);
  EXPECT_GT(*root.getInteger("peak_rss_bytes"), 0);
  take(readJsonFile(folder / "two.trace"));
}

/// 9 steps at once, and 4 + 5 with a stop between: equal to the bit.
TEST_F(TpRun, ResumedRunEqualsTheUnstopped) {
  std::string common = "two.plan --data text.bin --lr 0.05 ";
  ASSERT_EQ(run(common + "--seed 3 --steps 9 --report all.json --save all"), 0)
      << log;
  ASSERT_EQ(run(common + "--seed 3 --steps 4 --report a.json --save out "
                         "--save-every 3"),
            0)
      << log;
  ASSERT_EQ(run(common + "--resume out --steps 9 --report b.json --save out"),
            0)
      << log;
  EXPECT_HAS(log, "step 5  loss ");
  std::vector<double> all = losses("all.json"), parts = losses("a.json");
  for (double loss : losses("b.json"))
    parts.push_back(loss);
  EXPECT_EQ(all, parts);
  EXPECT_EQ(readFile(folder / "all/model.safetensors"),
            readFile(folder / "out/model.safetensors"));
  EXPECT_EQ(readFile(folder / "all/optimizer.safetensors"),
            readFile(folder / "out/optimizer.safetensors"));
  EXPECT_EQ(run(common + "--resume out --steps 4"), 1);
  EXPECT_HAS(log, "has done 9 steps already");
  EXPECT_EQ(run(common + "--resume out --seed 3 --steps 9"), 0) << log;
  EXPECT_EQ(run(common + "--resume out --seed 4 --steps 10"), 1);
  EXPECT_HAS(log, "was trained with seed 3, not 4");
  EXPECT_EQ(run("one.plan --resume out --data text.bin --steps 10"), 1);
  EXPECT_HAS(log, "resuming on another tp is not supported yet");
}

TEST_F(TpRun, InitialWeightsAndWeightsFolders) {
  ASSERT_EQ(run("two.plan --seed 3 --steps 0 --save two"), 0) << log;
  ASSERT_EQ(run("one.plan --seed 3 --steps 0 --save one"), 0) << log;
  EXPECT_EQ(readFile(folder / "one/model.safetensors"),
            readFile(folder / "two/model.safetensors"));
  ASSERT_EQ(run("two.plan --weights two --steps 3 --data text.bin --report "
                "w.json"),
            0)
      << log;
  ASSERT_EQ(run("two.plan --seed 3 --steps 3 --data text.bin --report s.json"),
            0)
      << log;
  EXPECT_EQ(losses("w.json"), losses("s.json"));
}

TEST_F(TpRun, LossThatIsNotFiniteStops) {
  ASSERT_EQ(run("two.plan --seed 3 --data text.bin --steps 200 --lr 1e6 "
                "--save out --save-every 1 --report r.json"),
            1);
  EXPECT_HAS(log, "loss of step ");
  EXPECT_HAS(log, "training stopped, the last checkpoint stays");
  take(readJsonFile(folder / "r.json"));
  EXPECT_EQ(run("two.plan --resume out --steps 0"), 1) << log;
  EXPECT_HAS(log, "has done ");
}

TEST_F(TpRun, ErrorsAreOneLine) {
  auto fails = [&](const std::string &arguments, int code, const char *text) {
    EXPECT_EQ(run(arguments), code) << log;
    EXPECT_HAS(log, "tp-run: error: ");
    EXPECT_HAS(log, text);
    EXPECT_EQ(StringRef(log).count('\n'), 1u) << log;
  };
  fails("two.plan --seed 1", 2, "give the number of steps");
  fails("two.plan --steps 1", 2, "where does training start?");
  fails("two.plan --seed 1 --steps x", 2, "--steps takes a whole number");
  fails("two.plan --seed 1 --steps", 2, "--steps needs a value");
  fails("two.plan --seed 1 --steps 1 --lr -1", 2, "--lr takes a finite");
  fails("two.plan --seed 1 --steps 1 --lr 1e39", 2, "--lr takes a finite");
  for (const char *rate : {"x", "nan", "inf", "1e-3x", "''"})
    fails(formatv("two.plan --seed 1 --steps 1 --lr {0}", rate).str(), 2,
          "--lr takes a finite");
  for (const char *seed : {"-1", "x", "1.5", "18446744073709551616", "''"})
    fails(formatv("two.plan --steps 1 --seed {0}", seed).str(), 2,
          "--seed takes a whole number from 0 on, not '");
  for (const char *ranks : {"0", "-2", "x"})
    fails(formatv("two.plan --seed 1 --steps 1 -n {0}", ranks).str(), 2,
          "error: -n takes a whole number from 1 on, not '");
  for (const char *every : {"0", "-1", "x"})
    fails(
        formatv("two.plan --seed 1 --steps 1 --save o --save-every {0}", every)
            .str(),
        2, "--save-every takes a whole number from 1 on, not '");
  for (const char *steps : {"-1", "1.5", "9223372036854775808", "''"})
    fails(formatv("two.plan --seed 1 --steps {0}", steps).str(), 2,
          "--steps takes a whole number from 0 on, not '");
  for (const char *type : {"u8", "U16", "16"})
    fails(formatv("two.plan --seed 1 --steps 1 --data-dtype {0}", type).str(),
          2, "--data-dtype is u16 or u32, not '");
  fails("--seed 1 --steps 1", 2, "no plan given");
  fails("two.plan --seed 1 --steps 1 -- --nonsense", 2,
        "(see tp-run train --help)");
  fails("two.plan one.plan --seed 1 --steps 1", 2, "(see tp-run train --help)");
  fails("- --seed 1 --steps 1", 1, "error: -: cannot open");
  fails("one.plan --seed 1 --steps 1 -n 2", 1,
        "was compiled for 1 rank (tp=1), which 2 processes cannot share "
        "evenly");
  TestPlan other = toyPlan(1, 7);
  other.features = "+no-such-feature";
  writePlan("cpu.plan", other);
  fails("cpu.plan --seed 1 --steps 1", 1,
        "for another CPU: needs no-such-feature");
  fails("two.plan --seed 1 --steps 0 --dump-outputs o", 1,
        "--outputs gradients,logits");
  fails("two.plan --nonsense", 2, "unknown option --nonsense");
  fails("two.plan --seed 1 --steps 1 --save-every 2", 2, "needs --save");
  fails("two.plan --weights a --resume b --steps 1", 2, "exclude each other");
  fails("two.plan --seed 1 --steps 1 --overwrite", 2, "needs --save");
  fails("two.plan --seed 1 --steps 1 --accept-changes", 2, "needs --resume");
  for (const char *option : {"--weights", "--resume", "--save"})
    fails(formatv("two.plan --seed 1 --steps 1 {0} ''", option).str(), 2,
          formatv("{0} takes a DIR, not ''", option).str().c_str());
  for (const char *option : {"--data", "--report", "--trace", "--dump-outputs"})
    fails(formatv("two.plan --seed 1 --steps 1 {0}=", option).str(), 2,
          formatv("{0} takes a FILE, not ''", option).str().c_str());
  fails("none.plan --seed 1 --steps 1", 1, "none.plan: cannot open");
  fails("text.bin --seed 1 --steps 1", 1, "not a plan file");
  fails("two.plan --seed 1 --steps 1 -n 4", 1,
        "was compiled for 2 ranks (tp=2), which 4 processes cannot share "
        "evenly");
  fails("two.plan --seed 1 --steps 1", 1, "give --data FILE");
  fails("two.plan --weights . --steps 1", 1, "holds neither");
  fails("two.plan --seed 1 --steps 1 --data text.bin --dump-outputs o", 1,
        "--outputs gradients,logits");
  fails("two.plan --seed 1 --steps 1 --data text.bin --save text.bin", 1,
        "cannot open folder");
}

/// A step of one rank without inputs; its loss and norm are of this byte.
TestPlan constantPlan(uint8_t loss, uint8_t norm) {
  TestPlan plan;
  At at[2];
  for (auto [i, byte] : {std::pair(0, loss), {1, norm}}) {
    at[i] = plan.buffer(Region::scratch, 4, plan::DType::f32);
    plan.fill(at[i], 4, byte);
  }
  plan.output({"loss", "loss", {}, {}, at[0]});
  plan.output({"grad_norm", "grad_norm", {}, {}, at[1]});
  return plan;
}

/// A step that takes nothing needs no data; numbers that are none are told.
TEST_F(TpRun, StepsMayHaveNoInputs) {
  writePlan("c.plan", constantPlan(0, 0));
  ASSERT_EQ(run("c.plan --seed 1 --steps 3"), 0) << log;
  EXPECT_HAS(log, "step 3  loss 0.000000  grad norm 0.0000");
  writePlan("c.plan", constantPlan(0, 0xff));
  ASSERT_EQ(run("c.plan --seed 1 --steps 2"), 0) << log;
  EXPECT_HAS(log, "step 1  loss 0.000000  left out, nothing moves: the "
                  "gradient norm is NaN");
  EXPECT_HAS(log, "\n2 of 2 steps left out\n");
  writePlan("c.plan", constantPlan(0xff, 0));
  ASSERT_EQ(run("c.plan --seed 1 --steps 2"), 1) << log;
  EXPECT_HAS(log, "tp-run: error: loss of step 1 is NaN: training stopped\n");
}

/// Outputs are those of the first step, not of the last one; of no step none.
TEST_F(TpRun, OutputsOfTheFirstStepAreDumped) {
  TestPlan dumping = toyPlan(1, 7);
  dumping.output({"weight", "", {7}, {}, dumping.parameter(0)});
  writePlan("d.plan", dumping);
  std::string common = "d.plan --seed 3 --data text.bin --lr 0.05 ";
  EXPECT_EQ(run(common + "--steps 0 --dump-outputs o --save out"), 1);
  EXPECT_HAS(log, "--dump-outputs needs a step, but --steps 0 leaves none");
  ASSERT_EQ(run(common + "--steps 1 --save out"), 0) << log;
  ASSERT_EQ(run(common + "--steps 3 --dump-outputs o"), 0) << log;
  auto dumped = take(SafetensorsFile::open(folder / "o"));
  auto saved = take(SafetensorsFile::open(folder / "out/model.safetensors"));
  EXPECT_EQ(dataOf(*dumped, *dumped->find("weight")),
            dataOf(*saved, *saved->find("toy.weight")));
}

/// Plans of other compilers: without programs, without counts of memory.
TEST_F(TpRun, PlansMayLackTables) {
  plan::PlanT tables = toyPlan(1, 7).build();
  tables.programs[0]->memory.reset();
  ASSERT_EQ(textOf(writePlanFile(folder / "m.plan", packed(tables))), "");
  ASSERT_EQ(run("m.plan --seed 1 --data text.bin --steps 1 --report r.json"), 0)
      << log;
  json::Value report = take(readJsonFile(folder / "r.json"));
  const json::Object &memory = *report.getAsObject()->getObject("memory");
  EXPECT_EQ(memory.getInteger("arena"), tables.programs[0]->scratch_bytes);
  EXPECT_EQ(memory.getInteger("parameters"), 0);
  tables.programs.clear();
  ASSERT_EQ(textOf(writePlanFile(folder / "n.plan", packed(tables))), "");
  EXPECT_EQ(run("n.plan --seed 1 --steps 1"), 1);
  EXPECT_HAS(log, "n.plan: has no program train; programs: none\n");
  EXPECT_EQ(runVerb("function", "n.plan --outputs o"), 1);
  EXPECT_HAS(log, "n.plan: has 0 programs: say which with --program\n");
}

/// Without a verb, or with one that is none.
TEST_F(TpRun, VerbsAreTold) {
  for (const char *verb : {"", "two.plan", "evaluate two.plan", "-n 2"}) {
    EXPECT_EQ(runVerb(verb, ""), 2) << log;
    EXPECT_HAS(log, "tp-run: error: ");
    EXPECT_EQ(StringRef(log).count('\n'), 1u) << log;
  }
  EXPECT_EQ(runVerb("", ""), 2);
  EXPECT_HAS(log, "say what to do: tp-run train step.plan");
}

/// A wrong width of tokens would be read as others, not refused.
TEST_F(TpRun, TokensHaveTheWidthThatIsGiven) {
  auto outcome = [&](const char *type) {
    EXPECT_EQ(run(formatv("one.plan --seed 3 --data text.bin --steps 1 "
                          "--data-dtype {0}",
                          type)
                      .str()),
              StringRef(type) == "u16" ? 0 : 1);
    return log;
  };
  EXPECT_HAS(outcome("u16"), "step 1  loss ");
  EXPECT_HAS(outcome("u32"), "no whole number of 4-byte tokens");
}

/// Bytes that a rank sends are a part of one here.
TEST_F(TpRun, ReportsHaveBytesThatAreNotWhole) {
  writePlan("three.plan", toyPlan(3, 7));
  ASSERT_EQ(
      run("three.plan --seed 3 --data text.bin --steps 1 --report r.json"), 0)
      << log;
  json::Value report = take(readJsonFile(folder / "r.json"));
  const json::Object &collective =
      *(*report.getAsObject()->getArray("collectives"))[0].getAsObject();
  EXPECT_EQ(collective.getNumber("bytes"), 2 * 2 * 4 / 3.0);
  EXPECT_EQ(collective.getInteger("ranks"), 3);
}

/// A file that cannot be written when training has failed is told as well.
TEST_F(TpRun, FailuresOfTrainingAndOfWritingAreBothTold) {
  ASSERT_EQ(run("two.plan --seed 3 --data text.bin --steps 200 --lr 1e6 "
                "--report /dev/full"),
            1);
  EXPECT_HAS(log, "loss of step ");
  EXPECT_HAS(log, ": training stopped; /dev/full: cannot write: ");
  ASSERT_EQ(run("two.plan --seed 3 --data text.bin --steps 1 --trace "
                "/dev/full"),
            1);
  EXPECT_HAS(log, "error: /dev/full: cannot write: ");
}

/// A second interrupt, some time after the first, does not wait for the step.
TEST_F(TpRun, InterruptedAgainEndsInTheStep) {
  TestPlan endless = toyPlan(1, 7);
  endless.loop(int64_t(1) << 30, 1); // hours
  At spot = endless.buffer(Region::scratch, 1 << 20, plan::DType::f32);
  endless.fill(spot, 1 << 20, 0);
  writePlan("endless.plan", endless);
  // Whatever becomes of the test, it ends after a minute of processor time.
  // From when it has a handler of SIGINT on, which the shell that becomes it
  // may have had as well; counted, as one is not enough.
  writeFile(folder / "script",
            "ulimit -t 60\n" TP_RUN
            " train endless.plan --seed 3 --data text.bin --steps 1 "
            "> log 2> errors &\n"
            "until grep -q tp-run /proc/$!/comm &&\n"
            "  grep -q '^SigCgt:.*[2367abef]$' /proc/$!/status\n"
            "do sleep 0.02; done\n"
            "while kill -INT $! 2> /dev/null\n"
            "do echo sent >> signals; sleep 0.1; done\n"
            "wait $!\n");
  int status = std::system(
      ("cd " + folder.path + " && timeout -s KILL 60 sh script").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
  EXPECT_GE(StringRef(readFile(folder / "signals")).count('\n'), 2u);
  EXPECT_EQ(readFile(folder / "errors"), "");
}

/// Either signal ends training between steps; without --save nothing is.
TEST_F(TpRun, SignalsEndTraining) {
  for (const char *signal : {"INT", "TERM"}) {
    writeFile(folder / "script", TP_RUN
              " train one.plan --seed 3 --data text.bin --steps "
              "1000000000 > log 2> errors &\n"
              "until grep -q tp-run /proc/$!/comm &&\n"
              "  grep -q '^SigCgt:.*[4567cdef]..[2367abef]$' /proc/$!/status\n"
              "do sleep 0.02; done\n"
              "kill -$1 $!; wait $!\n");
    int status = std::system(
        ("cd " + folder.path + " && timeout -s KILL 60 sh script " + signal)
            .c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << signal;
    std::string errors = readFile(folder / "errors");
    EXPECT_HAS(errors, "tp-run: error: interrupted after step ");
    EXPECT_EQ(errors.find("saved"), std::string::npos) << errors;
  }
}

TEST_F(TpRun, InterruptEndsAfterTheStep) {
  std::string command = "cd " + folder.path +
                        " && timeout -s INT 0.5 " TP_RUN
                        " train one.plan --seed 3 --data text.bin --steps "
                        "1000000000 --save out > log 2> errors";
  (void)std::system(command.c_str());
  EXPECT_HAS(readFile(folder / "errors"), "interrupted after step ");
  EXPECT_HAS(readFile(folder / "errors"), ", which is saved");
  EXPECT_NE(readFile(folder / "out/state.json"), "");
}

//===- tp-run function ----------------------------------------------------===//

/// Programs "copy", whose output y [4, 3] is its input x, rows and columns
/// split over dp and tp, and "add", whose output is a parameter.
TestPlan functionPlan() {
  TestPlan plan;
  plan.mesh = {{"dp", 2}, {"tp", 2}};
  ParameterSpec w{"w", 0, {3}, {{{3, 4, {1}}}}};
  w.sources = {{"file.w", {3}, {}, {}, {}, {}, {}}};
  plan.add(w);
  plan.next("copy");
  std::vector<DimSpec> dims = {{{4, 4, {0}}}, {{3, 4, {1}}}};
  InputSpec spec{"x", "", {4, 3}, 0, 100, 7};
  spec.dims = dims;
  At x = plan.input(spec);
  At y = plan.buffer(Region::scratch, 16, plan::DType::i32);
  plan.copy(x, y, 16);
  plan.output({"y", "", {4, 3}, dims, y, -1, plan::DType::i32});
  plan.next("give");
  At z = plan.buffer(Region::scratch, 8, plan::DType::f32);
  plan.copy(plan.parameter(0), z, 8);
  plan.output({"z", "", {3}, {{{3, 4, {1}}}}, z});
  return plan;
}

class TpRunFunction : public TpRun {
protected:
  void SetUp() override {
    writePlan("f.plan", functionPlan());
    std::vector<int64_t> values(24);
    for (int i = 0; i < 24; ++i)
      values[i] = i;
    writeInput("in", {4, 3}, values);
    writeInput("short", {2, 3}, values);
    writeInput("long", {8, 3}, values);
  }

  void writeInput(const std::string &name, std::vector<int64_t> shape,
                  const std::vector<int64_t> &values) {
    SafetensorsWriter::Entry entry{"x", TensorType::i64, {}};
    entry.shape.assign(shape.begin(), shape.end());
    auto writer = take(SafetensorsWriter::create(
        folder / (name + ".safetensors"), {entry}, {}));
    ASSERT_EQ(textOf(writer->append(values.data(),
                                    shape[0] * shape[1] * sizeof(int64_t))),
              "");
    ASSERT_EQ(textOf(writer->commit()), "");
  }

  template <typename T>
  std::vector<T> output(const std::string &name, const char *tensor) {
    auto file = take(SafetensorsFile::open(folder / name));
    EXPECT_EQ(file->tensors().size(), 1u);
    const TensorInfo *info = file->find(tensor);
    std::vector<char> bytes = dataOf(*file, *info);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

/// A copy comes back whole from its four blocks; missing rows are padding.
TEST_F(TpRunFunction, RunsAProgramOnce) {
  ASSERT_EQ(runVerb("function", "f.plan --program copy --seed 1 --inputs "
                                "in.safetensors --outputs out.safetensors -n "
                                "4"),
            0)
      << log;
  EXPECT_EQ(log, "");
  std::vector<int32_t> want = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_EQ(output<int32_t>("out.safetensors", "y"), want);
  ASSERT_EQ(runVerb("function", "f.plan --program copy --seed 1 --inputs "
                                "short.safetensors --outputs out.safetensors"),
            0)
      << log;
  std::fill(want.begin() + 6, want.end(), 7);
  EXPECT_EQ(output<int32_t>("out.safetensors", "y"), want);
}

/// Parameters come from a seed or from a folder.
TEST_F(TpRunFunction, TakesWeights) {
  ASSERT_EQ(runVerb("function", "f.plan --program give --seed 1 --outputs "
                                "z.safetensors"),
            0)
      << log;
  LoadedPlan plan = functionPlan().load();
  std::vector<float> want(3);
  initialValues(plan->parameters()->Get(0)->init(), 1, 0, 0, 3, want.data());
  EXPECT_EQ(output<float>("z.safetensors", "z"), want);
  ASSERT_FALSE(sys::fs::create_directory(folder / "model"));
  auto writer =
      take(SafetensorsWriter::create(folder / "model/model.safetensors",
                                     {{"file.w", TensorType::f32, {3}}}, {}));
  float values[] = {5, 6, 8};
  ASSERT_EQ(textOf(writer->append(values, sizeof(values))), "");
  ASSERT_EQ(textOf(writer->commit()), "");
  ASSERT_EQ(runVerb("function",
                    "f.plan --program give --weights model --outputs "
                    "z.safetensors"),
            0)
      << log;
  EXPECT_EQ(output<float>("z.safetensors", "z"), (std::vector<float>{5, 6, 8}));
}

TEST_F(TpRunFunction, ErrorsAreOneLine) {
  auto fails = [&](const std::string &arguments, int code, const char *text) {
    EXPECT_EQ(runVerb("function", arguments), code) << log;
    EXPECT_HAS(log, "tp-run: error: ");
    EXPECT_HAS(log, text);
    EXPECT_EQ(StringRef(log).count('\n'), 1u) << log;
  };
  fails("f.plan f.plan --outputs o", 2, "(see tp-run function --help)");
  fails("f.plan --outputs o --seed x", 2, "--seed takes a whole number");
  fails("f.plan --outputs ''", 2, "--outputs takes a FILE, not ''");
  fails("f.plan --outputs o --program=", 2, "--program takes a NAME, not ''");
  fails("f.plan --outputs o --inputs=", 2, "--inputs takes a FILE, not ''");
  fails("f.plan --outputs o --accept-changes", 2, "needs --weights DIR");
  fails("f.plan --program give --weights nowhere --outputs o", 1, "nowhere");
  fails("f.plan --program copy --seed 1 --inputs nowhere.safetensors --outputs "
        "o",
        1, "nowhere.safetensors: cannot open");
  fails("", 2, "no plan given");
  fails("f.plan", 2, "Give --outputs FILE");
  fails("f.plan --outputs", 2, "--outputs needs a value");
  fails("f.plan --outputs o --steps 3", 2,
        "unknown option --steps (see tp-run function --help)");
  fails("f.plan --outputs f.plan", 1, "f.plan: is also the plan");
  fails("f.plan --outputs o", 1,
        "f.plan: has 3 programs: train, copy, give: say which with --program");
  fails("f.plan --program x --outputs o", 1, "f.plan: has no program x");
  fails("f.plan --program train --outputs o", 1,
        "program train has no outputs");
  fails("f.plan --program give --outputs o", 1,
        "has parameters: give --weights DIR or --seed N");
  fails("f.plan --program copy --seed 1 --outputs o", 1,
        "program copy has inputs: give --inputs");
  fails("f.plan --program copy --seed 1 --inputs log --outputs o", 1,
        "wanted a .safetensors file");
  fails("f.plan --program copy --seed 1 --inputs long.safetensors --outputs o",
        1, "holds inputs for 2 runs, wanted 1");
  fails("f.plan --program give --seed 1 --outputs o -n 3", 1,
        "was compiled for 4 ranks (dp=2,tp=2), which 3 processes cannot share "
        "evenly");
  EXPECT_EQ(run("f.plan --seed 1 --steps 1"), 1);
  EXPECT_HAS(log, "f.plan: program train has no loss to train by");
}

} // namespace
} // namespace colrow::runtime::test
