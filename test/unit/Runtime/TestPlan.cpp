// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Building of small plans.

#include "TestPlan.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace llvm;

namespace colrow::runtime::test {

flatbuffers::Offset<plan::Operand> TestPlan::operand(const At &at) {
  return plan::CreateOperandDirect(fbb, at.region, at.offset, &at.strides);
}

void TestPlan::add(plan::Op kind, flatbuffers::Offset<void> op,
                   const char *name) {
  instructions.push_back(
      plan::CreateInstructionDirect(fbb, kind, op, name, "test"));
}

void TestPlan::gemm(int64_t m, int64_t n, int64_t k, At a, At b, At c,
                    float beta, bool transA, bool transB) {
  auto opA = operand(a), opB = operand(b), opC = operand(c);
  add(plan::Op::Gemm,
      plan::CreateGemm(fbb, m, n, k, transA, transB, transA ? m : k,
                       transB ? k : n, n, 1, beta, opA, opB, opC)
          .Union(),
      "gemm");
}

void TestPlan::copy(At src, At dst, uint64_t bytes) {
  auto from = operand(src), to = operand(dst);
  add(plan::Op::Copy, plan::CreateCopy(fbb, from, to, bytes).Union(), "copy");
}

void TestPlan::fill(At dst, uint64_t bytes, uint8_t value) {
  auto to = operand(dst);
  add(plan::Op::Fill, plan::CreateFill(fbb, to, bytes, value).Union(), "fill");
}

void TestPlan::loop(int64_t trips, uint32_t body) {
  add(plan::Op::Loop, plan::CreateLoop(fbb, trips, body).Union(), "loop");
}

void TestPlan::collective(const CollectiveSpec &spec) {
  auto src = operand(spec.src), dst = operand(spec.dst);
  add(plan::Op::Collective,
      plan::CreateCollectiveDirect(
          fbb, spec.kind, spec.reduction, spec.dtype, &spec.axes, spec.count,
          spec.outer, spec.block, spec.total, src, dst, spec.payload)
          .Union(),
      "collective");
}

void TestPlan::launch(
    const std::string &symbol, const std::vector<At> &args,
    const std::vector<uint64_t> &bytes,
    const std::vector<std::pair<int64_t, std::vector<int64_t>>> &ints) {
  std::vector<flatbuffers::Offset<plan::Operand>> operands;
  for (const At &arg : args)
    operands.push_back(operand(arg));
  std::vector<flatbuffers::Offset<plan::IntOperand>> values;
  for (const auto &[base, strides] : ints)
    values.push_back(plan::CreateIntOperandDirect(fbb, base, &strides));
  add(plan::Op::Launch,
      plan::CreateLaunchDirect(fbb, symbol.c_str(), &operands, &bytes, &values)
          .Union(),
      symbol.c_str());
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<plan::Dim>>>
TestPlan::dims(const std::vector<DimSpec> &spec) {
  std::vector<flatbuffers::Offset<plan::Dim>> result;
  for (const DimSpec &dim : spec) {
    std::vector<flatbuffers::Offset<plan::Factor>> factors;
    for (const FactorSpec &factor : dim)
      factors.push_back(plan::CreateFactorDirect(fbb, factor.size,
                                                 factor.padded, &factor.axes));
    result.push_back(plan::CreateDimDirect(fbb, &factors));
  }
  return fbb.CreateVector(result);
}

void TestPlan::output(const std::string &name, int parameter,
                      const std::vector<int64_t> &shape,
                      const std::vector<DimSpec> &layout, At src) {
  auto list = dims(layout);
  auto from = operand(src);
  auto text = fbb.CreateString(name);
  auto sizes = fbb.CreateVector(shape);
  outputs.push_back(
      plan::CreateOutput(fbb, text, parameter, sizes, list, from));
}

ParameterSpec &TestPlan::add(ParameterSpec spec) {
  uint64_t elements = 1;
  for (const DimSpec &dim : spec.dims)
    for (const FactorSpec &factor : dim) {
      uint64_t ranks = 1;
      for (uint8_t axis : factor.axes)
        ranks *= mesh[axis].second;
      elements *= factor.padded / ranks;
    }
  spec.offset = persistentBytes;
  spec.bytes = elements * 4;
  spec.id = parameters.size();
  persistentBytes = (spec.offset + spec.bytes + 63) / 64 * 64;
  parameters.push_back(std::move(spec));
  return parameters.back();
}

flatbuffers::Offset<plan::Parameter>
TestPlan::parameter(const ParameterSpec &spec) {
  std::vector<flatbuffers::Offset<plan::Source>> sources;
  for (const SourceSpec &source : spec.sources)
    sources.push_back(plan::CreateSourceDirect(
        fbb, source.name.c_str(), &source.fileShape, &source.reshape,
        &source.start, &source.step, &source.size, &source.perm));
  auto list = fbb.CreateVector(sources);
  auto layout = dims(spec.dims);
  auto init = plan::CreateInit(fbb, spec.init, spec.mean, spec.std);
  auto name = fbb.CreateString(spec.name);
  auto shape = fbb.CreateVector(spec.shape);
  auto state = fbb.CreateString(spec.stateName);
  return plan::CreateParameter(fbb, name, spec.id, plan::DType::f32, shape,
                               layout, spec.offset, spec.bytes, list, init,
                               spec.stateOf, state);
}

void TestPlan::writeAllFields() {
  fbb.ForceDefaults(true);
  fbb.DedupVtables(false);
}

std::vector<uint8_t> TestPlan::table() {
  std::vector<flatbuffers::Offset<plan::MeshAxis>> axes;
  for (const auto &[name, size] : mesh)
    axes.push_back(plan::CreateMeshAxisDirect(fbb, name.c_str(), size));
  std::vector<flatbuffers::Offset<plan::Parameter>> params;
  for (const ParameterSpec &spec : parameters)
    params.push_back(parameter(spec));
  auto lossOperand = operand(loss), normOperand = operand(gradNorm);
  flatbuffers::Offset<plan::Operand> count;
  if (tokenCount)
    count = operand(*tokenCount);
  auto memory = plan::CreateMemory(fbb, 1, 2, 3, 4, 5);
  auto optimizer = plan::CreateOptimizer(fbb, beta1, beta2, eps, decay, clip);
  fbb.ForceVectorAlignment(constants.size(), 1, 64);
  auto constantBytes = fbb.CreateVector(constants);
  auto kernelBytes = fbb.CreateVector(kernels);
  auto root = plan::CreatePlan(
      fbb, fbb.CreateString("test"), fbb.CreateString("cpu"),
      fbb.CreateString(features), fbb.CreateVector(axes),
      fbb.CreateString("toy"), fbb.CreateString(config), batch, seq, vocab,
      persistentBytes, scratchBytes, constantBytes, fbb.CreateVector(params),
      fbb.CreateVector(instructions), kernelBytes, lossOperand, count,
      normOperand, fbb.CreateVector(outputs), memory, optimizer, fingerprint);
  plan::FinishPlanBuffer(fbb, root);
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

std::vector<uint8_t> planFile(const std::vector<uint8_t> &table) {
  std::vector<uint8_t> bytes(32, 0);
  std::memcpy(bytes.data(), "COLROWPL", 8);
  uint32_t version = planFormatVersion;
  uint64_t length = table.size(), hash = xxh3_64bits(table);
  std::memcpy(&bytes[8], &version, 4);
  std::memcpy(&bytes[16], &length, 8);
  std::memcpy(&bytes[24], &hash, 8);
  bytes.insert(bytes.end(), table.begin(), table.end());
  return bytes;
}

std::vector<uint8_t> TestPlan::file() { return planFile(table()); }

LoadedPlan TestPlan::load() {
  return take(readPlanBuffer("test.plan", file()));
}

std::vector<uint8_t> testKernels() {
  std::string text = readFile(TEST_KERNELS);
  return {text.begin(), text.end()};
}

TestPlan toyPlan(unsigned ranks, int64_t vocab) {
  TestPlan plan;
  plan.mesh = {{"tp", ranks}};
  plan.batch = 2;
  plan.seq = 3;
  plan.vocab = vocab;
  plan.config = "{\"model_type\": \"toy\"}";
  plan.kernels = testKernels();
  int64_t padded = (vocab + ranks - 1) / ranks * ranks, block = padded / ranks;
  ParameterSpec w{"w", 0, {vocab}, {{{vocab, padded, {0}}}}};
  w.sources = {{"toy.weight", {vocab}, {}, {}, {}, {}, {}}};
  plan.add(w);
  ParameterSpec m{"w.velocity", 0, {vocab}, {{{vocab, padded, {0}}}}};
  m.init = plan::InitKind::zeros;
  m.stateOf = 0;
  m.stateName = "velocity";
  plan.add(m);
  plan.scratchBytes = 64;
  At lossAt{Region::scratch, 0};
  plan.launch("toy_train",
              {{Region::persistent, plan.parameters[0].offset},
               {Region::persistent, plan.parameters[1].offset},
               {Region::input, inputLabelsOffset(2, 3)},
               {Region::scalars, 0},
               lossAt},
              {uint64_t(block) * 4, uint64_t(block) * 4, 2 * 4 * 4, 64, 4},
              {{8, {}}, {block, {}}});
  CollectiveSpec sum{plan::CollectiveKind::all_reduce, plan::Reduction::sum};
  sum.count = 1;
  sum.src = sum.dst = lossAt;
  plan.collective(sum);
  plan.loss = plan.gradNorm = lossAt;
  return plan;
}

TempFolder::TempFolder() {
  SmallString<128> name;
  if (sys::fs::createUniqueDirectory("colrow-test", name))
    std::exit(1);
  path = std::string(name);
}

TempFolder::~TempFolder() { sys::fs::remove_directories(path); }

std::vector<char> dataOf(const SafetensorsFile &file,
                         const TensorInfo &tensor) {
  std::vector<char> bytes(tensor.end - tensor.begin);
  EXPECT_EQ(textOf(file.read(tensor, 0, bytes.size(), bytes.data())), "");
  return bytes;
}

std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void writeFile(const std::string &path, StringRef text) {
  std::ofstream(path, std::ios::binary).write(text.data(), text.size());
}

} // namespace colrow::runtime::test
