// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks as threads: memory, scalar blocks, and the hand-over of jobs.

#include "colrow/runtime/Core/Executor.h"
#include "Arena.h"
#include "InputBlock.h"
#include "RankProgram.h"
#include "RankThreads.h"
#include "colrow/runtime/CPU/SharedMemory.h"
#include "colrow/runtime/Support/Errors.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

namespace {
struct Rank {
  Arena persistent, scratch, input;
  ScalarBlock scalars;
  Communicators groups;
  std::vector<TraceEvent> events;
};
} // namespace

struct LoadedProgram::Impl {
  struct Place {
    const plan::Input *input; // as Programs::inputs() has it
    InputBlock block;
  };
  std::vector<std::unique_ptr<RankProgram>> ranks;
  std::vector<Place> places;
  const char *loss = nullptr, *gradNorm = nullptr, *labels = nullptr;
  plan::DType labelsType = plan::DType::f32;
};

LoadedProgram::LoadedProgram(Programs programs)
    : programs(std::move(programs)), impl(std::make_unique<Impl>()) {}
LoadedProgram::~LoadedProgram() = default;

struct Executor::Impl {
  Impl(const plan::Plan &plan, const ExecutorOptions &options)
      : plan(plan), options(options), mesh(plan), transport(mesh),
        ranks(mesh.ranks()), threads(mesh.ranks()) {}

  Error allocate();
  Error findKernels();
  Regions regions(unsigned rank);
  char *address(unsigned rank, const plan::Program &program,
                const plan::Operand &operand);
  Error openLibraries();
  Expected<std::unique_ptr<LoadedProgram>> load(Programs programs);

  const plan::Plan &plan;
  ExecutorOptions options;
  Mesh mesh;
  std::unique_ptr<KernelObject> object;
  std::vector<Kernel> kernels;
  std::unique_ptr<GemmLibraries> libraries;
  SharedMemoryTransport transport;
  std::vector<Rank> ranks;
  std::vector<std::unique_ptr<LoadedProgram>> programs;
  RankThreads threads;
};

Regions Executor::Impl::regions(unsigned rank) {
  Regions result;
  auto set = [&](plan::Region region, const void *start) {
    result.start[size_t(region)] =
        static_cast<char *>(const_cast<void *>(start));
  };
  set(plan::Region::persistent, ranks[rank].persistent.get());
  set(plan::Region::scratch, ranks[rank].scratch.get());
  set(plan::Region::input, ranks[rank].input.get());
  set(plan::Region::constant, listOf(plan.constants()).data());
  set(plan::Region::scalars, &ranks[rank].scalars);
  return result;
}

char *Executor::Impl::address(unsigned rank, const plan::Program &program,
                              const plan::Operand &operand) {
  char *result = regions(rank).at(bufferOf(plan, program, operand.buffer())) +
                 operand.offset();
  auto coordinates = mesh.coordinates(rank);
  ArrayRef<int64_t> coords = listOf(operand.coords());
  for (size_t a = 0; a < coords.size(); ++a)
    result += coords[a] * int64_t(coordinates[a]);
  return result;
}

Error Executor::Impl::allocate() {
  uint64_t scratch = 0, input = 0;
  if (plan.programs())
    for (const plan::Program *program : *plan.programs()) {
      scratch = std::max(scratch, program->scratch_bytes());
      input = std::max(input, program->input_bytes());
    }
  for (unsigned r = 0; r < ranks.size(); ++r) {
    if (Error error = ranks[r].persistent.allocate(
            "parameters and optimizer state", plan.persistent_bytes()))
      return error;
    if (Error error = ranks[r].scratch.allocate("the arena", scratch))
      return error;
    if (Error error = ranks[r].input.allocate("the batch", input))
      return error;
    auto coordinates = mesh.coordinates(r);
    for (size_t axis = 0; axis < coordinates.size(); ++axis)
      ranks[r].scalars.coordinates[axis] = coordinates[axis];
  }
  return Error::success();
}

Error Executor::Impl::findKernels() {
  auto loaded = KernelObject::load(listOf(plan.object()));
  if (!loaded)
    return loaded.takeError();
  object = std::move(*loaded);
  if (!plan.kernels())
    return Error::success();
  for (const plan::Kernel *kernel : *plan.kernels()) {
    Expected<Kernel> found = object->find(textOf(kernel->symbol()));
    if (!found)
      return found.takeError();
    kernels.push_back(*found);
  }
  return Error::success();
}

Error Executor::Impl::openLibraries() {
  auto found = GemmLibraries::open(gemmTypesOf(plan), ranks.size());
  if (!found)
    return found.takeError();
  libraries = std::move(*found);
  return Error::success();
}

