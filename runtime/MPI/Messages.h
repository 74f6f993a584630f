// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages that a rank has under way, and how it waits for them: nothing
// here waits on when the job has failed.

#ifndef COLROW_RUNTIME_MPI_MESSAGES_H
#define COLROW_RUNTIME_MPI_MESSAGES_H

#include "colrow/runtime/CPU/JobPage.h"
#include "colrow/runtime/MPI/Network.h"
#include <vector>

namespace colrow::runtime {

class Messages {
public:
  /// At most `most` at a time. `status`: of the rank. `hasCore`: nobody else
  /// needs its core while it waits.
  Messages(Network &network, RankStatus &status,
           const std::atomic<uint32_t> &failed, size_t most, bool hasCore)
      : network(network), status(status), failed(failed), hasCore(hasCore) {
    requests.reserve(most);
  }

  /// Each returns the message's number, from 0 on.
  size_t send(const void *from, size_t bytes, unsigned process, unsigned tag) {
    requests.push_back({network.send(from, bytes, process, tag), false});
    return requests.size() - 1;
  }
  size_t receive(void *to, size_t bytes, unsigned process, unsigned tag) {
    requests.push_back({network.receive(to, bytes, process, tag), false});
    return requests.size() - 1;
  }

  /// Until a message is done. False: the job has failed first, and the
  /// messages are still under way.
  bool wait(size_t message);
  /// Until all are done; then their numbers count from 0 again.
  bool finish();

  bool areUnderWay() const { return !requests.empty(); }

private:
  struct Message {
    Network::Request request;
    bool isDone;
  };
  bool isDone(Message &message) {
    return message.isDone || (message.isDone = network.test(message.request));
  }

  Network &network;
  RankStatus &status;
  const std::atomic<uint32_t> &failed;
  bool hasCore;
  std::vector<Message> requests;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_MPI_MESSAGES_H
