// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Building of small plans.

#include "TestPlan.h"
#include "colrow/runtime/Plan/DType.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

using namespace llvm;

namespace colrow::runtime::test {

// Handles of buffers until build(): the plan's own are their indices, those of
// a program are beyond this, those that cover a region beyond the next.
static constexpr uint32_t ofProgram = 1u << 20, ofRegion = 1u << 21;

static uint64_t aligned(uint64_t bytes) {
  return (bytes + bufferAlignment - 1) / bufferAlignment * bufferAlignment;
}

static bool isShared(Region region) {
  return region != Region::scratch && region != Region::input;
}

TestPlan::TestPlan() { next("train"); }

void TestPlan::next(const std::string &name, std::vector<uint32_t> ranks) {
  if (!tables.programs.empty())
    program().scratch_bytes = scratchBytes;
  auto made = std::make_unique<plan::ProgramT>();
  made->name = name;
  made->ranks = std::move(ranks);
  made->phases = {"forward", "backward", "update"};
  made->memory = std::make_unique<plan::MemoryT>();
  made->memory->arena = 5;
  tables.programs.push_back(std::move(made));
  scratchBytes = 64;
  stream = phase = 0;
}

plan::BufferT &TestPlan::bufferAt(int handle) {
  return uint32_t(handle) >= ofProgram ? *program().buffers[handle - ofProgram]
                                       : *tables.buffers[handle];
}

At TestPlan::buffer(Region region, uint64_t bytes, plan::DType dtype,
                    int64_t offset) {
  auto &list = isShared(region) ? tables.buffers : program().buffers;
  uint64_t end = 0;
  if (offset < 0)
    for (const auto &other : list)
      if (other->region == region)
        end = std::max(end, aligned(other->offset + other->bytes));
  auto made = std::make_unique<plan::BufferT>();
  made->region = region;
  made->dtype = dtype;
  made->offset = offset < 0 ? end : offset;
  made->bytes = bytes;
  end = aligned(made->offset + bytes);
  if (region == Region::persistent)
    persistentBytes = std::max(persistentBytes, end);
  if (region == Region::scratch)
    scratchBytes = std::max(scratchBytes, end);
  if (region == Region::input)
    program().input_bytes = std::max(program().input_bytes, end);
  list.push_back(std::move(made));
  At at{region};
  at.handle = int(list.size() - 1 + (isShared(region) ? 0 : ofProgram));
  return at;
}

std::unique_ptr<plan::OperandT> TestPlan::operand(const At &at) {
  auto result = std::make_unique<plan::OperandT>();
  result->buffer = at.handle >= 0 ? at.handle : ofRegion + uint32_t(at.region);
  result->offset = at.offset;
  result->strides = at.strides;
  result->coords = at.coords;
  if (at.handle >= 0 || at.region != Region::persistent)
    return result;
  for (size_t b = 0; b < tables.buffers.size(); ++b) {
    const plan::BufferT &buffer = *tables.buffers[b];
    if (buffer.region == at.region && at.offset >= buffer.offset &&
        at.offset < buffer.offset + buffer.bytes) {
      result->buffer = uint32_t(b);
      result->offset -= buffer.offset;
    }
  }
  return result;
}

plan::DType TestPlan::typeAt(const At &at) {
  uint32_t handle = operand(at)->buffer;
  return handle >= ofRegion ? plan::DType::i8 : bufferAt(int(handle)).dtype;
}

template <typename T> void TestPlan::add(T op, const std::string &name) {
  auto made = std::make_unique<plan::InstructionT>();
  made->op.Set(std::move(op));
  made->stream = made->op.type == plan::Op::Loop ? 0 : stream;
  made->phase = phase;
  made->name = name;
  made->reason = "test";
  program().instructions.push_back(std::move(made));
}

void TestPlan::gemm(int64_t m, int64_t n, int64_t k, At a, At b, At c,
                    float beta, bool transA, bool transB) {
  auto type = [&](const At &at) {
    plan::DType found = typeAt(at);
    return found == plan::DType::i8 ? plan::DType::f32 : found;
  };
  plan::GemmT op;
  op.m = m, op.n = n, op.k = k;
  op.trans_a = transA, op.trans_b = transB;
  op.lda = transA ? m : k, op.ldb = transB ? k : n, op.ldc = n;
  op.alpha = 1, op.beta = beta;
  op.a_type = type(a), op.b_type = type(b), op.c_type = type(c);
  op.a = operand(a), op.b = operand(b), op.c = operand(c);
  add(std::move(op), "gemm");
}

void TestPlan::copy(At src, At dst, uint64_t bytes) {
  plan::CopyT op;
  op.src = operand(src), op.dst = operand(dst), op.bytes = bytes;
  add(std::move(op), "copy");
}

void TestPlan::fill(At dst, uint64_t bytes, uint8_t value) {
  plan::FillT op;
  op.dst = operand(dst), op.bytes = bytes, op.value = value;
  add(std::move(op), "fill");
}

void TestPlan::loop(int64_t trips, uint32_t body) {
  plan::LoopT op;
  op.trips = trips, op.body = body;
  add(op, "loop");
}

void TestPlan::record(uint32_t event) {
  plan::RecordT op;
  op.event = event;
  add(op, "record");
}

void TestPlan::wait(uint32_t event) {
  plan::WaitT op;
  op.event = event;
  add(op, "wait");
}

void TestPlan::collective(const CollectiveSpec &spec) {
  plan::CollectiveT op;
  op.kind = spec.kind, op.reduction = spec.reduction, op.dtype = spec.dtype;
  op.axes = spec.axes;
  op.count = spec.count;
  op.outer = spec.outer, op.block = spec.block, op.total = spec.total;
  op.src = operand(spec.src), op.dst = operand(spec.dst);
  op.payload_bytes = spec.payload;
  add(std::move(op), "collective");
}

void TestPlan::launch(
    const std::string &symbol, const std::vector<At> &args,
    const std::vector<uint64_t> &bytes,
    const std::vector<std::pair<int64_t, std::vector<int64_t>>> &ints) {
  plan::LaunchT op;
  while (op.kernel < tables.kernels.size() &&
         tables.kernels[op.kernel]->symbol != symbol)
    ++op.kernel;
  if (op.kernel == tables.kernels.size()) {
    auto kernel = std::make_unique<plan::KernelT>();
    kernel->symbol = symbol;
    kernel->ints = uint32_t(ints.size());
    for (size_t i = 0; i < args.size(); ++i) {
      auto arg = std::make_unique<plan::KernelArgT>();
      arg->dtype = typeAt(args[i]);
      arg->access = args[i].region == Region::persistent
                        ? plan::Access::accumulate
                    : args[i].region == Region::scratch ? plan::Access::write
                                                        : plan::Access::read;
      arg->extent = bytes[i];
      kernel->args.push_back(std::move(arg));
    }
    tables.kernels.push_back(std::move(kernel));
  }
  for (const At &arg : args)
    op.args.push_back(operand(arg));
  op.bytes = bytes;
  for (const auto &[base, strides] : ints) {
    auto value = std::make_unique<plan::IntOperandT>();
    value->base = base, value->strides = strides;
    op.ints.push_back(std::move(value));
  }
  add(std::move(op), symbol);
}

static std::vector<std::unique_ptr<plan::DimT>>
dimsOf(const std::vector<DimSpec> &spec, const std::vector<int64_t> &shape) {
  std::vector<std::unique_ptr<plan::DimT>> result;
  for (size_t d = 0; d < shape.size(); ++d) {
    auto dim = std::make_unique<plan::DimT>();
    DimSpec factors = spec.empty() ? DimSpec{{shape[d], shape[d]}} : spec[d];
    for (const FactorSpec &factor : factors) {
      auto made = std::make_unique<plan::FactorT>();
      made->size = factor.size, made->padded = factor.padded;
      made->axes = factor.axes;
      dim->factors.push_back(std::move(made));
    }
    result.push_back(std::move(dim));
  }
  return result;
}

/// Elements on a rank.
static uint64_t
localElements(const std::vector<std::unique_ptr<plan::DimT>> &dims,
              const std::vector<std::pair<std::string, unsigned>> &mesh) {
  uint64_t elements = 1;
  for (const auto &dim : dims)
    for (const auto &factor : dim->factors) {
      elements *= factor->padded;
      for (uint8_t axis : factor->axes)
        elements /= mesh[axis].second;
    }
  return elements;
}

At TestPlan::input(const InputSpec &spec) {
  auto made = std::make_unique<plan::InputT>();
  made->name = spec.name, made->role = spec.role, made->dtype = spec.dtype;
  made->shape = spec.shape;
  made->dims = dimsOf(spec.dims, spec.shape);
  made->batch_dim = spec.batchDim;
  made->low = spec.low, made->high = spec.high, made->padding = spec.padding;
  At at = buffer(Region::input,
                 localElements(made->dims, mesh) * elementBytes(spec.dtype),
                 spec.dtype);
  made->buffer = at.handle;
  program().inputs.push_back(std::move(made));
  return at;
}

void TestPlan::output(const OutputSpec &spec) {
  auto made = std::make_unique<plan::OutputT>();
  made->name = spec.name, made->role = spec.role, made->dtype = spec.dtype;
  made->parameter = spec.parameter;
  made->shape = spec.shape;
  made->dims = dimsOf(spec.dims, spec.shape);
  made->src = operand(spec.src);
  program().outputs.push_back(std::move(made));
}

ParameterSpec &TestPlan::add(ParameterSpec spec) {
  spec.id = uint32_t(parameters.size());
  auto made = std::make_unique<plan::ParameterT>();
  made->name = spec.name, made->id = spec.id, made->dtype = spec.dtype;
  made->shape = spec.shape;
  made->dims = dimsOf(spec.dims, spec.shape);
  for (const SourceSpec &source : spec.sources) {
    auto from = std::make_unique<plan::SourceT>();
    from->name = source.name;
    from->file_shape = source.fileShape, from->reshape = source.reshape;
    from->start = source.start, from->step = source.step;
    from->size = source.size, from->perm = source.perm;
    made->sources.push_back(std::move(from));
  }
  made->init = std::make_unique<plan::InitT>();
  made->init->kind = spec.init;
  made->init->mean = spec.mean, made->init->std = spec.std;
  made->state_of = spec.stateOf, made->state_name = spec.stateName;
  made->master = spec.master;
  blocks.push_back(buffer(
      Region::persistent,
      localElements(made->dims, mesh) * elementBytes(spec.dtype), spec.dtype));
  made->buffer = blocks.back().handle;
  tables.parameters.push_back(std::move(made));
  parameters.push_back(std::move(spec));
  return parameters.back();
}

At TestPlan::parameter(unsigned index) const { return blocks[index]; }

/// Calls f on every index of a buffer.
template <typename F> static void forEachIndex(plan::ProgramT &program, F f) {
  auto visit = [&](std::unique_ptr<plan::OperandT> &operand) {
    f(operand->buffer);
  };
  for (auto &input : program.inputs)
    f(input->buffer);
  for (auto &output : program.outputs)
    visit(output->src);
  for (auto &instruction : program.instructions) {
    plan::OpUnion &op = instruction->op;
    if (plan::GemmT *gemm = op.AsGemm())
      visit(gemm->a), visit(gemm->b), visit(gemm->c);
    if (plan::LaunchT *launch = op.AsLaunch())
      for (auto &arg : launch->args)
        visit(arg);
    if (plan::CopyT *copy = op.AsCopy())
      visit(copy->src), visit(copy->dst);
    if (plan::FillT *fill = op.AsFill())
      visit(fill->dst);
    if (plan::CollectiveT *collective = op.AsCollective())
      visit(collective->src), visit(collective->dst);
  }
}

/// A buffer of bytes over all of a region.
static std::unique_ptr<plan::BufferT> covering(Region region, uint64_t bytes) {
  auto made = std::make_unique<plan::BufferT>();
  made->region = region;
  made->dtype = plan::DType::i8;
  made->bytes = std::max<uint64_t>(bytes, 1);
  return made;
}

plan::PlanT TestPlan::build() {
  program().scratch_bytes = scratchBytes;
  plan::PlanT plan = tables;
  plan.compiler_version = "test";
  plan.target = plan.target_cpu = "cpu";
  plan.target_features = features;
  for (const auto &[name, size] : mesh) {
    auto axis = std::make_unique<plan::MeshAxisT>();
    axis->name = name, axis->size = size;
    plan.mesh.push_back(std::move(axis));
  }
  plan.model_type = "toy";
  plan.config_json = config;
  plan.persistent_bytes = persistentBytes;
  plan.constants = constants;
  plan.object = object;
  plan.optimizer = std::make_unique<plan::OptimizerT>();
  plan.optimizer->beta1 = 0.9, plan.optimizer->beta2 = 0.999;
  plan.optimizer->eps = 1e-8, plan.optimizer->clip_grad_norm = 1;
  plan.persistent_fingerprint = fingerprint;
  std::map<uint32_t, uint32_t> shared; // region to index
  for (auto &program : plan.programs)
    forEachIndex(*program, [&](uint32_t index) {
      Region region = Region(index - ofRegion);
      if (index < ofRegion || !isShared(region) || shared.count(index))
        return;
      uint64_t bytes = region == Region::persistent ? persistentBytes
                       : region == Region::constant ? constants.size()
                                                    : sizeof(ScalarBlock);
      shared[index] = uint32_t(plan.buffers.size());
      plan.buffers.push_back(covering(region, bytes));
    });
  for (auto &program : plan.programs) {
    int64_t scratch = -1;
    forEachIndex(*program, [&](uint32_t &index) {
      if (index == ofRegion + uint32_t(Region::scratch)) {
        if (scratch < 0) {
          program->buffers.push_back(
              covering(Region::scratch, program->scratch_bytes));
          scratch = plan.buffers.size() + program->buffers.size() - 1;
        }
        index = uint32_t(scratch);
      } else if (index >= ofRegion) {
        index = shared[index];
      } else if (index >= ofProgram) {
        index = index - ofProgram + uint32_t(plan.buffers.size());
      }
    });
  }
  return plan;
}

std::vector<uint8_t> packed(const plan::PlanT &plan, bool everyField) {
  flatbuffers::FlatBufferBuilder fbb;
  fbb.ForceDefaults(everyField);
  fbb.DedupVtables(!everyField);
  plan::FinishPlanBuffer(fbb, plan::Plan::Pack(fbb, &plan));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

std::vector<uint8_t> TestPlan::table() { return packed(build()); }

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

std::string faultOf(const plan::PlanT &plan) {
  return textOf(readPlanBuffer("p", planFile(packed(plan))));
}

LoadedPlan loaded(const plan::PlanT &plan) {
  return take(readPlanBuffer("test.plan", planFile(packed(plan))));
}

LoadedPlan TestPlan::load() { return loaded(build()); }

std::vector<uint8_t> testKernels() {
  std::string text = readFile(TEST_KERNELS);
  return {text.begin(), text.end()};
}

TestPlan toyPlan(unsigned ranks, int64_t vocab) {
  TestPlan plan;
  plan.mesh = {{"tp", ranks}};
  plan.config = "{\"model_type\": \"toy\"}";
  plan.object = testKernels();
  int64_t padded = (vocab + ranks - 1) / ranks * ranks, block = padded / ranks;
  ParameterSpec w{"w", 0, {vocab}, {{{vocab, padded, {0}}}}};
  w.sources = {{"toy.weight", {vocab}, {}, {}, {}, {}, {}}};
  plan.add(w);
  ParameterSpec m{"w.velocity", 0, {vocab}, {{{vocab, padded, {0}}}}};
  m.init = plan::InitKind::zeros;
  m.stateOf = 0;
  m.stateName = "velocity";
  plan.add(m);
  plan.input({"input_ids", "ids", {2, 3}, 0, vocab, 0});
  At labels = plan.input({"labels", "labels", {2, 4}, 0, vocab, -100});
  At loss = plan.buffer(Region::scratch, 4, plan::DType::f32);
  plan.launch("toy_train",
              {plan.parameter(0),
               plan.parameter(1),
               labels,
               {Region::scalars, 0},
               loss},
              {uint64_t(block) * 4, uint64_t(block) * 4, 2 * 4 * 4,
               sizeof(ScalarBlock), 4},
              {{8, {}}, {block, {}}});
  CollectiveSpec sum{plan::CollectiveKind::all_reduce, plan::Reduction::sum};
  sum.count = 1;
  sum.src = sum.dst = loss;
  plan.collective(sum);
  plan.output({"loss", "loss", {}, {}, loss});
  plan.output({"grad_norm", "grad_norm", {}, {}, loss});
  return plan;
}

TempFolder::TempFolder() {
  SmallString<128> name;
  if (sys::fs::createUniqueDirectory("colrow-test", name))
    std::exit(1);
  path = std::string(name);
}

TempFolder::~TempFolder() { (void)sys::fs::remove_directories(path); }

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
