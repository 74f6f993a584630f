// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages on a stream socket: a length of four bytes, least first, then as
// many bytes. What comes from the other side is not trusted.

#ifndef COLROW_RUNTIME_JOB_FRAMES_H
#define COLROW_RUNTIME_JOB_FRAMES_H

#include "colrow/runtime/Job/Deadline.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace colrow::runtime {

/// Most bytes of a frame, without its length. None is empty.
constexpr size_t maxFrameBytes = 64 * 1024;

/// The frame as it goes over the wire. 1 to maxFrameBytes bytes.
std::string frameOf(llvm::StringRef payload);

/// Cuts what arrives, in pieces of any size, into frames.
class FrameReader {
public:
  void add(llvm::StringRef bytes) { buffer.append(bytes.data(), bytes.size()); }
  /// The next whole frame; nothing when it is not all there. Error: a length
  /// that no frame has; nothing after it can be read.
  llvm::Expected<std::optional<std::string>> next();

private:
  std::string buffer;
  size_t taken = 0; // of buffer's bytes
};

/// Waits until `fd` can be read (`events` POLLIN) or written (POLLOUT), or has
/// ended.
llvm::Error waitFor(int fd, short events, Deadline deadline);
/// Sends all bytes. The socket may be blocking or not. Never raises SIGPIPE.
llvm::Error sendAll(int fd, llvm::StringRef bytes, Deadline deadline);
/// Receives exactly `size` bytes.
llvm::Error receiveAll(int fd, char *out, size_t size, Deadline deadline);

llvm::Error sendFrame(int fd, llvm::StringRef payload, Deadline deadline);
llvm::Expected<std::string> receiveFrame(int fd, Deadline deadline);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_FRAMES_H
