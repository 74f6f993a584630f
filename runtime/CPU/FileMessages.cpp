// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SCM_RIGHTS over SOCK_SEQPACKET, never blocking for longer than a deadline.

#include "FileMessages.h"
#include "colrow/runtime/Job/Frames.h"
#include "colrow/runtime/Support/Errors.h"
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

using namespace llvm;

namespace colrow::runtime {

/// Files of a message; Linux refuses more than 253.
static constexpr size_t filesAtOnce = 200;

namespace {
/// Room for a control message with files.
union ControlRoom {
  cmsghdr header;
  char room[CMSG_SPACE(filesAtOnce * sizeof(int))];
};
} // namespace

Error sendMessage(int socket, StringRef bytes, ArrayRef<int> files,
                  Deadline deadline) {
  iovec part{const_cast<char *>(bytes.data()), bytes.size()};
  ControlRoom control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), files.data(), files.size() * sizeof(int));
  }
  for (;;) {
    if (Error error = waitFor(socket, POLLOUT, deadline))
      return error;
    if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
      return Error::success();
    if (errno == ETOOMANYREFS) // until others have taken theirs
      ::poll(nullptr, 0, 1);
    else if (errno != EAGAIN && errno != EINTR)
      return failure("cannot send: {0}", strerror(errno));
  }
}

/// Takes the files over, whatever else is in the message.
static void takeFiles(msghdr &message, std::vector<FileDescriptor> &files) {
  for (cmsghdr *header = CMSG_FIRSTHDR(&message); header;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
      continue;
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      files.emplace_back(fd);
    }
  }
}

Expected<Message> receiveMessage(int socket, size_t bytes, size_t maxFiles,
                                 Deadline deadline) {
  Message result;
  result.bytes.resize(bytes);
  ControlRoom control;
  iovec part{result.bytes.data(), bytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof(control);
  ssize_t received;
  do {
    if (Error error = waitFor(socket, POLLIN, deadline))
      return std::move(error);
    received = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (received < 0 && (errno == EAGAIN || errno == EINTR));
  if (received < 0)
    return failure("cannot receive: {0}", strerror(errno));
  takeFiles(message, result.files);
  if (message.msg_flags & MSG_CTRUNC)
    return failure("cannot take all files that were sent: raise the limit on "
                   "open files (ulimit -n)");
  if (received == 0)
    return failure("it closed the connection");
  if (size_t(received) != bytes || (message.msg_flags & MSG_TRUNC) ||
      result.files.size() > maxFiles)
    return failure("it sent something else");
  return std::move(result);
}

Error sendFiles(int socket, ArrayRef<int> files, Deadline deadline) {
  while (!files.empty()) {
    ArrayRef<int> now = files.take_front(filesAtOnce);
    if (Error error = sendMessage(socket, "f", now, deadline))
      return error;
    files = files.drop_front(now.size());
  }
  return Error::success();
}

Error receiveFiles(int socket, size_t count, std::vector<FileDescriptor> &files,
                   Deadline deadline) {
  while (count > 0) {
    size_t now = std::min(count, filesAtOnce);
    Expected<Message> message = receiveMessage(socket, 1, now, deadline);
    if (!message)
      return message.takeError();
    if (message->files.size() != now)
      return failure("it sent something else");
    for (FileDescriptor &file : message->files)
      files.push_back(std::move(file));
    count -= now;
  }
  return Error::success();
}

} // namespace colrow::runtime
