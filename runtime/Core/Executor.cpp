// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks as threads: memory, scalar blocks, and the hand-over of work.

#include "colrow/runtime/Core/Executor.h"
#include "InputBlock.h"
#include "RankThreads.h"
#include "colrow/runtime/CPU/CpuDevice.h"
#include "colrow/runtime/CPU/SharedMemory.h"
#include "colrow/runtime/Core/Machine.h"
#include "colrow/runtime/Support/Errors.h"
#include <atomic>
#include <cmath>
#include <cstring>

using namespace llvm;

namespace colrow::runtime {

namespace {
struct Rank {
  Regions regions;
  ScalarBlock scalars; // as the device's memory has them
  Communicators groups;
  std::vector<TraceEvent> events;
};
} // namespace

struct LoadedProgram::Impl {
  struct Place {
    const plan::Input *input; // as Programs::inputs() has it
    InputBlock block;
  };
  std::vector<std::unique_ptr<RankProgram>> ranks; // of this process
  std::vector<Place> places;
  const char *loss = nullptr, *gradNorm = nullptr, *labels = nullptr;
  plan::DType labelsType = plan::DType::f32;
};

LoadedProgram::LoadedProgram(Programs programs)
    : programs(std::move(programs)), impl(std::make_unique<Impl>()) {}
LoadedProgram::~LoadedProgram() = default;

struct Executor::Impl {
  Impl(const plan::Plan &plan, const ExecutorOptions &options)
      : plan(plan), trace(options.trace), monitor(options.monitor),
        network(options.network), networkOptions(options.networkOptions),
        job(options.job ? *options.job : own), mesh(plan),
        mine(job.ranksOf(job.process(), mesh.ranks())), ranks(mine.count),
        threads(mine) {}
  ~Impl() {
    if (monitor)
      monitor->unwatch();
  }

  Error share();
  Error connect(MachineMemory memory);
  Error allocate();
  void watch();
  Rank &of(unsigned rank) { return ranks[rank - mine.first]; }
  char *address(unsigned rank, const plan::Program &program,
                const plan::Operand &operand);
  const char *measure(const Programs &programs, StringRef role,
                      plan::DType &type);
  Expected<std::unique_ptr<LoadedProgram>> load(Programs programs);

