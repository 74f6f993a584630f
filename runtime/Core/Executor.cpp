// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks as threads: memory, scalar blocks, and the hand-over of jobs.

#include "colrow/runtime/Core/Executor.h"
#include "InputBlock.h"
#include "RankProgram.h"
#include "RankThreads.h"
#include "colrow/runtime/CPU/SharedArena.h"
#include "colrow/runtime/CPU/SharedMemory.h"
#include "colrow/runtime/Support/Errors.h"
#include <cmath>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>

using namespace llvm;

// OpenBLAS only; other BLAS libraries are told by their environment variables.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace colrow::runtime {

namespace {
struct Rank {
  SharedArena persistent, scratch, input;
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
      : plan(plan), options(options), mesh(plan), ranks(mesh.ranks()),
        threads(mesh.ranks()) {}

  Error allocate();
  Error meet();
  Error populate();
  Error findKernels();
  Regions regions(unsigned rank);
  char *address(unsigned rank, const plan::Program &program,
                const plan::Operand &operand);
  std::unique_ptr<LoadedProgram> load(Programs programs);

  const plan::Plan &plan;
  ExecutorOptions options;
  Mesh mesh;
  std::unique_ptr<KernelObject> object;
  std::vector<Kernel> kernels;
  std::optional<JobPage> page;
  std::optional<SharedMemoryTransport> transport;
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
    for (auto [arena, use, bytes] :
         {std::tuple{&ranks[r].persistent,
                     "parameters and optimizer state of a rank",
                     plan.persistent_bytes()},
          {&ranks[r].scratch, "the arena of a rank", scratch},
          {&ranks[r].input, "the batch of a rank", input}}) {
      Expected<SharedArena> made = SharedArena::create(use, bytes);
      if (!made)
        return made.takeError();
      *arena = std::move(*made);
      arena->closeFile();
    }
    auto coordinates = mesh.coordinates(r);
    for (size_t axis = 0; axis < coordinates.size(); ++axis)
      ranks[r].scalars.coordinates[axis] = coordinates[axis];
  }
  return Error::success();
}

/// Ranks are threads of this process: each sees all memory at its own address.
Error Executor::Impl::meet() {
  Expected<JobPage> made =
      JobPage::create(PageLayout(mesh, collectiveAxes(plan), 0, mesh.ranks()));
  if (!made)
    return made.takeError();
  page.emplace(std::move(*made));
  page->closeFile();
  MachineMemory memory{std::vector<char *>(mesh.ranks()), uint64_t(1) << 63};
  transport.emplace(mesh, *page, memory, mesh.ranks());
  return Error::success();
}

/// Each rank its own memory: near the core that its thread runs on.
Error Executor::Impl::populate() {
  std::vector<std::string> errors(ranks.size());
  threads.run([&](unsigned r) {
    for (SharedArena *arena :
         {&ranks[r].persistent, &ranks[r].scratch, &ranks[r].input})
      if (Error error = arena->populate())
        errors[r] = toString(std::move(error));
  });
  for (const std::string &error : errors)
    if (!error.empty())
      return failure("{0}", error);
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

std::unique_ptr<LoadedProgram> Executor::Impl::load(Programs found) {
  std::unique_ptr<LoadedProgram> result(new LoadedProgram(std::move(found)));
  const Programs &tables = result->programs;
  LoadedProgram::Impl &to = *result->impl;
  std::vector<const plan::Input *> inputs = tables.inputs();
  for (unsigned r = 0; r < ranks.size(); ++r) {
    const plan::Program &program = tables.of(r);
    RankContext context{plan,       mesh,           r, regions(r), kernels,
                        *transport, ranks[r].groups};
    to.ranks.push_back(std::make_unique<RankProgram>(context, program));
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

/// OpenBLAS maps 128 MiB a thread and tries for ever when it cannot: with
/// a limit on address space, see first that there is room.
static Error checkRoomForBlas(unsigned ranks) {
  struct rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return Error::success();
  uint64_t bytes = (uint64_t(ranks) * 192 + 64) << 20; // stacks and heaps too
  void *room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    return failure("cannot allocate {0} bytes of work memory for BLAS on {1} "
                   "ranks: the limit on address space is {2} bytes (ulimit -v)",
                   bytes, ranks, uint64_t(limit.rlim_cur));
  ::munmap(room, bytes);
  return Error::success();
}

Executor::Executor(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Executor::~Executor() = default;

Expected<std::unique_ptr<Executor>>
Executor::create(const plan::Plan &plan, const ExecutorOptions &options) {
  if (openblas_set_num_threads)
    openblas_set_num_threads(1);
  if (unsigned ranks = Mesh(plan).ranks(); ranks > maxRanks)
    return failure("is for {0} ranks, at most {1} can be threads of a process",
                   ranks, maxRanks);
  auto impl = std::make_unique<Impl>(plan, options);
  if (Error error = impl->allocate())
    return std::move(error);
  if (Error error = impl->meet())
    return std::move(error);
  if (Error error = impl->findKernels())
    return std::move(error);
  if (Error error = checkRoomForBlas(impl->ranks.size()))
    return std::move(error);
  if (Error error = impl->threads.start())
    return std::move(error);
  if (Error error = impl->populate())
    return std::move(error);
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

const plan::Plan &Executor::plan() const { return impl->plan; }
const Mesh &Executor::mesh() const { return impl->mesh; }

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
  impl->programs.push_back(impl->load(std::move(*found)));
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
