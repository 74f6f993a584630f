// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the processes of a job tell each other: small messages, no data. Every
// process takes part in every exchange, in the same order.

#ifndef COLROW_RUNTIME_JOB_CONTROL_H
#define COLROW_RUNTIME_JOB_CONTROL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace colrow::runtime {

class Control {
public:
  /// Most bytes that a process may give to gather().
  static constexpr size_t maxBytes = 60 * 1024;

  virtual ~Control() = default;
  virtual unsigned process() const = 0;
  virtual unsigned processes() const = 0;

  /// What each process gave, in their order; returns when all have called.
  /// `seconds`: how long to wait for the others, 0 for the job's limit. Error,
  /// at all of them: a process is gone or does not come.
  virtual llvm::Expected<std::vector<std::string>>
  gather(llvm::StringRef mine, double seconds = 0) = 0;

  /// Whether a process of the job is known to have failed.
  virtual bool hasFailed() const { return false; }

  /// Long work between two exchanges calls this now and then, so that nobody
  /// takes this process to be stuck.
  virtual void progress() {}
};

/// A job of one process.
class SingleProcess : public Control {
public:
  unsigned process() const override { return 0; }
  unsigned processes() const override { return 1; }
  llvm::Expected<std::vector<std::string>> gather(llvm::StringRef mine,
                                                  double) override {
    return std::vector<std::string>{mine.str()};
  }
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_CONTROL_H
