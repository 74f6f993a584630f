// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both sides of the handshake.

#include "colrow/runtime/Job/Handshake.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

static constexpr size_t nonceBytes = 32, maxTitleBytes = 100,
                        maxTextBytes = 255;

static StringRef textOf(const Digest &digest) {
  return StringRef(reinterpret_cast<const char *>(digest.data()),
                   digest.size());
}

static std::string numberText(uint32_t value) {
  std::string text(4, '\0');
  support::endian::write32le(text.data(), value);
  return text;
}

static std::string withLength(StringRef text, size_t most) {
  text = text.take_front(most);
  return std::string(1, char(uint8_t(text.size()))) + text.str();
}

/// Takes a text with its length from the front; false when it is not all there.
static bool takeText(StringRef &bytes, StringRef &text) {
  if (bytes.empty() || bytes.size() < 1 + size_t(uint8_t(bytes[0])))
    return false;
  text = bytes.substr(1, uint8_t(bytes[0]));
  bytes = bytes.drop_front(1 + text.size());
  return true;
}

std::string JobDescription::title() const {
  static const std::string since =
      formatv("{0:%Y-%m-%d %H:%M:%S}", std::chrono::system_clock::now());
  StringRef shown = StringRef(name).take_back(40);
  return printable(formatv("{0} (pid {1}, since {2}{3})", shown, ::getpid(),
                           since,
                           run.empty() ? "" : ", run " + run.substr(0, 16))
                       .str())
      .substr(0, maxTitleBytes);
}

