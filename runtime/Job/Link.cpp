// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One socket of a star.

#include "Link.h"
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

using namespace llvm;

namespace colrow::runtime {

Link::Link(FileDescriptor taken) : socket(std::move(taken)) {
  int on = 1; // an error says that it is no TCP socket
  (void)::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

bool Link::post(StringRef payload) {
  std::lock_guard<std::mutex> lock(mutex);
  if (isBroken || !socket)
    return false;
  unsent += frameOf(payload);
  return flushLocked();
}

bool Link::postIfIdle(StringRef payload) {
  std::lock_guard<std::mutex> lock(mutex);
  if (isBroken || !socket)
    return false;
  if (flushLocked())
    return true;
  unsent += frameOf(payload);
  return flushLocked();
}

bool Link::flush() {
  std::lock_guard<std::mutex> lock(mutex);
  return flushLocked();
}

bool Link::flushLocked() {
  while (sent < unsent.size() && !isBroken && socket) {
    ssize_t done = ::send(socket.get(), unsent.data() + sent,
                          unsent.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done >= 0)
      sent += size_t(done);
    else if (errno == EAGAIN || errno == EWOULDBLOCK)
      return true;
    else if (errno != EINTR)
      isBroken = true; // receiving will say so
  }
  unsent.clear();
  sent = 0;
  return false;
}

bool Link::hasUnsent() const {
  std::lock_guard<std::mutex> lock(mutex);
  return !unsent.empty();
}

void Link::shutdownWriting() {
  std::lock_guard<std::mutex> lock(mutex);
  if (socket)
    (void)::shutdown(socket.get(), SHUT_WR);
}

void Link::close() {
  std::lock_guard<std::mutex> lock(mutex);
  socket.reset();
}

Link::Received Link::receive() {
  char buffer[maxFrameBytes];
  for (;;) {
    ssize_t got = ::recv(socket.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
    if (got > 0) {
      reader.add(StringRef(buffer, size_t(got)));
      return Received::bytes;
    }
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return Received::nothing;
    return Received::end;
  }
}

} // namespace colrow::runtime