Expected<std::unique_ptr<LoadedProgram>> Executor::Impl::load(Programs found) {
  std::unique_ptr<LoadedProgram> result(new LoadedProgram(std::move(found)));
  const Programs &tables = result->programs;
  LoadedProgram::Impl &to = *result->impl;
  std::vector<const plan::Input *> inputs = tables.inputs();
  for (unsigned r = 0; r < ranks.size(); ++r) {
    const plan::Program &program = tables.of(r);
    RankContext context{
        plan,      mesh, r, regions(r), kernels, transport, ranks[r].groups,
        *libraries};
    Error error = Error::success();
    to.ranks.push_back(std::make_unique<RankProgram>(context, program, error));
    if (error)
      return error;
    if (!program.inputs())
      continue;
    for (const plan::Input *input : *program.inputs()) {
      auto same = find_if(inputs, [&](const plan::Input *other) {
        return textOf(other->name()) == textOf(input->name());
      });
      char *block =
          context.regions.at(bufferOf(plan, program, input->buffer()));
      to.places.push_back({*same, InputBlock(*input, mesh, r, block)});
    }
  }
  auto place = [&](StringRef role) -> const char * {
    Programs::Leaving leaving = tables.outputOfRole(role);
    return leaving.output
               ? address(leaving.rank, *leaving.program, *leaving.output->src())
               : nullptr;
  };
  to.loss = place("loss");
  to.gradNorm = place("grad_norm");
  to.labels = place("token_count");
  if (to.labels)
    to.labelsType = tables.outputOfRole("token_count").output->dtype();
  return result;
}

Executor::Executor(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Executor::~Executor() = default;

Expected<std::unique_ptr<Executor>>
Executor::create(const plan::Plan &plan, const ExecutorOptions &options) {
  if (unsigned ranks = Mesh(plan).ranks(); ranks > maxRanks)
    return failure("is for {0} ranks, at most {1} can be threads of a process",
                   ranks, maxRanks);
  auto impl = std::make_unique<Impl>(plan, options);
  if (Error error = impl->allocate())
    return std::move(error);
  if (Error error = impl->findKernels())
    return std::move(error);
  if (Error error = impl->openLibraries())
    return std::move(error);
  if (Error error = impl->threads.start())
    return std::move(error);
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

const plan::Plan &Executor::plan() const { return impl->plan; }
const Mesh &Executor::mesh() const { return impl->mesh; }

const std::string &Executor::libraries() const {
  return impl->libraries->description();
}

char *Executor::persistent(unsigned rank) {
  return impl->ranks[rank].persistent.get();
}

char *Executor::input(unsigned rank) { return impl->ranks[rank].input.get(); }

char *Executor::parameter(unsigned rank, const plan::Parameter &parameter) {
  return persistent(rank) +
         impl->plan.buffers()->Get(parameter.buffer())->offset();
}

Expected<LoadedProgram *> Executor::open(StringRef name) {
  for (const std::unique_ptr<LoadedProgram> &program : impl->programs)
    if (program->tables().name() == name)
      return program.get();
  Expected<Programs> found = Programs::find(impl->plan, name);
  if (!found)
    return found.takeError();
  auto loaded = impl->load(std::move(*found));
  if (!loaded)
    return loaded.takeError();
  impl->programs.push_back(std::move(*loaded));
  return impl->programs.back().get();
}

void Executor::setInput(LoadedProgram &program, const plan::Input &input,
                        const void *whole) {
  for (LoadedProgram::Impl::Place &place : program.impl->places)
    if (place.input == &input)
      place.block.set(static_cast<const char *>(whole));
}

char *Executor::output(unsigned rank, const plan::Program &program,
                       const plan::Output &output) {
  return impl->address(rank, program, *output.src());
}

void Executor::onRanks(function_ref<void(unsigned)> f) { impl->threads.run(f); }

/// 1 / (1 - beta^t), Adam's bias correction, in double.
static float biasCorrection(double beta, int64_t t) {
  return float(1.0 / (1.0 - std::pow(beta, double(t))));
}

template <typename T> static T valueAt(const char *place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

static std::optional<double> countAt(const char *place, plan::DType type) {
  if (!place)
    return std::nullopt;
  return type == plan::DType::i64   ? double(valueAt<int64_t>(place))
         : type == plan::DType::i32 ? double(valueAt<int32_t>(place))
                                    : double(valueAt<float>(place));
}

StepResult Executor::run(LoadedProgram &program, const StepInputs &inputs) {
  const plan::Optimizer *optimizer = impl->plan.optimizer();
  for (Rank &rank : impl->ranks) {
    rank.scalars.learningRate = inputs.learningRate;
    rank.scalars.bias1 =
        biasCorrection(optimizer ? optimizer->beta1() : 0, inputs.step);
    rank.scalars.bias2 =
        biasCorrection(optimizer ? optimizer->beta2() : 0, inputs.step);
    rank.scalars.seed = inputs.seed;
    rank.scalars.step = inputs.step;
  }
  bool traced = impl->options.trace;
  LoadedProgram::Impl &loaded = *program.impl;
  onRanks([&](unsigned r) {
    if (traced)
      loaded.ranks[r]->runTraced(impl->ranks[r].events);
    else
      loaded.ranks[r]->run();
  });
  return {loaded.loss ? valueAt<float>(loaded.loss) : 0,
          loaded.gradNorm ? valueAt<float>(loaded.gradNorm) : 0,
          countAt(loaded.labels, loaded.labelsType)};
}

ArrayRef<TraceEvent> Executor::events(unsigned rank) const {
  return impl->ranks[rank].events;
}

} // namespace colrow::runtime