/// Of what makes it one job; the number of processes is compared by itself.
static Digest digestOf(const JobDescription &job) {
  std::string text =
      (job.isKnownByRun ? "" : job.name) + std::string(1, '\0') + job.run;
  return SHA256::hash(
      ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
}

namespace {
/// All that a proof is about.
struct Transcript {
  const Digest &joinNonce, &hubNonce;
  unsigned process, processes;

  Digest proof(const JobDescription &job, StringRef role) const {
    std::string text = (protocolLine + role).str();
    text.push_back('\0');
    text += textOf(joinNonce);
    text += textOf(hubNonce);
    text += numberText(process) + numberText(processes);
    text += textOf(digestOf(job));
    return hmacSha256(job.token, text);
  }
};
} // namespace

static constexpr StringLiteral joinRole = "process", hubRole = "process 0";

HubHandshake::State HubHandshake::drop(Refusal why) {
  refused = why;
  return State::done;
}

HubHandshake::State HubHandshake::drop(Refusal why, std::string &reply,
                                       StringRef text) {
  reply += refuse(why, text);
  return State::done;
}

std::string HubHandshake::refuse(Refusal why, StringRef text) {
  refused = why;
  return "R" + withLength(text, maxTextBytes);
}

HubHandshake::State HubHandshake::receive(StringRef bytes, std::string &reply) {
  received += bytes.size();
  if (received > maxBytesBeforeProof)
    return drop(Refusal::garbage);
  unread += bytes;
  return hasHello ? receiveProof(reply) : receiveHello(reply);
}

HubHandshake::State HubHandshake::receiveHello(std::string &reply) {
  StringRef bytes = unread;
  size_t seen = std::min(bytes.size(), protocolLine.size());
  if (!protocolLine.starts_with(bytes.take_front(seen)))
    return drop(Refusal::garbage);
  bytes = bytes.drop_front(seen);
  if (bytes.empty())
    return State::open;
  if (bytes == "W") {
    reply +=
        (protocolLine + "N").str() + withLength(job.title(), maxTitleBytes);
    return State::done;
  }
  if (!bytes.consume_front("J"))
    return drop(Refusal::garbage);
  constexpr size_t fixed = nonceBytes + 4 + 4 + sizeof(Digest);
  StringRef head = bytes.take_front(fixed), title;
  bytes = bytes.drop_front(head.size());
  if (!takeText(bytes, title))
    return State::open;
  if (!bytes.empty()) // it has to wait for the challenge
    return drop(Refusal::garbage);
  std::copy_n(head.begin(), nonceBytes, otherNonce.begin());
  joiner = support::endian::read32le(head.data() + nonceBytes);
  count = support::endian::read32le(head.data() + nonceBytes + 4);
  reply += protocolLine;
  if (head.take_back(sizeof(Digest)) != textOf(digestOf(job)))
    return drop(Refusal::job, reply,
                formatv("the port belongs to another job, {0}; this one is {1}",
                        job.title(), printable(title))
                    .str());
  hasHello = true;
  unread.clear();
  reply += job.token.empty() ? "C-" : "CT";
  reply += textOf(nonce);
  return State::open;
}

HubHandshake::State HubHandshake::receiveProof(std::string &reply) {
  if (unread[0] != 'P' || unread.size() > 1 + sizeof(Digest))
    return drop(Refusal::garbage);
  if (unread.size() < 1 + sizeof(Digest))
    return State::open;
  Digest wanted =
      Transcript{otherNonce, nonce, joiner, count}.proof(job, joinRole);
  if (!equalInConstantTime(StringRef(unread).drop_front(), textOf(wanted)))
    return drop(Refusal::token, reply,
                "the token is another one than process 0's (COLROW_TOKEN, "
                "COLROW_TOKEN_FILE)");
  if (count != job.processes)
    return drop(Refusal::count, reply,
                formatv("process {0} is told that the job has {1} processes, "
                        "process 0 that it has {2}",
                        joiner, count, job.processes)
                    .str());
  if (joiner == 0 || joiner >= count)
    return drop(Refusal::garbage);
  return State::proved;
}

std::string HubHandshake::accept() {
  Digest proof =
      Transcript{otherNonce, nonce, joiner, count}.proof(job, hubRole);
  return "A" + textOf(proof).str();
}

std::string JoinHandshake::hello() const {
  return protocolLine.str() + "J" + textOf(nonce).str() + numberText(process) +
         numberText(job.processes) + textOf(digestOf(job)).str() +
         withLength(job.title(), maxTitleBytes);
}

JoinHandshake::State JoinHandshake::refuse(std::string why) {
  text = std::move(why);
  return State::refused;
}

size_t JoinHandshake::wanted() const {
  // Behind the last answer come the messages of the job.
  constexpr size_t answerBytes = 1 + sizeof(Digest);
  return hasChallenge ? answerBytes - std::min(unread.size(), answerBytes - 1)
                      : maxBytesBeforeProof;
}

JoinHandshake::State JoinHandshake::receive(StringRef bytes,
                                            std::string &reply) {
  unread += bytes;
  if (!hasLine) {
    StringRef line = StringRef(unread).take_front(protocolLine.size());
    if (!protocolLine.starts_with(line))
      return refuse("what listens there is no process 0 of this version; it "
                    "says \"" +
                    printable(StringRef(unread).take_front(40)) + "\"");
    if (line.size() < protocolLine.size())
      return State::open;
    unread.erase(0, line.size());
    hasLine = true;
  }
  if (unread.empty())
    return State::open;
  if (unread[0] == 'R')
    return receiveRefusal();
  if (unread[0] == 'C' && !hasChallenge)
    return receiveChallenge(reply);
  if (unread[0] == 'A' && hasChallenge)
    return receiveAnswer();
  return refuse("what listens there makes no sense");
}

JoinHandshake::State JoinHandshake::receiveRefusal() {
  StringRef bytes = StringRef(unread).drop_front(), why;
  return takeText(bytes, why) ? refuse(printable(why)) : State::open;
}

JoinHandshake::State JoinHandshake::receiveChallenge(std::string &reply) {
  if (unread.size() < 2 + nonceBytes)
    return State::open;
  bool hasToken = unread[1] == 'T';
  if (hasToken && job.token.empty())
    return refuse("process 0 wants the job's token: set COLROW_TOKEN, or "
                  "COLROW_TOKEN_FILE");
  if (!hasToken && !job.token.empty())
    return refuse("process 0 has no token, but this process has one: set "
                  "COLROW_TOKEN, or COLROW_TOKEN_FILE, for all or for none");
  std::copy_n(unread.begin() + 2, nonceBytes, otherNonce.begin());
  unread.erase(0, 2 + nonceBytes);
  hasChallenge = true;
  Digest proof = Transcript{nonce, otherNonce, process, job.processes}.proof(
      job, joinRole);
  reply += "P" + textOf(proof).str();
  return unread.empty() ? State::open
                        : refuse("what listens there makes no sense");
}

JoinHandshake::State JoinHandshake::receiveAnswer() {
  if (unread.size() < 1 + sizeof(Digest))
    return State::open;
  Digest proof =
      Transcript{nonce, otherNonce, process, job.processes}.proof(job, hubRole);
  if (equalInConstantTime(StringRef(unread).drop_front(), textOf(proof)))
    return State::joined;
  return refuse("what listens there does not know the job's token");
}

std::string whoQuestion() { return protocolLine.str() + "W"; }

std::string whoAnswer(StringRef bytes) {
  StringRef title;
  if (!bytes.consume_front(protocolLine) || !bytes.consume_front("N") ||
      !takeText(bytes, title))
    return "";
  return printable(title);
}

} // namespace colrow::runtime
