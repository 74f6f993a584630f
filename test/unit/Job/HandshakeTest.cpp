// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handshake without sockets, the token, and who may forge what.

#include "colrow/runtime/Job/Handshake.h"
#include "SocketPair.h"
#include "colrow/runtime/Job/HostIdentity.h"
#include "colrow/runtime/Job/Token.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <fstream>
#include <random>
#include <sys/stat.h>

using namespace colrow::runtime;
using namespace llvm;

namespace {

using Hub = HubHandshake;
using Join = JoinHandshake;

JobDescription jobOf(std::string token, unsigned processes = 4) {
  return {"step.plan", "", processes, std::move(token)};
}

Digest nonceOf(char c) {
  Digest nonce;
  nonce.fill(uint8_t(c));
  return nonce;
}

/// What each side ends with, and all that went over the wire.
struct Meeting {
  Hub::State hub = Hub::State::open;
  Join::State join = Join::State::open;
  std::string toHub, toJoin, error;
  Refusal refusal = Refusal::none;
  unsigned process = 0;
};

Meeting meetingOf(const JobDescription &hubJob, const JobDescription &joinJob,
                  unsigned process, size_t piece = 1000) {
  Meeting meeting;
  Hub hub(hubJob, nonceOf('h'));
  Join join(joinJob, process, nonceOf('j'));
  std::string forHub = join.hello(), forJoin;
  while (!forHub.empty() || !forJoin.empty()) {
    meeting.toHub += forHub;
    std::string reply;
    for (StringRef rest = forHub; !rest.empty();) {
      meeting.hub = hub.receive(rest.take_front(piece), reply);
      rest = rest.drop_front(std::min(piece, rest.size()));
    }
    if (meeting.hub == Hub::State::proved)
      reply += hub.accept();
    forHub.clear();
    forJoin = reply;
    meeting.toJoin += forJoin;
    for (StringRef rest = forJoin;
         !rest.empty() && meeting.join == Join::State::open;) {
      size_t size = std::min({piece, join.wanted(), rest.size()});
      meeting.join = join.receive(rest.take_front(size), forHub);
      rest = rest.drop_front(size);
    }
    forJoin.clear();
  }
  meeting.error = join.error();
  meeting.refusal = hub.refusal();
  meeting.process = hub.process();
  return meeting;
}

TEST(Handshake, HmacOfRfc4231) {
  auto hex = [](const Digest &digest) {
    return toHex(ArrayRef<uint8_t>(digest), /*LowerCase=*/true);
  };
  EXPECT_EQ(hex(hmacSha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b"
            "881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c7"
            "5a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      hex(hmacSha256(std::string(131, '\xaa'),
                     "Test Using Larger Than Block-Size Key - Hash Key First")),
      "60e431591ee0b67f0d8a26aacbf5b77f"
      "8e0bc6213728c5140546040f0ee37f54");
}

TEST(Handshake, ConstantTimeCompare) {
  EXPECT_TRUE(equalInConstantTime("", ""));
  EXPECT_TRUE(equalInConstantTime("abc", "abc"));
  EXPECT_FALSE(equalInConstantTime("abc", "abd"));
  EXPECT_FALSE(equalInConstantTime("xbc", "abc"));
  EXPECT_FALSE(equalInConstantTime("abc", "abcd"));
}

TEST(Handshake, NoncesDiffer) { EXPECT_NE(randomNonce(), randomNonce()); }

TEST(Handshake, BothProveThemselves) {
  for (std::string token : {"", "secret"})
    for (size_t piece : {1, 7, 1000}) {
      Meeting meeting = meetingOf(jobOf(token), jobOf(token), 3, piece);
      EXPECT_EQ(meeting.hub, Hub::State::proved);
      EXPECT_EQ(meeting.join, Join::State::joined);
      EXPECT_EQ(meeting.process, 3u);
      EXPECT_LE(meeting.toHub.size(), maxBytesBeforeProof);
      EXPECT_FALSE(
          StringRef(meeting.toHub + meeting.toJoin).contains("secret"));
    }
}

