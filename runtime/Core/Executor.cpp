// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks as threads: programs, scalar blocks, and the hand-over of work.

#include "ExecutorImpl.h"
#include <cmath>

using namespace llvm;

namespace colrow::runtime {

LoadedProgram::LoadedProgram(Programs programs)
    : programs(std::move(programs)), impl(std::make_unique<Impl>()) {}
LoadedProgram::~LoadedProgram() = default;

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

Executor::Executor(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}

Executor::~Executor() = default;

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
  for (Impl::Rank &rank : impl->ranks) {
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
