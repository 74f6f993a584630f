// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a process and process 0 show each other that they belong to one job. Both
// prove that they know its token (HMAC-SHA256 over a challenge of both), which
// itself is never sent. No sockets here: bytes in, bytes out.
//
//   process    line, 'J', nonce, process, processes, job digest, title
//   process 0  line, 'C', 'T' or '-' (has a token), nonce      or a refusal
//   process    'P', proof("process")
//   process 0  'A', proof("process 0")                         or a refusal
//
// proof(role) = HMAC(token; line, role, both nonces, process, processes,
// digest). A refusal is 'R' and a text. Anybody may ask whose port it is, with
// line and 'W'; the answer is line, 'N' and a text.

#ifndef COLROW_RUNTIME_JOB_HANDSHAKE_H
#define COLROW_RUNTIME_JOB_HANDSHAKE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <string>

namespace colrow::runtime {

/// First on every connection, both ways: other protocols are told by it.
constexpr llvm::StringLiteral protocolLine = "colrow-control 1\n";

/// Most bytes that process 0 reads from one that has not proved itself.
constexpr size_t maxBytesBeforeProof = 256;

using Digest = std::array<uint8_t, 32>;

Digest hmacSha256(llvm::StringRef key, llvm::StringRef text);
/// In a time that does not depend on where they differ.
bool equalInConstantTime(llvm::StringRef a, llvm::StringRef b);
/// From the kernel.
Digest randomNonce();

/// What the processes of one job have in common.
struct JobDescription {
  std::string name; // of the plan's file
  std::string run;  // LaunchInfo::run
  unsigned processes = 1;
  std::string token; // empty: none
  /// No other job has this run: the name is only said, and may differ.
  bool isKnownByRun = false;
  /// How others are told of this job: at most 100 printable characters.
  std::string title() const;
};

/// Why a connection was dropped.
enum class Refusal {
  none,
  garbage,
  ended, // by the other side, before it had proved itself
  slow,
  displaced, // by others, all places being taken
  token,
  job,
  count,
  twice,
};
constexpr unsigned refusalKinds = 9;

/// Process 0's side of one connection.
class HubHandshake {
public:
  enum class State {
    open,   // wants more bytes
    proved, // call accept() or refuse()
    done,   // nothing more to be said; refusal() says whether it was refused
  };

  /// `job` must live longer.
  HubHandshake(const JobDescription &job, const Digest &nonce)
      : job(job), nonce(nonce) {}

  /// Takes what came; what is to be sent is appended to `reply`.
  State receive(llvm::StringRef bytes, std::string &reply);
  /// Of one that is proved.
  unsigned process() const { return joiner; }
  std::string accept();
  std::string refuse(Refusal why, llvm::StringRef text);
  Refusal refusal() const { return refused; }

private:
  State receiveHello(std::string &reply);
  State receiveProof(std::string &reply);
  State drop(Refusal why);
  State drop(Refusal why, std::string &reply, llvm::StringRef text);

  const JobDescription &job;
  const Digest nonce;
  Digest otherNonce = {};
  size_t received = 0;
  std::string unread;
  bool hasHello = false;
  unsigned joiner = 0, count = 0;
  Refusal refused = Refusal::none;
};

/// The other side.
class JoinHandshake {
public:
  enum class State {
    open,
    joined,
    refused, // error() says why; trying again will not help
  };

  JoinHandshake(const JobDescription &job, unsigned process,
                const Digest &nonce)
      : job(job), process(process), nonce(nonce) {}

  std::string hello() const;
  /// Most bytes to give to receive() next: not those of the job behind them.
  size_t wanted() const;
  State receive(llvm::StringRef bytes, std::string &reply);
  const std::string &error() const { return text; }

private:
  State receiveChallenge(std::string &reply);
  State receiveAnswer();
  State receiveRefusal();
  State refuse(std::string why);

  const JobDescription &job;
  const unsigned process;
  const Digest nonce;
  Digest otherNonce = {};
  std::string unread, text;
  bool hasLine = false, hasChallenge = false;
};

/// Asks who listens.
std::string whoQuestion();
/// Nothing as long as the answer is not whole, or is none.
std::string whoAnswer(llvm::StringRef bytes);

/// As it may be shown on a terminal: what is not printable ASCII becomes '?'.
std::string printable(llvm::StringRef text);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_HANDSHAKE_H
