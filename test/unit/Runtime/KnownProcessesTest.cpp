// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which process of several machines is found silent, and which machine tells.

#include "KnownProcesses.h"
#include "Star.h"

using namespace colrow::runtime;

namespace {

constexpr double limit = 1, tick = 0.1;

std::string beatOf(uint64_t serial) {
  Beat beat;
  beat.serial = serial;
  return beat.text();
}

/// Process 1 knows of process 2 through process 0 alone.
struct Watching {
  StarControl &hub, &own, &far;
  KnownProcesses known{own, limit};
  uint64_t serial = 0;

  /// Process 0 passes on what it has of process 2.
  void beatOfFirst() {
    hub.beat(beatOf(++serial));
    while (Beat::read(own.stateOf(0).lastBeat).serial != serial)
      ::usleep(100);
  }
  void beatOfFar(uint64_t number) {
    far.beat(beatOf(number));
    while (Beat::read(hub.stateOf(2).lastBeat).serial != number)
      ::usleep(100);
  }
  std::string look() {
    known.look(tick);
    return known.findFailure().value_or("");
  }
};

/// `body` with a star of three processes.
template <typename Body> void watch(Body body) {
  StarControl *stars[3] = {};
  runStar(3, 10, [&](StarControl &star) {
    stars[star.process()] = &star;
    meet(3);
    if (star.process() == 1)
      body(Watching{*stars[0], *stars[1], *stars[2]});
    meet(3);
    EXPECT_EQ(textOf(star.leave()), "");
  });
}

TEST(KnownProcesses, TheFirstIsNamedAndNotWhoIsHeardThroughIt) {
  watch([](Watching all) {
    all.beatOfFar(1);
    all.beatOfFirst();
    EXPECT_EQ(all.look(), "");
    all.beatOfFirst(); // the last word of the other one is older
    EXPECT_EQ(all.look(), "");
    std::string failure;
    for (int looks = 0; looks < 20 && failure.empty(); ++looks)
      failure = all.look();
    EXPECT_EQ(failure, "process 0: does not answer for 1 s");
  });
}

TEST(KnownProcesses, ASilenceOfTheFirstIsNotTheOthers) {
  watch([](Watching all) {
    all.beatOfFar(1);
    all.beatOfFirst();
    for (int looks = 0; looks < 10; ++looks)
      EXPECT_EQ(all.look(), "");
    // It goes on, with what it knew.
    for (int looks = 0; looks < 3; ++looks) {
      all.beatOfFirst();
      EXPECT_EQ(all.look(), "");
    }
    all.beatOfFar(2);
    std::string failure;
    for (int looks = 0; looks < 20 && failure.empty(); ++looks) {
      all.beatOfFirst();
      failure = all.look();
    }
    EXPECT_EQ(failure, "process 2: does not answer for 1 s");
  });
}

TEST(KnownProcesses, MachinesTellOneAfterTheOther) {
  Placement shared{{0, 0, 1, 1, 2}, {"a", "b", "c"}, {}};
  Placement alone{{0, 1, 1, 2}, {"a", "b", "c"}, {}};
  auto times = [](const Placement &placement) {
    std::vector<double> seconds(placement.machines.size());
    for (unsigned process = 0; process < seconds.size(); ++process)
      seconds[process] = graceSeconds(placement, process);
    return seconds;
  };
  EXPECT_EQ(times(shared), (std::vector<double>{0, 0, 4, 4, 4.5}));
  EXPECT_EQ(times(alone), (std::vector<double>{0, 0, 0, 4}));
  // Before it is known who runs where.
  EXPECT_EQ(graceSeconds(1), 0);
  EXPECT_EQ(graceSeconds(2), 3);
}

} // namespace
