// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a star: what the main thread waits for and the receiving thread
// brings.

#ifndef COLROW_RUNTIME_JOB_STARIMPL_H
#define COLROW_RUNTIME_JOB_STARIMPL_H

#include "Link.h"
#include "Message.h"
#include "colrow/runtime/Job/Deadline.h"
#include "colrow/runtime/Job/StarControl.h"
#include "colrow/runtime/Support/Thread.h"
#include "llvm/ADT/STLExtras.h"
#include <condition_variable>

namespace colrow::runtime {

struct StarControl::Impl {
  Impl(unsigned process, unsigned processes,
       std::vector<FileDescriptor> sockets, double limit);
  ~Impl();

  llvm::Error start();
  /// Ends the receiving thread, then the connections.
  void stop();
  bool isHub() const { return process == 0; }

  // The main thread's.
  llvm::Expected<std::vector<std::string>>
  gather(char purpose, llvm::StringRef mine, double seconds);
  void waitForEnds();

  // All below with `mutex` held.
  using Lock = std::unique_lock<std::mutex>;
  bool collect(Lock &lock, Deadline deadline, double seconds);
  bool await(Lock &lock, double seconds);
  bool isComplete() const;
  void tellWaiting(Deadline deadline);
  void sendAllParts();
  /// The job goes no further: every call fails with the first text.
  void breakDown(const llvm::Twine &text);
  void breakDownEverywhere(const llvm::Twine &text);
  std::string nameOf(unsigned process) const;
  std::string lateText(llvm::ArrayRef<unsigned> late, double seconds) const;
  void post(unsigned to, const MessageWriter &message);
  void postToOthers(unsigned but, const MessageWriter &message);
  void signalEvent();

  // The receiving thread's.
  void run();
  bool pollOnce();
  void receive(unsigned from);
  void lose(unsigned from, llvm::StringRef why);
  /// False: no message that `from` may send.
  bool dispatch(unsigned from, llvm::StringRef message);
  bool takePart(unsigned from, MessageReader &message);
  bool takeAll(MessageReader &message);
  bool takeWaiting(MessageReader &message);
  bool takeBeat(unsigned from, MessageReader &message);
  bool takeNotice(unsigned from, MessageReader &message);
  bool takeGone(MessageReader &message);
  bool takeClaim(unsigned from, MessageReader &message);

  const unsigned process, processes;
  const double limit;
  /// Process 0's: of each other one. Elsewhere: of process 0.
  std::vector<std::unique_ptr<Link>> links;
  FileDescriptor events, wake; // eventfds
  Thread thread;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> hosts; // empty until they are known
  bool hasSeveralHosts = false;
  std::vector<ProcessState> states;
  uint32_t sequence = 0; // of the gather that runs, or comes next
  /// Process 0's: what has come for it. Elsewhere: what process 0 has sent.
  std::vector<std::optional<std::string>> parts;
  /// What process 0 waits for, by its last word, and when it will have stopped.
  std::vector<unsigned> awaited;
  std::optional<Deadline> hubDeadline;
  std::optional<std::string> broken, noticed;
  bool isToldByHub = false; // what has broken it
  bool isLeaving = false, isStopping = false;
  bool isClaimed = false, hasAsked = false;
  std::optional<bool> claimAnswer;
};

/// Most bytes of a text that process 0 tells the others.
constexpr size_t maxTextBytes = 16 * 1024;

/// What a gather is for: the first byte of all that is given to it.
constexpr char gatherPurpose = 'g', leavePurpose = 'b';

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_STARIMPL_H
