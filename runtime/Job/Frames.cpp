// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages on a stream socket.

#include "colrow/runtime/Job/Frames.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/Endian.h"
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

using namespace llvm;

namespace colrow::runtime {

std::string frameOf(StringRef payload) {
  std::string frame(4, '\0');
  support::endian::write32le(frame.data(), uint32_t(payload.size()));
  frame.append(payload.data(), payload.size());
  return frame;
}

static Error checkLength(uint32_t length) {
  if (length >= 1 && length <= maxFrameBytes)
    return Error::success();
  return failure("a message of {0} bytes, wanted 1 to {1}", length,
                 maxFrameBytes);
}

Expected<std::optional<std::string>> FrameReader::next() {
  std::optional<std::string> frame;
  StringRef rest = StringRef(buffer).drop_front(taken);
  if (rest.size() >= 4) {
    uint32_t length = support::endian::read32le(rest.data());
    if (Error error = checkLength(length))
      return std::move(error);
    if (rest.size() - 4 >= length) {
      frame = rest.substr(4, length).str();
      taken += 4 + length;
    }
  }
  if (!frame) {
    buffer.erase(0, taken);
    taken = 0;
  }
  return frame;
}

static Error failed(const char *action) {
  if (errno == EPIPE || errno == ECONNRESET)
    return failure("the other side closed the connection");
  return failure("cannot {0}: {1}", action,
                 std::error_code(errno, std::generic_category()).message());
}

Error waitFor(int fd, short events, Deadline deadline) {
  for (;;) {
    pollfd entry = {fd, events, 0};
    int ready = ::poll(&entry, 1, deadline.millisecondsLeft());
    if (ready > 0)
      return Error::success();
    if (ready < 0 && errno != EINTR)
      return failed("wait");
    if (deadline.hasPassed())
      return failure("the other side does not answer in time");
  }
}

/// Whether an operation that failed is to be tried again after waiting.
static bool wouldBlock() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

Error sendAll(int fd, StringRef bytes, Deadline deadline) {
  while (!bytes.empty()) {
    ssize_t sent =
        ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0)
      bytes = bytes.drop_front(size_t(sent));
    else if (!wouldBlock())
      return failed("send");
    else if (Error error = waitFor(fd, POLLOUT, deadline))
      return error;
  }
  return Error::success();
}

Error receiveAll(int fd, char *out, size_t size, Deadline deadline) {
  while (size > 0) {
    ssize_t got = ::recv(fd, out, size, MSG_DONTWAIT);
    if (got == 0)
      return failure("the other side closed the connection");
    if (got > 0) {
      out += got;
      size -= size_t(got);
    } else if (!wouldBlock())
      return failed("receive");
    else if (Error error = waitFor(fd, POLLIN, deadline))
      return error;
  }
  return Error::success();
}

Error sendFrame(int fd, StringRef payload, Deadline deadline) {
  if (payload.empty() || payload.size() > maxFrameBytes)
    return checkLength(uint32_t(std::min<size_t>(payload.size(), UINT32_MAX)));
  return sendAll(fd, frameOf(payload), deadline);
}

Expected<std::string> receiveFrame(int fd, Deadline deadline) {
  char head[4];
  if (Error error = receiveAll(fd, head, sizeof(head), deadline))
    return std::move(error);
  uint32_t length = support::endian::read32le(head);
  if (Error error = checkLength(length))
    return std::move(error);
  std::string payload(length, '\0');
  if (Error error = receiveAll(fd, payload.data(), length, deadline))
    return std::move(error);
  return payload;
}

} // namespace colrow::runtime
