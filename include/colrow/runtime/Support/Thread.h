// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread whose start can fail: std::thread throws, which ends the program.

#ifndef COLROW_RUNTIME_SUPPORT_THREAD_H
#define COLROW_RUNTIME_SUPPORT_THREAD_H

#include "colrow/runtime/Support/Errors.h"
#include <cstring>
#include <functional>
#include <pthread.h>

namespace colrow::runtime {

/// To be joined before it is destroyed, if it has started.
class Thread {
public:
  Thread() = default;
  Thread(const Thread &) = delete;
  Thread &operator=(const Thread &) = delete;

  /// Once. Error: no memory, or too many threads.
  llvm::Error start(std::function<void()> work) {
    body = std::move(work);
    int code = ::pthread_create(&handle, nullptr, enter, this);
    if (code != 0)
      return failure("cannot start a thread: {0}", std::strerror(code));
    isJoinable = true;
    return llvm::Error::success();
  }
  bool joinable() const { return isJoinable; }
  void join() {
    ::pthread_join(handle, nullptr);
    isJoinable = false;
  }

private:
  static void *enter(void *self) {
    static_cast<Thread *>(self)->body();
    return nullptr;
  }

  std::function<void()> body;
  pthread_t handle{};
  bool isJoinable = false;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_SUPPORT_THREAD_H
