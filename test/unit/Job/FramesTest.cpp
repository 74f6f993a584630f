// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames on stream sockets.

#include "colrow/runtime/Job/Frames.h"
#include "SocketPair.h"
#include "gtest/gtest.h"
#include <csignal>
#include <random>
#include <sys/socket.h>
#include <thread>

using namespace colrow::runtime;
using namespace llvm;

namespace {

TEST(Frames, WholeAndInPieces) {
  SocketPair pair;
  std::string large(maxFrameBytes, 'x');
  std::thread sender([&] {
    for (StringRef text : {StringRef("a"), StringRef(large), StringRef("end")})
      EXPECT_EQ(textOf(sendFrame(pair.a.get(), text, Deadline::in(5))), "");
    // A byte at a time.
    for (char c : frameOf("slow"))
      EXPECT_EQ(
          textOf(sendAll(pair.a.get(), StringRef(&c, 1), Deadline::in(5))), "");
  });
  for (StringRef text : {StringRef("a"), StringRef(large), StringRef("end"),
                         StringRef("slow")}) {
    auto got = receiveFrame(pair.b.get(), Deadline::in(5));
    EXPECT_EQ(textOf(got), "");
    EXPECT_TRUE(got && *got == text);
  }
  sender.join();
}

TEST(Frames, SizesThatNoFrameHas) {
  SocketPair pair;
  std::string large(maxFrameBytes + 1, 'x');
  for (StringRef text : {StringRef(""), StringRef(large)})
    EXPECT_NE(textOf(sendFrame(pair.a.get(), text, Deadline::in(5)))
                  .find("wanted 1 to 65536"),
              std::string::npos);
  for (uint32_t length : {0u, 65537u, 0xffffffffu}) {
    std::string head(4, '\0');
    memcpy(head.data(), &length, 4);
    FrameReader reader;
    reader.add(head);
    EXPECT_NE(textOf(reader.next()), "") << length;
    EXPECT_EQ(textOf(sendAll(pair.a.get(), head, Deadline::in(5))), "");
    auto got = receiveFrame(pair.b.get(), Deadline::in(5));
    EXPECT_EQ(textOf(got), "a message of " + std::to_string(length) +
                               " bytes, wanted 1 to 65536");
  }
}

TEST(Frames, EndsAndWaitsAreErrors) {
  SocketPair pair;
  auto late = receiveFrame(pair.b.get(), Deadline::in(0.02));
  EXPECT_EQ(textOf(late), "the other side does not answer in time");
  // Half a frame, then the end.
  EXPECT_EQ(textOf(sendAll(pair.a.get(), frameOf("half").substr(0, 6),
                           Deadline::in(5))),
            "");
  pair.a.reset();
  auto ended = receiveFrame(pair.b.get(), Deadline::in(5));
  EXPECT_EQ(textOf(ended), "the other side closed the connection");
  // SIGPIPE would end the test.
  ::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(textOf(sendFrame(pair.b.get(), "x", Deadline::in(5))),
            "the other side closed the connection");
}

TEST(Frames, SenderDoesNotWaitForEver) {
  SocketPair pair; // nobody reads
  std::string large(maxFrameBytes, 'x');
  std::string text;
  for (int i = 0; i < 1000 && text.empty(); ++i)
    text = textOf(sendFrame(pair.a.get(), large, Deadline::in(0.02)));
  EXPECT_EQ(text, "the other side does not answer in time");
}

/// Any bytes, cut anywhere, give the same frames, and no more than there were.
TEST(Frames, ReaderOfAnyBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    std::vector<std::string> sent;
    for (unsigned i = random() % 5; i > 0; --i) {
      sent.emplace_back(1 + random() % 300, char('a' + i));
      bytes += frameOf(sent.back());
    }
    bool isBad = round % 2;
    if (isBad)
      bytes += std::string("\xff\xff\xff", 3) + char(random());
    FrameReader reader;
    std::vector<std::string> got;
    bool hasFailed = false;
    for (StringRef rest = bytes; !rest.empty() && !hasFailed;) {
      size_t size = std::min<size_t>(rest.size(), 1 + random() % 100);
      reader.add(rest.take_front(size));
      rest = rest.drop_front(size);
      for (;;) {
        auto frame = reader.next();
        if (!frame) {
          consumeError(frame.takeError());
          hasFailed = true;
          break;
        }
        if (!*frame)
          break;
        got.push_back(**frame);
      }
    }
    EXPECT_EQ(got, sent);
    EXPECT_EQ(hasFailed, isBad);
  }
}

} // namespace