TEST(Handshake, LongNamesFit) {
  JobDescription job = jobOf("t");
  job.name = std::string(4000, 'n') + "\x1b[31m";
  job.run = std::string(4000, 'r');
  EXPECT_LE(job.title().size(), 100u);
  EXPECT_FALSE(StringRef(job.title()).contains('\x1b'));
  Meeting meeting = meetingOf(job, job, 3);
  EXPECT_EQ(meeting.join, Join::State::joined);
  EXPECT_LE(meeting.toHub.size(), maxBytesBeforeProof);
}

TEST(Handshake, TokensThatDiffer) {
  Meeting wrong = meetingOf(jobOf("secret"), jobOf("Secret"), 1);
  EXPECT_EQ(wrong.refusal, Refusal::token);
  EXPECT_EQ(wrong.error, "the token is another one than process 0's "
                         "(COLROW_TOKEN, COLROW_TOKEN_FILE)");
  EXPECT_EQ(meetingOf(jobOf("secret"), jobOf(""), 1).error,
            "process 0 wants the job's token: set COLROW_TOKEN, or "
            "COLROW_TOKEN_FILE");
  Meeting without = meetingOf(jobOf(""), jobOf("secret"), 1);
  EXPECT_EQ(without.error,
            "process 0 has no token, but this process has one: set "
            "COLROW_TOKEN, or COLROW_TOKEN_FILE, for all or for none");
  EXPECT_FALSE(StringRef(without.toHub).contains("P")); // proves nothing
}

TEST(Handshake, OtherJobsAreBothNamed) {
  JobDescription other = jobOf("");
  other.name = "other.plan";
  Meeting meeting = meetingOf(jobOf(""), other, 1);
  EXPECT_EQ(meeting.refusal, Refusal::job);
  EXPECT_TRUE(
      StringRef(meeting.error).contains("another job, step.plan (pid "));
  EXPECT_TRUE(
      StringRef(meeting.error).contains("this one is other.plan (pid "));
  other = jobOf("");
  other.run = "second";
  EXPECT_TRUE(StringRef(meetingOf(jobOf(""), other, 1).error)
                  .contains(", run second)"));
}

TEST(Handshake, CountsThatDiffer) {
  Meeting meeting = meetingOf(jobOf("t", 2), jobOf("t", 3), 1);
  EXPECT_EQ(meeting.refusal, Refusal::count);
  EXPECT_EQ(meeting.error, "process 1 is told that the job has 3 processes, "
                           "process 0 that it has 2");
  for (unsigned process : {0u, 4u, 0xffffffffu})
    EXPECT_EQ(meetingOf(jobOf("t"), jobOf("t"), process).refusal,
              Refusal::garbage);
}