  const plan::Plan &plan;
  bool trace;
  Monitor *monitor;
  Network *network;
  NetworkOptions networkOptions;
  Job own; // of this process alone
  Job &job;
  Mesh mesh;
  RankRange mine;
  CpuDevice device; // the one target there is
  RegionLayout layout{plan};
  std::shared_ptr<Machine> machine;
  std::unique_ptr<Transport> transport;
  std::vector<Rank> ranks;
  std::vector<std::unique_ptr<LoadedProgram>> programs;
  std::atomic<const LoadedProgram *> running{nullptr}; // last
  RankThreads threads;
};

char *Executor::Impl::address(unsigned rank, const plan::Program &program,
                              const plan::Operand &operand) {
  char *result =
      of(rank).regions.at(bufferOf(plan, program, operand.buffer())) +
      operand.offset();
  auto coordinates = mesh.coordinates(rank);
  ArrayRef<int64_t> coords = listOf(operand.coords());
  for (size_t a = 0; a < coords.size(); ++a)
    result += coords[a] * int64_t(coordinates[a]);
  return result;
}

/// Host memory of all ranks of this machine, and how they meet.
Error Executor::Impl::share() {
  uint64_t bytes = device.hostBytes(layout);
  auto shared = Machine::create(job, plan, layout.text(), bytes);
  if (!shared)
    return shared.takeError();
  machine = std::move(*shared);
  for (unsigned r = mine.first; r < mine.end(); ++r)
    machine->page().status(r).op.store(-1);
  watch();
  MachineMemory memory;
  RankRange all = machine->ranks();
  for (unsigned r = all.first; r < all.end(); ++r)
    memory.arenas.push_back(machine->arena(r));
  memory.arenaBytes = bytes;
  memory.constants =
      reinterpret_cast<const char *>(listOf(plan.constants()).data());
  return connect(std::move(memory));
}

Error Executor::Impl::connect(MachineMemory memory) {
  const Placement &placement = machine->placement();
  if (placement.isOneMachine()) {
    transport = std::make_unique<SharedMemoryTransport>(
        mesh, machine->page(), std::move(memory), mine.count);
    return Error::success();
  }
  if (!network)
    return failure("processes run on {0} machines ({1}, {2}...), and MPI alone "
                   "carries data between them: start them with mpirun",
                   placement.hosts.size(), placement.hosts[0],
                   placement.hosts[1]);
  auto made = NetworkTransport::create(mesh, machine->page(), std::move(memory),
                                       placement, collectiveAxes(plan),
                                       *network, networkOptions);
  if (!made)
    return made.takeError();
  transport = std::move(*made);
  return Error::success();
}

/// The ranks' memory, each near its thread.
Error Executor::Impl::allocate() {
  std::vector<std::optional<std::string>> faults(mine.count);
  threads.run([&](unsigned r) {
    auto regions =
        device.allocate(plan, layout, *machine, r, [this] { job.progress(); });
    if (regions)
      of(r).regions = *regions;
    else
      faults[r - mine.first] = toString(regions.takeError());
  });
  for (const std::optional<std::string> &fault : faults)
    if (fault)
      return failure("{0}", *fault);
  for (unsigned r = mine.first; r < mine.end(); ++r) {
    auto coordinates = mesh.coordinates(r);
    for (size_t axis = 0; axis < coordinates.size(); ++axis)
      of(r).scalars.coordinates[axis] = coordinates[axis];
  }
  return Error::success();
}

/// Where the first of this process' ranks that has an output of the role has
/// it, null when none has.
const char *Executor::Impl::measure(const Programs &programs, StringRef role,
                                    plan::DType &type) {
  for (unsigned r = mine.first; r < mine.end(); ++r) {
    const plan::Program &program = programs.of(r);
    if (!program.outputs())
      continue;
    for (const plan::Output *output : *program.outputs())
      if (textOf(output->role()) == role) {
        type = output->dtype();
        return address(r, program, *output->src());
      }
  }
  return nullptr;
}

Expected<std::unique_ptr<LoadedProgram>> Executor::Impl::load(Programs found) {
  std::unique_ptr<LoadedProgram> result(new LoadedProgram(std::move(found)));
  const Programs &tables = result->programs;
  LoadedProgram::Impl &to = *result->impl;
  std::vector<const plan::Input *> inputs = tables.inputs();
  for (unsigned r = mine.first; r < mine.end(); ++r) {
    const plan::Program &program = tables.of(r);
    RankContext context{plan,
                        mesh,
                        r,
                        of(r).regions,
                        *transport,
                        of(r).groups,
                        machine->page().status(r)};
    auto prepared = device.prepare(context, program);
    if (!prepared)
      return prepared.takeError();
    to.ranks.push_back(std::move(*prepared));
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
  plan::DType type;
  to.loss = measure(tables, "loss", type);
  to.gradNorm = measure(tables, "grad_norm", type);
  to.labels = measure(tables, "token_count", to.labelsType);
  return result;
}

/// "step 5, tp.all_reduce at ...": all processes run one program at a time.
static std::string placeOf(const RankStatus &status, unsigned rank,
                           const LoadedProgram *program) {
  int64_t step = status.step.load(), op = status.op.load();
  if (step == 0 || !program)
    return "the start";
  auto *instructions = program->tables().of(rank).instructions();
  if (op < 0 || !instructions || op >= int64_t(instructions->size()))
    return formatv("step {0}, between two programs", step);
  const plan::Instruction &at = *instructions->Get(op);
  StringRef name = textOf(at.name());
  return formatv("step {0}, {1} ({2})", step,
                 name.empty() ? "instruction" : name,
                 plan::EnumNameOp(at.op_type()));
}

void Executor::Impl::watch() {
  if (!monitor)
    return;
  monitor->watch({machine, mine, [this](unsigned rank) {
                    return placeOf(machine->page().status(rank), rank,
                                   running.load());
                  }});
}

Executor::Executor(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}

Executor::~Executor() = default;

static Error checkShares(unsigned ranks, unsigned processes) {
  if (ranks % processes != 0)
    return failure(
        "is for {0} rank{1}, which {2} processes cannot share evenly", ranks,
        ranks == 1 ? "" : "s", processes);
  if (ranks / processes > Executor::maxRanks)
    return failure("is for {0} ranks, at most {1} can be threads of a process",
                   ranks, Executor::maxRanks);
  return Error::success();
}

Expected<std::unique_ptr<Executor>>
Executor::create(const plan::Plan &plan, const ExecutorOptions &options) {
  if (Error error = checkShares(Mesh(plan).ranks(),
                                options.job ? options.job->processes() : 1))
    return std::move(error);
  auto impl = std::make_unique<Impl>(plan, options);
  if (Error error = impl->share())
    return std::move(error);
  if (Error error = impl->device.load(plan, impl->mine.count))
    return std::move(error);
  if (Error error = impl->threads.start())
    return std::move(error);
  if (Error error = impl->allocate())
    return std::move(error);
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

const plan::Plan &Executor::plan() const { return impl->plan; }
const Mesh &Executor::mesh() const { return impl->mesh; }
Job &Executor::job() const { return impl->job; }
RankRange Executor::ranks() const { return impl->mine; }

const std::string &Executor::libraries() const {
  return impl->device.libraries();
}

char *Executor::persistent(unsigned rank) {
  return impl->of(rank).regions[plan::Region::persistent];
}

char *Executor::input(unsigned rank) {
  return impl->of(rank).regions[plan::Region::input];
}

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
      place.block.set(impl->device, static_cast<const char *>(whole));
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

template <typename T>
static T valueAt(const Device &device, const char *place) {
  T value;
  device.read(&value, place, sizeof(value));
  return value;
}

static std::optional<float> floatAt(const Device &device, const char *place) {
  return place ? std::optional(valueAt<float>(device, place)) : std::nullopt;
}

static std::optional<double> countAt(const Device &device, const char *place,
                                     plan::DType type) {
  if (!place)
    return std::nullopt;
  return type == plan::DType::i64   ? double(valueAt<int64_t>(device, place))
         : type == plan::DType::i32 ? double(valueAt<int32_t>(device, place))
                                    : double(valueAt<float>(device, place));
}

StepResult Executor::run(LoadedProgram &program, const StepInputs &inputs) {
  const plan::Optimizer *optimizer = impl->plan.optimizer();
  for (Rank &rank : impl->ranks) {
    ScalarBlock &scalars = rank.scalars;
    scalars.learningRate = inputs.learningRate;
    scalars.bias1 =
        biasCorrection(optimizer ? optimizer->beta1() : 0, inputs.step);
    scalars.bias2 =
        biasCorrection(optimizer ? optimizer->beta2() : 0, inputs.step);
    scalars.seed = inputs.seed;
    scalars.step = inputs.step;
    impl->device.write(rank.regions[plan::Region::scalars], &scalars,
                       sizeof(scalars));
  }
  LoadedProgram::Impl &loaded = *program.impl;
  impl->running.store(&program);
  for (unsigned r = impl->mine.first; r < impl->mine.end(); ++r)
    impl->machine->page().status(r).step.store(inputs.step);
  onRanks([&](unsigned r) {
    RankProgram &mine = *loaded.ranks[r - impl->mine.first];
    if (impl->trace)
      mine.runTraced(impl->of(r).events);
    else
      mine.run();
  });
  const Device &device = impl->device;
  return {floatAt(device, loaded.loss), floatAt(device, loaded.gradNorm),
          countAt(device, loaded.labels, loaded.labelsType)};
}

ArrayRef<TraceEvent> Executor::events(unsigned rank) const {
  return impl->of(rank).events;
}

} // namespace colrow::runtime
