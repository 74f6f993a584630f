// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small messages with open files in them, between processes of a machine: a
// sequenced-packet unix socket, so a message arrives whole or not at all.

#ifndef COLROW_RUNTIME_CPU_FILEMESSAGES_H
#define COLROW_RUNTIME_CPU_FILEMESSAGES_H

#include "colrow/runtime/Job/Deadline.h"
#include "colrow/runtime/Support/FileDescriptor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace colrow::runtime {

/// Sends `bytes`, not empty. Error: the other end is gone or does not take it
/// in time.
llvm::Error sendMessage(int socket, llvm::StringRef bytes,
                        llvm::ArrayRef<int> files, Deadline deadline);

/// The next message, of exactly `bytes` bytes with at most `maxFiles` files.
/// Error: there is another one, or none in time.
struct Message {
  std::string bytes;
  std::vector<FileDescriptor> files;
};
llvm::Expected<Message> receiveMessage(int socket, size_t bytes,
                                       size_t maxFiles, Deadline deadline);

/// Any number of files, in messages of as many as the system takes at once.
llvm::Error sendFiles(int socket, llvm::ArrayRef<int> files, Deadline deadline);
/// Appends exactly `count` files that sendFiles() sent.
llvm::Error receiveFiles(int socket, size_t count,
                         std::vector<FileDescriptor> &files, Deadline deadline);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_FILEMESSAGES_H
