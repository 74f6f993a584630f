// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sees to it that a job of several processes ends when one of them does: a
// thread that tells the others that this process lives, notices those that are
// gone, stopped or stuck, and ends this machine's part of the job.

#ifndef COLROW_RUNTIME_CORE_MONITOR_H
#define COLROW_RUNTIME_CORE_MONITOR_H

#include "colrow/runtime/Core/Machine.h"
#include "colrow/runtime/Job/StarControl.h"
#include <functional>
#include <memory>
#include <sys/types.h>

namespace colrow::runtime {

/// What a monitor knows of the ranks, once there are any.
struct Watched {
  std::shared_ptr<const Machine> machine;
  RankRange mine;
  /// Where a rank of this machine is, "step 5, tp.all_reduce at ...".
  std::function<std::string(unsigned rank)> place;
};

/// On a failure the first process to notice prints one line that names the
/// process, its ranks and where they were; then it ends the machine's other
/// processes, and each of them itself, with exit status 1.
class Monitor : public Control {
public:
  /// `limit`: how long, in seconds, a process may be silent, or not get on
  /// while others wait for it. `tool` begins what is printed.
  Monitor(std::unique_ptr<StarControl> star, double limit, const char *tool);
  ~Monitor() override;

  unsigned process() const override { return star->process(); }
  unsigned processes() const override { return star->processes(); }
  /// As the star's, but without a limit of its own where `seconds` is 0; does
  /// not return when a process is gone.
  llvm::Expected<std::vector<std::string>> gather(llvm::StringRef mine,
                                                  double seconds) override;
  /// Waits for a look at the others if this process has not had one lately.
  bool hasFailed() const override;
  /// Long work of the host calls this now and then: it gets on.
  void progress() override;

  /// Whether this process is the one to print an error that all have agreed on,
  /// or will. Once: afterwards nobody of the run prints any.
  bool mayTell();

  /// Ends the job because of an error of this process that nobody else sees.
  [[noreturn]] void fail(llvm::StringRef text);

  /// From now on, until unwatch(), ranks are watched too.
  void watch(Watched watched);
  /// `place` is not asked any more; processes are known until the end.
  void unwatch();

  /// Ends the job too when this process is no longer a child of `parent`.
  void endWith(pid_t parent);

  /// The orderly end: all processes call it. Afterwards none is missed. Does
  /// not return when one is gone before.
  void leave();

private:
  struct Impl;
  std::unique_ptr<StarControl> star;
  std::unique_ptr<Impl> impl;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_MONITOR_H
