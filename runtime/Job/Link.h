// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One socket of a star: frames go out in the order in which they are posted, as
// far as the other side takes them, and nobody waits for it.

#ifndef COLROW_RUNTIME_JOB_LINK_H
#define COLROW_RUNTIME_JOB_LINK_H

#include "colrow/runtime/Job/Frames.h"
#include "colrow/runtime/Support/FileDescriptor.h"
#include <mutex>

namespace colrow::runtime {

class Link {
public:
  explicit Link(FileDescriptor socket);

  /// Any thread. True when something is left to flush().
  bool post(llvm::StringRef payload);
  /// The same, but nothing is sent while something older is unsent.
  bool postIfIdle(llvm::StringRef payload);
  /// Sends what goes now. True when something is left.
  bool flush();
  bool hasUnsent() const;
  void shutdownWriting();
  void close();

  /// The thread that receives only, as is all below. Nothing more comes after
  /// `end`.
  enum class Received { nothing, bytes, end };
  Received receive();
  FrameReader &frames() { return reader; }
  int descriptor() const { return socket.get(); }
  bool hasEnded() const { return isAtEnd; }
  void end() { isAtEnd = true; }

private:
  bool flushLocked();

  mutable std::mutex mutex; // of what follows, but the descriptor is constant
  FileDescriptor socket;    // until close()
  std::string unsent;
  size_t sent = 0; // of unsent's bytes
  bool isBroken = false;

  FrameReader reader;
  bool isAtEnd = false;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_LINK_H
