// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processes of a run. All of them go through the same sequence of calls to
// gather() and agree(), so an error of one reaches all at the next of them,
// whichever it is: nobody waits for a process that has given up. What all do
// after an error begins with settle().

#ifndef COLROW_RUNTIME_JOB_JOB_H
#define COLROW_RUNTIME_JOB_JOB_H

#include "colrow/runtime/Job/Control.h"
#include <memory>

namespace colrow::runtime {

/// Consecutive ranks of the mesh.
struct RankRange {
  unsigned first = 0, count = 0;

  unsigned end() const { return first + count; }
  bool contains(unsigned rank) const { return rank - first < count; }
};

class Job : public Control {
public:
  /// Most bytes that a process may give to gather().
  static constexpr size_t maxBytes = Control::maxBytes - 1;

  /// Of one process.
  Job();
  explicit Job(std::unique_ptr<Control> control);
  ~Job() override;

  unsigned process() const override { return control->process(); }
  unsigned processes() const override { return control->processes(); }
  /// The process that speaks for all: it prints, creates and renames.
  bool isFirst() const { return process() == 0; }
  /// The ranks that a process owns of `ranks`, which it must divide.
  RankRange ranksOf(unsigned process, unsigned ranks) const;

  /// What each process gave, in their order. Error: of the first process that
  /// has one to tell, or one that does not come within `seconds` (0: the job's
  /// limit). Every process gets it.
  llvm::Expected<std::vector<std::string>> gather(llvm::StringRef mine,
                                                  double seconds = 0) override;
  /// What the first process gave.
  llvm::Expected<std::string> fromFirst(llvm::StringRef mine);
  /// Success when all processes give success, else an error at all of them.
  /// After an error, which all know, another one is only returned.
  llvm::Error agree(llvm::Error mine);
  /// Ends a part of the run as agree() does. Also after an error all processes
  /// go on from here with the same calls, and errors are told as before.
  llvm::Error settle(llvm::Error mine);
  /// Whether a process of the job is gone or has given up: to be asked before
  /// anything is renamed.
  bool hasFailed() const override;
  void progress() override { control->progress(); }

private:
  llvm::Expected<std::vector<std::string>> exchange(std::string told,
                                                    double seconds = 0);

  std::unique_ptr<Control> control;
  bool ended = false; // an exchange has told all of an error, since settle()
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_JOB_H
