// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the processes of a star send each other: a kind and its fields, little
// endian, in one frame.

#ifndef COLROW_RUNTIME_JOB_MESSAGE_H
#define COLROW_RUNTIME_JOB_MESSAGE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include <string>

namespace colrow::runtime {

enum class MessageKind : char {
  // To process 0.
  part = 'p',  // what one gives to a gather: its number, bytes
  claim = 'c', // may this process report the failure?
  // From process 0.
  all = 'a',     // a gather's number; then entries of process and bytes
  waiting = 'w', // a gather's number, ms left; the processes not yet there
  failed = 'e',  // why no further gather succeeds
  gone = 'g',    // a process; text
  claimed = 'y', // 1 when granted
  // Both ways.
  beat = 'h',   // entries of process and what it gave to beat()
  notice = 'f', // of a failure: text
};

class MessageWriter {
public:
  explicit MessageWriter(MessageKind kind) : bytes(1, char(kind)) {}

  MessageWriter &number(uint32_t value) {
    char text[4];
    llvm::support::endian::write32le(text, value);
    bytes.append(text, sizeof(text));
    return *this;
  }
  /// Text with its length before it.
  MessageWriter &text(llvm::StringRef value) {
    number(uint32_t(value.size()));
    return rest(value);
  }
  /// Bytes to the end of the message.
  MessageWriter &rest(llvm::StringRef value) {
    bytes.append(value.data(), value.size());
    return *this;
  }
  size_t size() const { return bytes.size(); }
  const std::string &message() const { return bytes; }

private:
  std::string bytes;
};

/// Reads fields in their order; after one that is not there all are 0 or empty,
/// and isWhole() is false.
class MessageReader {
public:
  /// Of a message that is not empty.
  explicit MessageReader(llvm::StringRef message)
      : messageKind(MessageKind(message.front())),
        unread(message.drop_front()) {}

  MessageKind kind() const { return messageKind; }
  bool atEnd() const { return unread.empty(); }
  /// Every field was there, and nothing is left.
  bool isWhole() const { return !isShort && unread.empty(); }
  bool isShortOfFields() const { return isShort; }

  uint32_t number() {
    llvm::StringRef bytes = take(4);
    return bytes.empty() ? 0 : llvm::support::endian::read32le(bytes.data());
  }
  llvm::StringRef text() { return take(number()); }
  llvm::StringRef rest() { return take(unread.size()); }

private:
  llvm::StringRef take(size_t size) {
    isShort |= size > unread.size();
    if (isShort) {
      unread = "";
      return "";
    }
    llvm::StringRef taken = unread.take_front(size);
    unread = unread.drop_front(size);
    return taken;
  }

  MessageKind messageKind;
  llvm::StringRef unread;
  bool isShort = false;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_MESSAGE_H
