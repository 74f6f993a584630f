// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of parameters on ranks: initial values, blocks with padding, maps
// into checkpoint tensors, and back.

#include "TestPlan.h"
#include "colrow/runtime/Checkpoint/CheckpointFolder.h"
#include "colrow/runtime/Checkpoint/Init.h"
#include "colrow/runtime/Plan/BlockMap.h"
#include "colrow/runtime/Plan/DType.h"
#include "colrow/runtime/Plan/SourceMap.h"
#include "colrow/runtime/Support/Bf16.h"
#include <cmath>
#include <cstring>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime::test {
namespace {

std::vector<char> bytesOf(const float *values, size_t count) {
  auto *bytes = reinterpret_cast<const char *>(values);
  return std::vector<char>(bytes, bytes + count * sizeof(float));
}

Expected<LoadResult> loadModel(Executor &executor, const ModelFiles &files) {
  return loadParameters(executor, files, Holding::model, FileOrigin::model);
}

/// The known answers that the authors publish with Random123.
TEST(Init, PhiloxKnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t f = 0xffffffff;
  EXPECT_EQ(philox4x32({f, f, f, f}, {f, f}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Init, NormalValuesHaveTheirMoments) {
  flatbuffers::FlatBufferBuilder fbb;
  fbb.Finish(plan::CreateInit(fbb, plan::InitKind::normal, 3, 0.5));
  auto *init = flatbuffers::GetRoot<plan::Init>(fbb.GetBufferPointer());
  std::vector<float> values(100000);
  initialValues(init, 1, 2, 0, values.size(), values.data());
  double sum = 0, squares = 0;
  for (float value : values) {
    sum += value;
    squares += (value - 3.0) * (value - 3.0);
  }
  EXPECT_NEAR(sum / values.size(), 3, 0.01);
  EXPECT_NEAR(std::sqrt(squares / values.size()), 0.5, 0.01);
  std::vector<float> part(10);
  initialValues(init, 1, 2, 500, 10, part.data());
  EXPECT_EQ(part,
            std::vector<float>(values.begin() + 500, values.begin() + 510));
  initialValues(init, 2, 2, 500, 10, part.data());
  EXPECT_NE(part[0], values[500]);
}

TEST(SourceMap, SlicesStepsAndTransposes) {
  // Reshape 24 to [2, 3, 4], take [:, 1:3, ::2], transpose to [2(c), 2(a),
  // 2(b)].
  flatbuffers::FlatBufferBuilder fbb;
  std::vector<int64_t> file = {24}, shape = {2, 3, 4}, start = {0, 1, 0},
                       step = {1, 1, 2}, size = {2, 2, 2};
  std::vector<uint8_t> perm = {2, 0, 1};
  fbb.Finish(plan::CreateSourceDirect(fbb, "t", &file, &shape, &start, &step,
                                      &size, &perm));
  SourceMap map(*flatbuffers::GetRoot<plan::Source>(fbb.GetBufferPointer()));
  ASSERT_EQ(map.elements(), 8);
  std::vector<int64_t> found;
  map.forEachPiece(
      1, 7, [&](int64_t done, int64_t offset, int64_t stride, int64_t length) {
        EXPECT_EQ(done, int64_t(found.size()));
        for (int64_t i = 0; i < length; ++i)
          found.push_back(offset + i * stride);
      });
  EXPECT_EQ(found, (std::vector<int64_t>{8, 16, 20, 6, 10, 18, 22}));
}

/// A single element of a tensor, of one dimension or none.
TEST(SourceMap, OneElement) {
  flatbuffers::FlatBufferBuilder fbb;
  std::vector<int64_t> file = {2, 3}, start = {1, 1}, step = {1, 1},
                       size = {1, 1};
  fbb.Finish(
      plan::CreateSourceDirect(fbb, "t", &file, nullptr, &start, &step, &size));
  SourceMap map(*flatbuffers::GetRoot<plan::Source>(fbb.GetBufferPointer()));
  ASSERT_EQ(map.elements(), 1);
  unsigned pieces = 0;
  map.forEachPiece(
      0, 1, [&](int64_t done, int64_t offset, int64_t stride, int64_t length) {
        ++pieces;
        EXPECT_EQ(done, 0);
        EXPECT_EQ(offset, 4);
        EXPECT_EQ(length, 1);
      });
  EXPECT_EQ(pieces, 1u);
}

TEST(BlockMap, UnsplitDimensionsAreOneRun) {
  Mesh mesh;
  mesh.sizes = {1};
  BlockMap blocks({4, 5}, nullptr, mesh, 0);
  unsigned runs = 0;
  blocks.forEachRun([&](int64_t local, int64_t whole, int64_t count) {
    ++runs;
    EXPECT_EQ(count, 20);
  });
  EXPECT_EQ(runs, 1u);
}

/// One parameter of a plan, and the whole tensor that its ranks make up.
struct Case {
  std::vector<int64_t> shape;
  std::vector<DimSpec> dims;
};

/// Rank-wise local index -> whole index, computed the slow way.
std::vector<int64_t> wholeIndices(const Case &c, const Mesh &mesh,
                                  unsigned rank) {
  std::vector<int64_t> result = {0};
  for (size_t d = 0; d < c.shape.size(); ++d) {
    std::vector<int64_t> dim = {0};
    for (const FactorSpec &factor : c.dims[d]) {
      int64_t local = factor.padded / mesh.groupSize(factor.axes);
      int64_t first = local * mesh.memberIndex(rank, factor.axes);
      std::vector<int64_t> next;
      for (int64_t outer : dim)
        for (int64_t i = first; i < first + local; ++i)
          next.push_back(
              outer < 0 || i >= factor.size ? -1 : outer * factor.size + i);
      dim = next;
    }
    std::vector<int64_t> next;
    for (int64_t outer : result)
      for (int64_t i : dim)
        next.push_back(outer < 0 || i < 0 ? -1 : outer * c.shape[d] + i);
    result = next;
  }
  return result;
}

const std::vector<std::pair<std::vector<unsigned>, Case>> cases = {
    {{1}, {{7, 3}, {{{7, 7}}, {{3, 3}}}}},
    {{2}, {{7, 3}, {{{7, 8, {0}}}, {{3, 3}}}}},
    {{4}, {{7, 3}, {{{7, 8, {0}}}, {{3, 3}}}}},
    {{2}, {{7, 3}, {{{7, 7}}, {{3, 4, {0}}}}}},
    {{4}, {{7, 3}, {{{7, 7}}, {{3, 4, {0}}}}}},
    // A fused dimension of 3 blocks, each split: not contiguous.
    {{2}, {{12, 3}, {{{3, 3}, {4, 4, {0}}}, {{3, 3}}}}},
    {{4}, {{2, 15}, {{{2, 2}}, {{3, 3}, {5, 8, {0}}}}}},
    // Two axes: one dimension each, and both on one dimension, either order.
    {{2, 2}, {{7, 3}, {{{7, 8, {1}}}, {{3, 4, {0}}}}}},
    {{2, 2}, {{7, 3}, {{{7, 8, {1, 0}}}, {{3, 3}}}}},
    {{2, 3}, {{7, 5}, {{{7, 12, {0, 1}}}, {{5, 5}}}}},
    // Split over one axis of two: copies on the other.
    {{3, 2}, {{7}, {{{7, 8, {1}}}}}},
    // Ranks with padding only.
    {{4}, {{2, 2}, {{{2, 4, {0}}}, {{2, 2}}}}},
};

TEST(Parameters, InitialValuesAreTheSameForEverySplit) {
  for (const auto &[sizes, c] : cases) {
    TestPlan builder;
    builder.mesh.clear();
    for (unsigned size : sizes)
      builder.mesh.push_back({"x" + std::to_string(builder.mesh.size()), size});
    builder.scratchBytes = 64;
    builder.add({"w", 0, c.shape, c.dims});
    LoadedPlan plan = builder.load();
    auto executor = take(Executor::create(plan.get()));
    initializeParameters(*executor, 42, /*onlyWithoutSources=*/false);
    int64_t elements = 1;
    for (int64_t extent : c.shape)
      elements *= extent;
    std::vector<float> want(elements);
    initialValues(plan->parameters()->Get(0)->init(), 42, 0, 0, elements,
                  want.data());
    for (unsigned r = 0; r < executor->mesh().ranks(); ++r) {
      std::vector<int64_t> index = wholeIndices(c, executor->mesh(), r);
      auto *values = reinterpret_cast<float *>(executor->persistent(r));
      for (size_t i = 0; i < index.size(); ++i)
        EXPECT_EQ(values[i], index[i] < 0 ? 0 : want[index[i]]);
    }
  }
}

/// Saves initial weights of every split; the files are equal to the byte.
TEST(Parameters, SavedFilesAreTheSameForEverySplit) {
  std::map<std::vector<int64_t>, std::string> first;
  for (const auto &[sizes, c] : cases) {
    TestPlan builder;
    builder.mesh.clear();
    for (unsigned size : sizes)
      builder.mesh.push_back({"x" + std::to_string(builder.mesh.size()), size});
    builder.scratchBytes = 64;
    ParameterSpec w{"w", 0, c.shape, c.dims};
    w.sources = {{"file.w", c.shape, {}, {}, {}, {}, {}}};
    builder.add(w);
    LoadedPlan plan = builder.load();
    auto executor = take(Executor::create(plan.get()));
    initializeParameters(*executor, 42, /*onlyWithoutSources=*/false);
    TempFolder folder;
    auto checkpoint = take(CheckpointFolder::open(folder / "out", *executor));
    ASSERT_EQ(textOf(checkpoint->save({0, 42})), "");
    std::string text = readFile(folder / "out/model.safetensors");
    auto [entry, isNew] = first.try_emplace(c.shape, text);
    EXPECT_EQ(entry->second, text);

    // And back: values of ranks, padding zeroed.
    std::vector<std::vector<float>> before;
    for (unsigned r = 0; r < executor->mesh().ranks(); ++r) {
      auto *values = reinterpret_cast<float *>(executor->persistent(r));
      size_t n = wholeIndices(c, executor->mesh(), r).size();
      before.emplace_back(values, values + n);
      std::memset(values, 0xff, n * 4);
    }
    ModelFiles files = take(ModelFiles::open(folder / "out"));
    ASSERT_EQ(textOf(loadModel(*executor, files)), "");
    for (unsigned r = 0; r < executor->mesh().ranks(); ++r)
      EXPECT_EQ(std::memcmp(before[r].data(), executor->persistent(r),
                            before[r].size() * 4),
                0);
  }
}

/// bf16 parameters: initial values are rounded, files hold bf16 and come back
/// to the bit; sources of other types are rounded once.
TEST(Parameters, Bf16IsStoredAsIs) {
  constexpr int64_t count = 3001; // several parts, and padding
  TestPlan builder;
  builder.mesh = {{"tp", 2}};
  ParameterSpec w{"w", 0, {count}, {{{count, count + 1, {0}}}}};
  w.dtype = plan::DType::bf16;
  w.sources = {{"file.w", {count}, {}, {}, {}, {}, {}}};
  builder.add(w);
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  initializeParameters(*executor, 42, /*onlyWithoutSources=*/false);
  std::vector<float> exact(count);
  initialValues(plan->parameters()->Get(0)->init(), 42, 0, 0, count,
                exact.data());
  auto at = [&](int64_t i) -> uint16_t & {
    constexpr int64_t block = (count + 1) / 2;
    return reinterpret_cast<uint16_t *>(
        executor->parameter(i / block, *plan->parameters()->Get(0)))[i % block];
  };
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(at(i), toBf16(exact[i])) << i;
  EXPECT_EQ(at(count), 0) << "padding";
  TempFolder folder;
  auto checkpoint = take(CheckpointFolder::open(folder / "out", *executor));
  ASSERT_EQ(textOf(checkpoint->save({0, 42})), "");
  auto file = take(SafetensorsFile::open(folder / "out/model.safetensors"));
  EXPECT_EQ(file->find("file.w")->type, TensorType::bf16);
  for (int64_t i = 0; i <= count; ++i)
    at(i) = 0x7fff;
  ModelFiles files = take(ModelFiles::open(folder / "out"));
  ASSERT_EQ(textOf(loadModel(*executor, files)), "");
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(at(i), toBf16(exact[i])) << i;
  EXPECT_EQ(at(count), 0) << "padding";
  auto writer = take(
      SafetensorsWriter::create(folder / "model.safetensors",
                                {{"file.w", TensorType::f32, {count}}}, {}));
  ASSERT_EQ(textOf(writer->append(exact.data(), count * sizeof(float))), "");
  ASSERT_EQ(textOf(writer->commit()), "");
  ModelFiles wide = take(ModelFiles::open(folder.path));
  ASSERT_EQ(textOf(loadModel(*executor, wide)), "");
  for (int64_t i = 0; i < count; ++i)
    ASSERT_EQ(at(i), toBf16(exact[i])) << i;
}

/// A bf16 parameter and its master, w and its state of float32, whose values
/// files have in w's place: a start, a file and a checkpoint fill both.
TEST(Parameters, MastersAreSavedInTheirParametersPlace) {
  constexpr int64_t count = 1501; // padded
  TestPlan builder;
  builder.mesh = {{"tp", 2}};
  ParameterSpec w{"w", 0, {count}, {{{count, count + 1, {0}}}}};
  w.sources = {{"file.w", {count}, {}, {}, {}, {}, {}}};
  ParameterSpec state = w;
  w.dtype = plan::DType::bf16;
  builder.add(w);
  builder.add({"v", 0, {2}}); // another between them
  state.name = "w.master", state.stateName = "master", state.stateOf = 0;
  state.sources.clear(), state.master = true;
  builder.add(state);
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  auto at = [&](unsigned parameter, int64_t i) {
    constexpr int64_t block = (count + 1) / 2;
    const plan::Parameter &p = *plan->parameters()->Get(parameter);
    return executor->parameter(i / block, p) +
           i % block * elementBytes(p.dtype());
  };
  auto expectBoth = [&](ArrayRef<float> wanted) {
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(*reinterpret_cast<float *>(at(2, i)), wanted[i]) << i;
      ASSERT_EQ(*reinterpret_cast<uint16_t *>(at(0, i)), toBf16(wanted[i]));
    }
  };
  initializeParameters(*executor, 42, /*onlyWithoutSources=*/false);
  std::vector<float> exact(count);
  initialValues(plan->parameters()->Get(0)->init(), 42, 0, 0, count,
                exact.data());
  expectBoth(exact);
  for (int64_t i = 0; i < count; ++i)
    exact[i] = *reinterpret_cast<float *>(at(2, i)) += 1e-6f * i;
  TempFolder folder;
  auto checkpoint = take(CheckpointFolder::open(folder / "out", *executor));
  ASSERT_EQ(textOf(checkpoint->save({0, 42})), "");
  auto file = take(SafetensorsFile::open(folder / "out/model.safetensors"));
  EXPECT_EQ(file->tensors().size(), 2u);
  EXPECT_EQ(file->find("file.w")->type, TensorType::f32);
  auto states =
      take(SafetensorsFile::open(folder / "out/optimizer.safetensors"));
  EXPECT_TRUE(states->tensors().empty());
  initializeParameters(*executor, 43, /*onlyWithoutSources=*/false);
  auto saved = take(SavedRun::open(*executor, folder / "out"));
  ASSERT_EQ(textOf(saved.load(*executor)), "");
  expectBoth(exact);
  initializeParameters(*executor, 43, /*onlyWithoutSources=*/false);
  ModelFiles files = take(ModelFiles::open(folder / "out"));
  ASSERT_EQ(textOf(loadModel(*executor, files)), "");
  expectBoth(exact);
}

/// A bf16 that is no number is not saved.
TEST(Parameters, InfiniteBf16IsNotSaved) {
  TestPlan builder;
  ParameterSpec w{"w", 0, {3}};
  w.dtype = plan::DType::bf16;
  builder.add(w);
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  uint16_t infinite = 0xff80;
  std::memcpy(executor->persistent(0) + 4, &infinite, 2);
  TempFolder folder;
  auto checkpoint = take(CheckpointFolder::open(folder / "out", *executor));
  EXPECT_HAS(textOf(checkpoint->save({})), "tensor w holds values that are not "
                                           "finite");
}

/// Q, K and V of [h, h] as slices of "c_attn", split by rows.
static LoadedPlan planOfFused(int64_t h, int64_t padded, unsigned ranks) {
  TestPlan builder;
  builder.mesh = {{"tp", ranks}};
  builder.scratchBytes = 64;
  for (int64_t part = 0; part < 3; ++part) {
    ParameterSpec w{
        std::string(1, "qkv"[part]), 0, {h, h}, {{{h, padded, {0}}}, {{h, h}}}};
    w.sources = {{"c_attn",
                  {h, 3 * h},
                  {h, 3, h},
                  {0, part, 0},
                  {1, 1, 1},
                  {h, 1, h},
                  {2, 1, 0}}};
    builder.add(w);
  }
  return builder.load();
}

/// GPT-2's fused [h, 3h] attention weight: Q, K and V are slices of it,
/// transposed, each split over ranks by heads.
TEST(Parameters, FusedTransposedSlicesRoundTrip) {
  constexpr int64_t h = 6;
  std::vector<float> fused(h * 3 * h);
  for (size_t i = 0; i < fused.size(); ++i)
    fused[i] = float(i);
  TempFolder folder;
  auto writer = take(
      SafetensorsWriter::create(folder / "model.safetensors",
                                {{"c_attn", TensorType::f32, {h, 3 * h}}}, {}));
  ASSERT_EQ(textOf(writer->append(fused.data(), fused.size() * 4)), "");
  ASSERT_EQ(textOf(writer->commit()), "");
  for (unsigned ranks : {1u, 2u, 4u}) {
    int64_t padded = (h + ranks - 1) / ranks * ranks;
    LoadedPlan plan = planOfFused(h, padded, ranks);
    auto executor = take(Executor::create(plan.get()));
    ModelFiles files = take(ModelFiles::open(folder.path));
    ASSERT_EQ(textOf(loadModel(*executor, files)), "");
    // K's element (out 2, in 4) is fused[4][h + 2].
    int64_t block = padded / ranks;
    float value;
    std::memcpy(&value,
                executor->parameter(2 / block, *plan->parameters()->Get(1)) +
                    ((2 % block) * h + 4) * 4,
                4);
    EXPECT_EQ(value, fused[4 * 3 * h + h + 2]);
    auto out = folder / ("out" + std::to_string(ranks));
    auto checkpoint = take(CheckpointFolder::open(out, *executor));
    ASSERT_EQ(textOf(checkpoint->save({})), "");
    auto saved = take(SafetensorsFile::open(out + "/model.safetensors"));
    const TensorInfo *info = saved->find("c_attn");
    ASSERT_TRUE(info);
    EXPECT_EQ(std::memcmp(dataOf(*saved, *info).data(), fused.data(),
                          fused.size() * 4),
              0);
  }
}

/// Rows of three files stacked, as experts are.
TEST(Parameters, SourcesConcatenate) {
  TempFolder folder;
  std::vector<SafetensorsWriter::Entry> entries;
  for (const char *name : {"e0", "e1", "e2"})
    entries.push_back({name, TensorType::f32, {2, 2}});
  auto writer = take(
      SafetensorsWriter::create(folder / "model.safetensors", entries, {}));
  float values[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  ASSERT_EQ(textOf(writer->append(values, sizeof(values))), "");
  ASSERT_EQ(textOf(writer->commit()), "");
  for (unsigned ranks : {1u, 2u}) {
    TestPlan builder;
    builder.mesh = {{"tp", ranks}};
    builder.scratchBytes = 64;
    ParameterSpec w{"w", 0, {3, 2, 2}, {{{3, 3}}, {{2, 2, {0}}}, {{2, 2}}}};
    for (const char *name : {"e0", "e1", "e2"})
      w.sources.push_back({name, {2, 2}, {}, {}, {}, {}, {1, 0}});
    builder.add(w);
    LoadedPlan plan = builder.load();
    auto executor = take(Executor::create(plan.get()));
    ModelFiles files = take(ModelFiles::open(folder.path));
    ASSERT_EQ(textOf(loadModel(*executor, files)), "");
    auto *last = reinterpret_cast<float *>(executor->persistent(ranks - 1));
    EXPECT_EQ(std::vector<float>(last, last + 12 / ranks),
              ranks == 1
                  ? (std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11})
                  : (std::vector<float>{1, 3, 5, 7, 9, 11}));
    auto out = folder / ("out" + std::to_string(ranks));
    auto checkpoint = take(CheckpointFolder::open(out, *executor));
    ASSERT_EQ(textOf(checkpoint->save({})), "");
    auto saved = take(SafetensorsFile::open(out + "/model.safetensors"));
    for (int64_t i = 0; i < 3; ++i) {
      const TensorInfo *info = saved->find("e" + std::to_string(i));
      ASSERT_TRUE(info);
      EXPECT_EQ(dataOf(*saved, *info), bytesOf(values + 4 * i, 4));
    }
  }
}

TEST(Parameters, MissingAndMisshapenTensorsAreNamed) {
  TestPlan builder = toyPlan(2, 5);
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  TempFolder folder;
  auto faultOf = [&](const char *name, TensorType type,
                     std::vector<int64_t> shape) {
    std::string data(64, '\0');
    SafetensorsWriter::Entry entry{name, type, {}};
    entry.shape.assign(shape.begin(), shape.end());
    uint64_t bytes = bytesOf(type);
    for (int64_t extent : shape)
      bytes *= extent;
    auto writer = take(
        SafetensorsWriter::create(folder / "model.safetensors", {entry}, {}));
    EXPECT_EQ(textOf(writer->append(data.data(), bytes)), "");
    EXPECT_EQ(textOf(writer->commit()), "");
    ModelFiles files = take(ModelFiles::open(folder.path));
    return textOf(loadModel(*executor, files));
  };
  EXPECT_EQ(faultOf("toy.weight", TensorType::bf16, {5}), "");
  EXPECT_HAS(faultOf("other", TensorType::f32, {5}),
             "has no tensor toy.weight; wanted: shape [5]");
  EXPECT_HAS(faultOf("toy.weight", TensorType::f32, {1, 5}),
             "tensor toy.weight has shape [1, 5]; wanted: [5]");
  EXPECT_HAS(faultOf("toy.weight", TensorType::i32, {5}), "has dtype I32");
}

TEST(Parameters, SavingWantsEveryElementOnce) {
  auto faultOf = [](std::vector<SourceSpec> sources) {
    TestPlan builder;
    builder.scratchBytes = 64;
    for (SourceSpec &source : sources) {
      ParameterSpec w{
          "w" + std::to_string(builder.parameters.size()), 0, {2}, {{{2, 2}}}};
      w.sources = {source};
      builder.add(w);
    }
    LoadedPlan plan = builder.load();
    auto executor = take(Executor::create(plan.get()));
    TempFolder folder;
    auto checkpoint = CheckpointFolder::open(folder / "out", *executor);
    return checkpoint ? textOf((*checkpoint)->save({}))
                      : textOf(checkpoint.takeError());
  };
  SourceSpec low{"t", {4}, {}, {0}, {1}, {2}, {}};
  SourceSpec high{"t", {4}, {}, {2}, {1}, {2}, {}};
  EXPECT_EQ(faultOf({low, high}), "");
  EXPECT_HAS(faultOf({low}), "parameters hold 2 of its 4 elements");
  EXPECT_HAS(faultOf({low, low}), "from two parameters");
  SourceSpec even{"t", {4}, {}, {0}, {2}, {2}, {}};
  SourceSpec odd{"t", {4}, {}, {1}, {2}, {2}, {}};
  EXPECT_EQ(faultOf({even, odd}), "");
  EXPECT_HAS(faultOf({low, odd}), "from two parameters");
  EXPECT_HAS(faultOf({low, {"t", {2, 2}, {}, {0, 0}, {1, 1}, {1, 2}, {}}}),
             "has shape [4] for one parameter, [2, 2] for another");
}

/// Two parameters of different types cannot be parts of one tensor.
TEST(Parameters, TensorsHaveOneType) {
  TestPlan builder;
  for (plan::DType type : {plan::DType::f32, plan::DType::bf16}) {
    ParameterSpec w{
        "w" + std::to_string(builder.parameters.size()), 0, {2}, {{{2, 2}}}};
    w.sources = {
        {"t", {4}, {}, {type == plan::DType::f32 ? 0 : 2}, {1}, {2}, {}}};
    w.dtype = type;
    builder.add(w);
  }
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  TempFolder folder;
  EXPECT_HAS(textOf(CheckpointFolder::open(folder / "out", *executor)),
             "tensor t is f32 for one parameter, bf16 for another");
}

TEST(Parameters, OutputsAreDumpedUnderFileNames) {
  TestPlan builder;
  builder.mesh = {{"tp", 2}};
  At grad = builder.buffer(Region::scratch, 8, plan::DType::f32);
  At logits = builder.buffer(Region::scratch, 8, plan::DType::bf16);
  At count = builder.buffer(Region::scratch, 8, plan::DType::i64);
  ParameterSpec w{"w", 0, {3}, {{{3, 4, {0}}}}};
  w.sources = {{"file.w", {3}, {}, {}, {}, {}, {}}};
  builder.add(w);
  builder.copy(builder.parameter(0), grad, 8);
  builder.fill(logits, 8, 0x40);
  builder.fill(count, 8, 1);
  builder.output({"w", "gradient", {3}, {{{3, 4, {0}}}}, grad, 0});
  builder.output(
      {"logits", "logits", {2, 2}, {}, logits, -1, plan::DType::bf16});
  builder.output({"count", "", {}, {}, count, -1, plan::DType::i64});
  builder.output({"n", "token_count", {}, {}, count, -1, plan::DType::i64});
  At flags = builder.buffer(Region::scratch, 3, plan::DType::i1);
  builder.fill(flags, 3, 1);
  builder.output({"flags", "", {3}, {}, flags, -1, plan::DType::i1});
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  initializeParameters(*executor, 1, /*onlyWithoutSources=*/false);
  LoadedProgram &train = *take(executor->open("train"));
  executor->run(train, {});
  TempFolder folder;
  std::string path = folder / "dump.safetensors";
  ASSERT_EQ(
      textOf(writeOutputs(*executor, tensorOutputs(train.tables()), path)), "");
  auto file = take(SafetensorsFile::open(path));
  ASSERT_TRUE(file->find("file.w") && file->find("logits"));
  EXPECT_EQ(file->tensors().size(), 4u) << "counts and losses stay out";
  EXPECT_EQ(file->find("logits")->type, TensorType::bf16);
  EXPECT_EQ(dataOf(*file, *file->find("logits")), std::vector<char>(8, 0x40));
  EXPECT_EQ(file->find("count")->type, TensorType::i64);
  EXPECT_EQ(dataOf(*file, *file->find("count")), std::vector<char>(8, 1));
  EXPECT_EQ(file->find("flags")->type, TensorType::boolean);
  EXPECT_EQ(dataOf(*file, *file->find("flags")), std::vector<char>(3, 1));
  float want[3];
  initialValues(plan->parameters()->Get(0)->init(), 1, 0, 0, 3, want);
  EXPECT_EQ(dataOf(*file, *file->find("file.w")), bytesOf(want, 3));
}

/// An output that only the second half of the mesh has, at a place that depends
/// on the rank, is joined from there.
TEST(Parameters, OutputsOfSomeRanksAreJoined) {
  TestPlan builder;
  builder.mesh = {{"pp", 2}, {"dp", 2}, {"tp", 2}};
  At block = builder.buffer(Region::persistent, 32, plan::DType::i32);
  builder.next("step", {0, 1, 2, 3});
  builder.next("step", {4, 5, 6, 7});
  block.coords = {8, 0, 4};
  builder.output({"y", "", {4}, {{{4, 4, {2}}}}, block, -1, plan::DType::i32});
  LoadedPlan plan = builder.load();
  auto executor = take(Executor::create(plan.get()));
  for (int r = 0; r < 8; ++r)
    for (int i = 0; i < 8; ++i)
      reinterpret_cast<int32_t *>(executor->persistent(r))[i] = 10 * r + i;
  LoadedProgram &step = *take(executor->open("step"));
  TempFolder folder;
  std::string path = folder / "y.safetensors";
  ASSERT_EQ(textOf(writeOutputs(*executor, step.tables().outputs(), path)), "");
  auto file = take(SafetensorsFile::open(path));
  std::vector<char> bytes = dataOf(*file, *file->find("y"));
  // Ranks 4 and 5, from their elements 2 and 3 on.
  const int32_t want[] = {42, 43, 53, 54};
  EXPECT_EQ(std::memcmp(bytes.data(), want, sizeof(want)), 0);
}

/// Weights cut between opening and reading.
TEST(Parameters, CutWeightsAreAnError) {
  TempFolder folder;
  std::string path = folder / "model.safetensors";
  constexpr int64_t count = 1 << 16;
  auto writer = take(SafetensorsWriter::create(
      path, {{"toy.weight", TensorType::f32, {count}}}, {}));
  std::vector<float> values(count, 1);
  ASSERT_EQ(textOf(writer->append(values.data(), count * 4)), "");
  ASSERT_EQ(textOf(writer->commit()), "");
  LoadedPlan plan = toyPlan(2, count).load();
  auto executor = take(Executor::create(plan.get()));
  ModelFiles files = take(ModelFiles::open(folder.path));
  EXPECT_EQ(textOf(loadModel(*executor, files)), "");
  ASSERT_EQ(::truncate(path.c_str(), count), 0);
  std::string text = textOf(loadModel(*executor, files));
  EXPECT_HAS(text, "model.safetensors: tensor toy.weight: file ends at byte");
}

} // namespace
} // namespace colrow::runtime::test