/// One that does not know the token has what it has heard of others.
TEST(Handshake, ProofsAreOfOneMeetingAndRole) {
  JobDescription job = jobOf("secret");
  Meeting heard = meetingOf(job, job, 1);
  std::string proof = heard.toHub.substr(heard.toHub.size() - 33);
  std::string welcome = heard.toJoin.substr(heard.toJoin.size() - 33);
  std::string hello = heard.toHub.substr(0, heard.toHub.size() - 33);
  auto stateAfter = [&](char nonce, StringRef first, std::string second) {
    Hub hub(job, nonceOf(nonce));
    std::string reply;
    EXPECT_EQ(hub.receive(first, reply), Hub::State::open);
    return hub.receive(second, reply);
  };
  // The same nonce lets what was heard in: so it is the nonce that keeps it
  // out.
  EXPECT_EQ(stateAfter('h', hello, proof), Hub::State::proved);
  EXPECT_EQ(stateAfter('i', hello, proof), Hub::State::done);
  // As another process, or of another count.
  for (size_t at : {protocolLine.size() + 33, protocolLine.size() + 37}) {
    std::string changed = hello;
    changed[at] = 2;
    EXPECT_EQ(stateAfter('h', changed, proof), Hub::State::done);
  }
  // Process 0's own proof, sent back to it.
  EXPECT_EQ(stateAfter('h', hello, "P" + welcome.substr(1)), Hub::State::done);
  // And a process' proof, sent back to it in place of process 0's.
  std::string reply;
  Join join(job, 1, nonceOf('j'));
  EXPECT_EQ(
      join.receive(heard.toJoin.substr(0, heard.toJoin.size() - 33), reply),
      Join::State::open);
  EXPECT_EQ(reply, proof);
  EXPECT_EQ(join.receive("A" + proof.substr(1), reply), Join::State::refused);
  EXPECT_EQ(join.error(), "what listens there does not know the job's token");
  // Nor is what process 0 once said of use with another process' nonce.
  Join again(job, 1, nonceOf('k'));
  std::string challenge = heard.toJoin.substr(0, heard.toJoin.size() - 33);
  EXPECT_EQ(again.receive(challenge, reply), Join::State::open);
  EXPECT_EQ(again.receive(welcome, reply), Join::State::refused);
  Join same(job, 1, nonceOf('j'));
  EXPECT_EQ(same.receive(challenge, reply), Join::State::open);
  EXPECT_EQ(same.receive(welcome, reply), Join::State::joined);
}

/// A challenge must come after a hello: nothing is heard ahead of time.
TEST(Handshake, HelloAndProofAtOnce) {
  JobDescription job = jobOf("");
  Meeting heard = meetingOf(job, job, 1);
  Hub hub(job, nonceOf('h'));
  std::string reply;
  EXPECT_EQ(hub.receive(heard.toHub, reply), Hub::State::done);
  EXPECT_EQ(hub.refusal(), Refusal::garbage);
}

TEST(Handshake, AnybodyMayAskWho) {
  JobDescription job = jobOf("secret");
  Hub hub(job, nonceOf('h'));
  std::string reply;
  EXPECT_EQ(hub.receive(whoQuestion(), reply), Hub::State::done);
  EXPECT_EQ(hub.refusal(), Refusal::none);
  EXPECT_EQ(whoAnswer(reply), job.title());
  for (size_t i = 0; i < reply.size(); ++i)
    EXPECT_EQ(whoAnswer(StringRef(reply).take_front(i)), "");
}

/// Where the run is known to be the same, another name says nothing.
TEST(Handshake, NamesDoNotCountInAKnownRun) {
  JobDescription a = jobOf(""), b = jobOf("");
  a.run = b.run = "7";
  b.name = "other.plan";
  EXPECT_EQ(meetingOf(a, b, 1).refusal, Refusal::job);
  a.isKnownByRun = b.isKnownByRun = true;
  EXPECT_EQ(meetingOf(a, b, 1).join, Join::State::joined);
  b.run = "8";
  EXPECT_EQ(meetingOf(a, b, 1).refusal, Refusal::job);
}

TEST(Handshake, OtherProtocols) {
  JobDescription job = jobOf("");
  for (StringRef line : {"GET / HTTP/1.1\r\n", "\x16\x03\x01",
                         "colrow-control 2\n", "colrow-control 1\nX"}) {
    Hub hub(job, nonceOf('h'));
    std::string reply;
    EXPECT_EQ(hub.receive(line, reply), Hub::State::done) << line.str();
    EXPECT_EQ(hub.refusal(), Refusal::garbage);
    EXPECT_EQ(reply, "");
  }
  Join join(job, 1, nonceOf('j'));
  std::string reply;
  EXPECT_EQ(join.receive("SSH-2.0-\x1b[2J\r\n", reply), Join::State::refused);
  EXPECT_EQ(join.error(), "what listens there is no process 0 of this version; "
                          "it says \"SSH-2.0-?[2J??\"");
}

