// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The control plane of a job of several processes: a star of stream sockets
// (of a launcher's pairs, or TCP), one between process 0 and each other one.

#ifndef COLROW_RUNTIME_JOB_STARCONTROL_H
#define COLROW_RUNTIME_JOB_STARCONTROL_H

#include "colrow/runtime/Job/Control.h"
#include "colrow/runtime/Support/FileDescriptor.h"
#include <memory>
#include <optional>

namespace colrow::runtime {

/// Whether this process may report a failure of the job.
enum class Claim {
  granted,
  taken,   // another process has it
  unknown, // process 0 is gone, or does not answer
};

/// What is known of a process. What is known of one that is not connected to
/// this one comes from process 0, with its heartbeats.
struct ProcessState {
  std::string lastBeat;  // what it gave to beat()
  uint64_t messages = 0; // that have come over its connection to this process
  bool isGone = false;   // its connection ended before the job's end
};

/// gather(), leave() and the destructor are the main thread's; all else may be
/// called by any thread, and does not wait for the network but for claim().
/// A thread of its own receives, answers and passes on.
class StarControl : public Control {
public:
  /// Most bytes of a heartbeat or of a notice; longer ones are cut.
  static constexpr size_t maxBeatBytes = 1024;

  /// Meets all others. `sockets`: in process 0, of all others in their order;
  /// elsewhere one, to process 0. `limit`: seconds to wait for others, where a
  /// call does not say another time; `meetSeconds`: the same for all to be
  /// here, since processes do not start at the same time. Error: ToldByFirst
  /// where process 0 has told this one why it ends.
  static llvm::Expected<std::unique_ptr<StarControl>>
  create(unsigned process, unsigned processes,
         std::vector<FileDescriptor> sockets, double limit,
         double meetSeconds = 60);
  ~StarControl() override;

  unsigned process() const override;
  unsigned processes() const override;
  /// One thread at a time. After an error all further calls fail with it.
  llvm::Expected<std::vector<std::string>> gather(llvm::StringRef mine,
                                                  double seconds = 0) override;
  /// The orderly end: returns when all others have called it too; then the
  /// connections are closed, and no end of one is a failure.
  llvm::Error leave();

  /// "process 3", and where there are several hosts "process 3 (host b)".
  std::string nameOf(unsigned process) const;

  /// Tells the others that this process lives, and what it does; process 0
  /// passes on what it knows of all.
  void beat(llvm::StringRef progress);
  ProcessState stateOf(unsigned process) const;

  /// Tells all others that the job has failed. The first notice counts.
  void sendFailure(llvm::StringRef text);
  /// That of this process, or of another.
  std::optional<std::string> failureNotice() const;
  /// Asks process 0 for the right to report; the first who asks gets it. May be
  /// called again for an answer that has not come yet.
  Claim claim(double seconds);

  /// Readable (poll: POLLIN) when a process is gone or a failure was told;
  /// until clearEvents().
  int eventDescriptor() const;
  void clearEvents();

private:
  struct Impl;
  explicit StarControl(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

/// The sockets that a launcher passed on by number: checked to be such, and not
/// passed on further.
llvm::Expected<std::vector<FileDescriptor>>
takeSockets(const std::vector<int> &descriptors);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_STARCONTROL_H
