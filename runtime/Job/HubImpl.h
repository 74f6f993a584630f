// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Process 0 while others join.

#ifndef COLROW_RUNTIME_JOB_HUBIMPL_H
#define COLROW_RUNTIME_JOB_HUBIMPL_H

#include "colrow/runtime/Job/Rendezvous.h"
#include <array>
#include <list>
#include <optional>
#include <poll.h>

namespace colrow::runtime {

struct Hub::Impl {
  /// A connection that has not proved itself.
  struct Pending {
    FileDescriptor socket;
    HubHandshake handshake;
    Deadline::Clock::time_point since;
    Deadline deadline;
    short events = 0; // what poll() has seen
  };

  Impl(const JobDescription &job, std::string at, double pendingSeconds)
      : job(job), at(std::move(at)), pendingSeconds(pendingSeconds),
        members(job.processes) {}

  bool isComplete() const;
  void pollOnce(Deadline deadline);
  void acceptAll(const FileDescriptor &listener);
  bool makeRoom();
  double secondsUntilRoom() const;
  /// True: it has its place, or is dropped.
  bool advance(Pending &pending);
  void admit(Pending &pending);
  void drop(Refusal why);
  void noticeEnds(llvm::ArrayRef<pollfd> entries);
  llvm::Error timeout(double seconds);

  const JobDescription &job;
  const std::string at; // HOST:PORT
  const double pendingSeconds;
  std::vector<FileDescriptor> listeners;
  std::list<Pending> pending; // the oldest first
  /// Of a host by name that is loopback: others may find another machine.
  bool isNameOfLoopback = false;
  std::vector<FileDescriptor> members; // by process; none yet, or at 0
  std::array<unsigned, refusalKinds> dropped = {};
  std::vector<unsigned> left; // joined, and were gone before all had
};

/// Sockets that listen on the place's addresses, all on one port.
llvm::Expected<std::vector<FileDescriptor>> listenAt(const MeetingPlace &place,
                                                     const JobDescription &job);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_HUBIMPL_H