/// Changed anywhere, cut anywhere, or followed by anything: nobody gets in, and
/// nothing is read after 256 bytes.
TEST(Handshake, AnyBytes) {
  JobDescription job = jobOf("secret");
  std::string good = meetingOf(job, job, 1).toHub;
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    Hub hub(job, nonceOf('x')); // not the nonce that was answered
    std::string bytes = good, reply;
    for (unsigned i = random() % 4; i > 0; --i)
      bytes[random() % bytes.size()] = char(random());
    bytes.resize(random() % 400, char(random()));
    auto state = Hub::State::open;
    for (StringRef rest = bytes; !rest.empty() && state == Hub::State::open;) {
      size_t size = std::min<size_t>(rest.size(), 1 + random() % 200);
      state = hub.receive(rest.take_front(size), reply);
      rest = rest.drop_front(size);
    }
    EXPECT_NE(state, Hub::State::proved);
    if (bytes.size() > maxBytesBeforeProof)
      EXPECT_EQ(state, Hub::State::done);
    EXPECT_LE(reply.size(), 512u);
    Join join(job, 1, nonceOf('j'));
    EXPECT_NE(join.receive(reply + bytes, reply), Join::State::joined);
  }
}

struct TokenFile {
  std::string path =
      testing::TempDir() + "colrow-token-" + std::to_string(::getpid());
  TokenFile(StringRef text, mode_t mode) {
    std::ofstream(path) << text.str();
    ::chmod(path.c_str(), mode);
  }
  ~TokenFile() { ::unlink(path.c_str()); }
  Expected<std::string> read() const {
    return readToken([&](StringRef name) -> std::optional<std::string> {
      if (name == "COLROW_TOKEN_FILE")
        return path;
      return std::nullopt;
    });
  }
};

TEST(Token, Environment) {
  auto read = [](std::optional<std::string> value) {
    return readToken([&](StringRef name) {
      return name == "COLROW_TOKEN" ? value : std::nullopt;
    });
  };
  EXPECT_EQ(cantFail(read(std::nullopt)), "");
  EXPECT_EQ(cantFail(read(" abc\n")), "abc");
  EXPECT_EQ(textOf(read("")), "COLROW_TOKEN is set, but empty");
  EXPECT_EQ(
      textOf(readToken([](StringRef name) { return "x"; })),
      "COLROW_TOKEN and COLROW_TOKEN_FILE are both set: unset one of them");
}

TEST(Token, File) {
  EXPECT_EQ(cantFail(TokenFile("abc\n", 0600).read()), "abc");
  EXPECT_EQ(cantFail(TokenFile("abc", 0400).read()), "abc");
  for (mode_t mode : {0640, 0604, 0660, 0622})
    EXPECT_TRUE(StringRef(textOf(TokenFile("abc", mode).read()))
                    .contains("nobody else may read or write"));
  EXPECT_TRUE(
      StringRef(textOf(TokenFile(" \n", 0600).read())).ends_with(": is empty"));
  EXPECT_TRUE(StringRef(textOf(TokenFile(std::string(5000, 'x'), 0600).read()))
                  .ends_with(": is longer than 4096 bytes"));
  TokenFile others("abc", 0600);
  if (::chown(others.path.c_str(), ::geteuid() + 1, gid_t(-1)) == 0)
    EXPECT_TRUE(
        StringRef(textOf(others.read())).contains("a file of this user's"));
  EXPECT_NE(textOf(readToken([](StringRef name) -> std::optional<std::string> {
              if (name == "COLROW_TOKEN_FILE")
                return "/no/such/file";
              return std::nullopt;
            })),
            "");
}

TEST(Machine, IsOneForThreadsOfOneKernel) {
  std::string id = machineId();
  EXPECT_EQ(id, machineId());
  EXPECT_TRUE(isKnownMachine(id));
  EXPECT_GT(id.size(), 36u);
  EXPECT_LE(id.size(), 200u);
  EXPECT_TRUE(StringRef(id).ends_with(" user " + std::to_string(::geteuid())));
  EXPECT_NE(hostName(), "");
}

} // namespace
