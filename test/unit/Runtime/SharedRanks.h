// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks of a machine for tests: threads, processes, or both.

#ifndef COLROW_TEST_UNIT_RUNTIME_SHAREDRANKS_H
#define COLROW_TEST_UNIT_RUNTIME_SHAREDRANKS_H

#include "colrow/runtime/CPU/SharedMemory.h"
#include "colrow/runtime/Job/Control.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <sys/types.h>
#include <vector>

namespace colrow::runtime::test {

Mesh meshOf(std::vector<unsigned> sizes);

/// Runs f(process) in `processes` forked ones; true when none has failed a
/// test. None lives longer than `seconds`.
bool inProcesses(unsigned processes, llvm::function_ref<void(unsigned)> f,
                 unsigned seconds = 60);

/// One arena that is all of this process: ranks that are its threads may have
/// their operands anywhere.
MachineMemory anywhere(unsigned ranks);

/// What a rank of a test has.
struct TestRank {
  unsigned rank;
  Transport &transport;
  char *arena;           // zeroed
  const char *constants; // the same in every process, at places of their own
};

/// Runs f for all ranks of `mesh`, `ranksPerProcess` threads in each of as many
/// forked processes as that takes; one process for all is this one. False: a
/// test failed in another process.
bool onMachine(const Mesh &mesh, std::vector<std::vector<uint8_t>> axes,
               uint64_t arenaBytes, llvm::ArrayRef<char> constants,
               unsigned ranksPerProcess,
               llvm::function_ref<void(const TestRank &)> f);

/// Agreement of forked processes; made before they are.
class ForkedControl : public Control {
public:
  explicit ForkedControl(unsigned processes);
  ~ForkedControl() override;

  /// In the process: which it is.
  void become(unsigned process) { self = process; }
  unsigned process() const override { return self; }
  unsigned processes() const override { return count; }
  llvm::Expected<std::vector<std::string>> gather(llvm::StringRef mine,
                                                  double) override;

private:
  struct Shared;
  unsigned count, self = 0;
  Shared *shared;
};

} // namespace colrow::runtime::test

#endif // COLROW_TEST_UNIT_RUNTIME_SHAREDRANKS_H
