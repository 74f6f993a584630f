// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A star whose processes are threads.

#ifndef COLROW_TEST_UNIT_JOB_STAR_H
#define COLROW_TEST_UNIT_JOB_STAR_H

#include "SocketPair.h"
#include "colrow/runtime/Job/StarControl.h"
#include "gtest/gtest.h"
#include <condition_variable>
#include <mutex>
#include <thread>

/// Waits until `count` threads are here.
inline void meet(unsigned count) {
  static std::mutex mutex;
  static std::condition_variable changed;
  static unsigned here = 0, round = 0;
  std::unique_lock<std::mutex> lock(mutex);
  unsigned mine = round;
  if (++here == count) {
    here = 0;
    ++round;
    changed.notify_all();
  }
  changed.wait_for(lock, std::chrono::seconds(10),
                   [&] { return round != mine; });
}

/// Runs `body` with each process' own end.
template <typename Body>
void runStar(unsigned processes, double limit, Body body) {
  using namespace colrow::runtime;
  std::vector<std::vector<FileDescriptor>> sockets(processes);
  for (unsigned process = 1; process < processes; ++process) {
    SocketPair pair;
    sockets[0].push_back(std::move(pair.a));
    sockets[process].push_back(std::move(pair.b));
  }
  std::vector<std::thread> threads;
  for (unsigned process = 0; process < processes; ++process)
    threads.emplace_back([&, process] {
      auto star = StarControl::create(process, processes,
                                      std::move(sockets[process]), limit);
      ASSERT_EQ(textOf(star), "");
      body(**star);
    });
  for (std::thread &thread : threads)
    thread.join();
}

#endif // COLROW_TEST_UNIT_JOB_STAR_H
