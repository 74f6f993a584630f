// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the processes of a job find each other over TCP: process 0 listens until
// all others have joined, and no longer.

#ifndef COLROW_RUNTIME_JOB_RENDEZVOUS_H
#define COLROW_RUNTIME_JOB_RENDEZVOUS_H

#include "colrow/runtime/Job/Deadline.h"
#include "colrow/runtime/Job/Handshake.h"
#include "colrow/runtime/Support/FileDescriptor.h"
#include <memory>
#include <vector>

namespace colrow::runtime {

struct MeetingPlace {
  std::string host;
  uint16_t port = 0; // 0, for process 0: any that is free
  /// Without a token nothing is said to, or heard from, other machines, unless
  /// the user trusts the network.
  bool trustNetwork = false;
  /// How long one that has not proved itself yet may take.
  double pendingSeconds = 5;
};

/// Process 0 while it listens: on the addresses of the host that it was given,
/// and on no others.
class Hub {
public:
  /// `job` must live longer.
  static llvm::Expected<std::unique_ptr<Hub>> listen(const MeetingPlace &place,
                                                     const JobDescription &job);
  ~Hub();

  uint16_t port() const;
  /// The sockets of processes 1, 2 and so on. What comes from others than the
  /// job's processes is dropped, and at most counted. Nothing listens any more
  /// when it returns. Error: not all have joined after `seconds`.
  llvm::Expected<std::vector<FileDescriptor>> accept(double seconds);

private:
  struct Impl;
  explicit Hub(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

/// Most connections that have not proved themselves yet. When all places are
/// taken, the oldest has to go.
constexpr size_t maxPending = 64;

/// The socket of another process to process 0. Tries until `seconds` are over,
/// unless process 0 refuses it.
llvm::Expected<FileDescriptor> joinHub(const MeetingPlace &place,
                                       const JobDescription &job,
                                       unsigned process, double seconds);

/// Both, as StarControl::create() takes it.
llvm::Expected<std::vector<FileDescriptor>>
rendezvous(const MeetingPlace &place, const JobDescription &job,
           unsigned process, double seconds);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_RENDEZVOUS_H
