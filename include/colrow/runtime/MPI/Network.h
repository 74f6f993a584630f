// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages between the processes of a job, wherever they run. No call waits.

#ifndef COLROW_RUNTIME_MPI_NETWORK_H
#define COLROW_RUNTIME_MPI_NETWORK_H

#include <cstddef>
#include <cstdint>

namespace colrow::runtime {

/// Calls may come from several threads at once. A message that fails ends the
/// process: the others may be told, but no collective goes on.
class Network {
public:
  using Request = uint64_t;

  virtual ~Network() = default;
  virtual unsigned process() const = 0;
  /// Tags are from 0 to this.
  virtual unsigned maxTag() const = 0;

  /// Most bytes of a message.
  static constexpr size_t maxBytes = size_t(1) << 30;

  /// Memory must stay as it is, and a received message may not be read, until
  /// test() is true. Messages between two processes with one tag are received
  /// in the order in which they were sent, of the same sizes.
  virtual Request send(const void *from, size_t bytes, unsigned process,
                       unsigned tag) = 0;
  virtual Request receive(void *to, size_t bytes, unsigned process,
                          unsigned tag) = 0;
  /// Whether the message is done; then the request is no more.
  virtual bool test(Request &request) = 0;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_MPI_NETWORK_H
