// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starting an MPI, its messages, and what goes wrong with them.

#include "colrow/runtime/MPI/MpiNetwork.h"
#include "KnownLibrary.h"
#include "colrow/runtime/Job/Deadline.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"
#include "colrow/runtime/Support/LastWord.h"
#include "colrow/runtime/Support/ShownText.h"
#include "colrow/runtime/Support/Thread.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

namespace {
/// Ends the process when something takes too long.
class Watchdog {
public:
  Watchdog(double seconds, std::string text)
      : seconds(std::max(seconds, 0.01)), text(std::move(text)) {}
  Error start() {
    return thread.start([this] { watch(); });
  }
  ~Watchdog() {
    if (!thread.joinable())
      return;
    {
      std::lock_guard<std::mutex> lock(mutex);
      isOver = true;
    }
    changed.notify_all();
    thread.join();
  }

private:
  /// Time in which this process was stopped does not count: the others have
  /// not been late, and have told meanwhile who was.
  void watch() {
    const double tick = std::min(seconds / 20, 0.25);
    std::unique_lock<std::mutex> lock(mutex);
    for (double left = seconds; left > 0;) {
      auto begin = Deadline::Clock::now();
      if (changed.wait_until(lock, Deadline::in(tick).time(),
                             [this] { return isOver; }))
        return;
      std::chrono::duration<double> passed = Deadline::Clock::now() - begin;
      left -= std::min(passed.count(), 2 * tick);
    }
    if (!text.empty() && takeLastWord())
      (void)!::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(1);
  }

  const double seconds;
  const std::string text;
  bool isOver = false;
  std::mutex mutex;
  std::condition_variable changed;
  Thread thread;
};

/// MPI libraries and what they load take signals; the program's own stay.
class KeptSignals {
public:
  KeptSignals() {
    for (int number = 1; number < NSIG; ++number)
      isKnown[number] = ::sigaction(number, nullptr, &before[number]) == 0;
  }
  ~KeptSignals() {
    for (int number = 1; number < NSIG; ++number)
      if (isKnown[number])
        (void)::sigaction(number, &before[number], nullptr);
  }

private:
  struct sigaction before[NSIG];
  bool isKnown[NSIG] = {};
};

} // namespace

struct MpiNetwork::Impl {
  const ColrowMpi *mpi = nullptr;
  ColrowMpiWorld world = {};
  double limit = 0;
  std::string tool;
  std::mutex mutex; // of told: the mover may fail at any time
  std::function<void(StringRef)> told;
  std::atomic<bool> isEnding{false};
  Thread mover;

  /// What was sent goes on its way although no rank waits for anything.
  void move() {
    while (!isEnding.load()) {
      ::usleep(1000);
      check(mpi->progress());
    }
  }
  void check(int code) {
    if (LLVM_UNLIKELY(code != 0))
      fail(code);
  }
  [[noreturn]] void fail(int code);
  [[noreturn]] void end(StringRef text) const;
};

void MpiNetwork::Impl::end(StringRef text) const {
  if (takeLastWord())
    writeErrorLine(tool, text);
  ::_exit(1);
}

void MpiNetwork::Impl::fail(int code) {
  char text[COLROW_MPI_TEXT];
  mpi->describe(code, text);
  std::string line = formatv("{0}: {1}", world.library, text);
  std::function<void(StringRef)> tell;
  {
    std::lock_guard<std::mutex> lock(mutex);
    tell = told;
  }
  if (tell)
    tell(line);
  end(line);
}

/// Before the libraries are loaded, which read them. A user's own stay.
static void setDefaults() {
  // Open MPI's shared memory leaves files when a process is killed; ours serves
  // within a machine.
  ::setenv("OMPI_MCA_btl", "self,tcp", /*overwrite=*/0);
  ::setenv("UCX_HANDLE_ERRORS", "none", 0);
}

MpiNetwork::MpiNetwork(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}

MpiNetwork::~MpiNetwork() {
  impl->isEnding.store(true);
  if (impl->mover.joinable())
    impl->mover.join();
}

/// Of several processes that all wait in vain the first one says so, and ends
/// before the others; the second one, should that be the one that is missing.
static double lateSeconds(const LaunchInfo &launch, double seconds) {
  return seconds + std::min(launch.process * 2, 3u);
}
static std::string lateText(const LaunchInfo &launch, const char *tool,
                            StringRef text) {
  if (launch.process > 1)
    return "";
  return formatv("{0}: error: {1}\n", tool, text);
}

Expected<std::unique_ptr<MpiNetwork>>
MpiNetwork::start(const LaunchInfo &launch, double seconds, const char *tool) {
  const KnownLibrary &known = knownOf(launch.kind);
  KeptSignals kept;
  setDefaults();
  Expected<const ColrowMpi *> mpi = loadPlugin(known);
  if (!mpi)
    return mpi.takeError();
  auto impl = std::make_unique<Impl>();
  impl->mpi = *mpi;
  impl->limit = seconds;
  impl->tool = tool;
  int code;
  {
    std::string text =
        formatv("{0} has not started after {1} s (--limit): not all of the {2} "
                "processes are there",
                known.name, textOfNumber(seconds), launch.processes);
    Watchdog watchdog(lateSeconds(launch, seconds),
                      lateText(launch, tool, text));
    if (Error error = watchdog.start())
      return std::move(error);
    code = impl->mpi->init(&impl->world);
  }
  if (code != 0) {
    char text[COLROW_MPI_TEXT];
    impl->mpi->describe(code, text);
    return failure("{0} cannot start: {1}", known.name, text);
  }
  if (Error error = checkWorld(launch, known, impl->world))
    return std::move(error);
  Impl &running = *impl;
  if (Error error = running.mover.start([&running] { running.move(); }))
    return std::move(error);
  return std::unique_ptr<MpiNetwork>(new MpiNetwork(std::move(impl)));
}

unsigned MpiNetwork::process() const { return impl->world.rank; }
unsigned MpiNetwork::processes() const { return impl->world.size; }
unsigned MpiNetwork::maxTag() const { return impl->world.max_tag; }

void MpiNetwork::onFailure(std::function<void(StringRef)> told) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  impl->told = std::move(told);
}

Network::Request MpiNetwork::send(const void *from, size_t bytes,
                                  unsigned process, unsigned tag) {
  Request request;
  impl->check(impl->mpi->send(from, bytes, process, tag, &request));
  return request;
}

Network::Request MpiNetwork::receive(void *to, size_t bytes, unsigned process,
                                     unsigned tag) {
  Request request;
  impl->check(impl->mpi->receive(to, bytes, process, tag, &request));
  return request;
}

bool MpiNetwork::test(Request &request) {
  int isDone = 0;
  impl->check(impl->mpi->test(&request, &isDone));
  return isDone != 0;
}

void MpiNetwork::finish() {
  impl->isEnding.store(true);
  impl->mover.join();
  Watchdog watchdog(impl->limit,
                    formatv("{0}: error: {1} does not end after {2} s\n",
                            impl->tool, impl->world.library,
                            textOfNumber(impl->limit)));
  if (Error error = watchdog.start())
    impl->end(toString(std::move(error)));
  (void)impl->mpi->finalize();
}

} // namespace colrow::runtime
