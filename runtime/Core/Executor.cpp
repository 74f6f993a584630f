// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks as threads: memory, scalar blocks, and the hand-over of jobs.

#include "colrow/runtime/Executor.h"
#include "RankProgram.h"
#include "colrow/runtime/Barrier.h"
#include "colrow/runtime/Errors.h"
#include "colrow/runtime/SharedMemory.h"
#include <cerrno>
#include <cmath>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>

using namespace llvm;

// OpenBLAS only; other BLAS libraries are told by their environment variables.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace colrow::runtime {

namespace {

/// Zeroed memory of one rank, in huge pages where the system has them.
class Arena {
public:
  Arena() = default;
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena() {
    if (bytes)
      ::munmap(start, bytes);
  }

  Error allocate(const char *use, uint64_t size) {
    constexpr uint64_t huge = 2 << 20;
    uint64_t rounded = std::max<uint64_t>((size + 4095) / 4096 * 4096, 4096);
    void *p = ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
      return failure("cannot allocate {0} bytes for {1} of a rank: {2}",
                     rounded, use, strerror(errno));
    start = static_cast<char *>(p);
    bytes = rounded;
    if (rounded >= 2 * huge)
      ::madvise(start, bytes, MADV_HUGEPAGE);
    return Error::success();
  }

  char *get() const { return start; }

private:
  char *start = nullptr;
  uint64_t bytes = 0;
};

/// Region `scalars`; the layout is part of the plan's format.
struct alignas(64) ScalarBlock {
  float learningRate = 0, bias1 = 1, bias2 = 1, unused = 0;
  int64_t seed = 0, step = 0;
  int64_t coordinates[maxMeshAxes] = {};
};
static_assert(offsetof(ScalarBlock, seed) == 16 &&
                  offsetof(ScalarBlock, coordinates) == 32 &&
                  sizeof(ScalarBlock) == scalarBlockBytes,
              "layout of region scalars");

struct Rank {
  Arena persistent, scratch;
  ScalarBlock scalars;
  std::unique_ptr<RankProgram> program;
  std::thread thread; // none for rank 0
};

} // namespace

struct Executor::Impl {
  Impl(const plan::Plan &plan, const ExecutorOptions &options)
      : plan(plan), options(options), mesh(plan), transport(mesh),
        ranks(mesh.ranks()),
        gate(mesh.ranks(), Barrier::spinsFor(mesh.ranks())) {}
  ~Impl();

  Error allocate();
  Error decode();
  void startThreads();
  void onRanks(function_ref<void(unsigned)> f);
  char *start(unsigned rank, plan::Region region);

  const plan::Plan &plan;
  ExecutorOptions options;
  Mesh mesh;
  std::unique_ptr<KernelObject> kernels;
  SharedMemoryTransport transport;
  Arena input;
  std::vector<Rank> ranks;
  Barrier gate; // passed when a job starts and when it ends
  const function_ref<void(unsigned)> *job = nullptr; // null: threads end
  bool running = false;
};

Executor::Impl::~Impl() {
  if (running) {
    job = nullptr;
    gate.wait();
  }
  for (Rank &rank : ranks)
    if (rank.thread.joinable())
      rank.thread.join();
}

char *Executor::Impl::start(unsigned rank, plan::Region region) {
  switch (region) {
  case plan::Region::persistent:
    return ranks[rank].persistent.get();
  case plan::Region::scratch:
    return ranks[rank].scratch.get();
  case plan::Region::input:
    return input.get();
  case plan::Region::constant:
    return plan.constants() ? reinterpret_cast<char *>(const_cast<uint8_t *>(
                                  plan.constants()->data()))
                            : nullptr;
  case plan::Region::scalars:
    return reinterpret_cast<char *>(&ranks[rank].scalars);
  }
  return nullptr;
}

Error Executor::Impl::allocate() {
  if (Error error =
          input.allocate("the batch", inputBytes(plan.batch(), plan.seq())))
    return error;
  for (unsigned r = 0; r < ranks.size(); ++r) {
    if (Error error = ranks[r].persistent.allocate(
            "parameters and optimizer state", plan.persistent_bytes()))
      return error;
    if (Error error =
            ranks[r].scratch.allocate("the arena", plan.scratch_bytes()))
      return error;
    auto coordinates = mesh.coordinates(r);
    for (size_t axis = 0; axis < coordinates.size(); ++axis)
      ranks[r].scalars.coordinates[axis] = coordinates[axis];
  }
  return Error::success();
}

Error Executor::Impl::decode() {
  auto loaded = KernelObject::load(listOf(plan.kernels()));
  if (!loaded)
    return loaded.takeError();
  kernels = std::move(*loaded);
  for (unsigned r = 0; r < ranks.size(); ++r) {
    Regions regions;
    for (unsigned region = 0; region < 5; ++region)
      regions.start[region] = start(r, static_cast<plan::Region>(region));
    auto program = RankProgram::create(plan, regions, *kernels, transport, r);
    if (!program)
      return program.takeError();
    ranks[r].program = std::move(*program);
  }
  return Error::success();
}

void Executor::Impl::startThreads() {
  running = ranks.size() > 1;
  for (unsigned r = 1; r < ranks.size(); ++r)
    ranks[r].thread = std::thread([this, r] {
      for (;;) {
        gate.wait();
        if (!job)
          return;
        (*job)(r);
        gate.wait();
      }
    });
}

void Executor::Impl::onRanks(function_ref<void(unsigned)> f) {
  job = &f;
  gate.wait();
  f(0);
  gate.wait();
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
  if (Error error = impl->decode())
    return std::move(error);
  if (Error error = checkRoomForBlas(impl->ranks.size()))
    return std::move(error);
  impl->startThreads();
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

const plan::Plan &Executor::plan() const { return impl->plan; }
const Mesh &Executor::mesh() const { return impl->mesh; }

char *Executor::persistent(unsigned rank) {
  return impl->ranks[rank].persistent.get();
}

char *Executor::input() { return impl->input.get(); }

char *Executor::address(unsigned rank, const plan::Operand &operand) {
  return impl->start(rank, operand.region()) + operand.offset();
}

void Executor::onRanks(function_ref<void(unsigned)> f) { impl->onRanks(f); }

/// 1 / (1 - beta^t), Adam's bias correction, in double.
static float biasCorrection(double beta, int64_t t) {
  return float(1.0 / (1.0 - std::pow(beta, double(t))));
}

StepResult Executor::runStep(const StepInputs &inputs) {
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
  onRanks([&](unsigned r) {
    if (traced)
      impl->ranks[r].program->runTraced();
    else
      impl->ranks[r].program->run();
  });
  auto read = [&](const plan::Operand *operand) {
    float value = 0;
    if (operand)
      std::memcpy(&value, address(0, *operand), sizeof(value));
    return value;
  };
  StepResult result;
  result.loss = read(impl->plan.loss());
  result.gradNorm = read(impl->plan.grad_norm());
  if (impl->plan.token_count())
    result.labels = read(impl->plan.token_count());
  return result;
}

ArrayRef<TraceEvent> Executor::events(unsigned rank) const {
  return impl->ranks[rank].program->events();
}

} // namespace colrow::runtime
