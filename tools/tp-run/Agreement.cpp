// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a run ends for all of its processes, and what a step left.

#include "Agreement.h"
#include "colrow/runtime/Job/ToldByFirst.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace colrow::runtime;

namespace colrow::tprun {

/// How long a process that was told to stop waits for the others to agree.
static constexpr double stopSeconds = 1;

Error finish(Job &job, Error error) {
  // Also without one: those that have none must not leave the others' unsaid.
  error = job.agree(std::move(error));
  if (!error || job.isFirst())
    return error;
  consumeError(std::move(error));
  return make_error<ToldByFirst>();
}

/// A value as an error shows it.
static StringRef shown(StringRef value) {
  return value.empty() ? "none" : value.take_front(300);
}

/// Of all values and where they end.
static std::array<uint8_t, 32> digest(ArrayRef<Common> values) {
  SHA256 hasher;
  for (const Common &common : values) {
    hasher.update(std::to_string(common.value.size()) + ":");
    hasher.update(common.value);
  }
  return hasher.final();
}

Error compare(Job &job, ArrayRef<Common> mine) {
  // One exchange if nothing differs.
  std::array<uint8_t, 32> own = digest(mine);
  auto digests = job.gather(toStringRef(own));
  if (!digests)
    return digests.takeError();
  if (all_equal(*digests))
    return Error::success();
  for (const Common &common : mine) {
    auto all = job.gather(StringRef(common.value).take_front(Job::maxBytes));
    if (!all)
      return all.takeError();
    for (unsigned process = 1; process < all->size(); ++process)
      if ((*all)[process] != all->front())
        return failure("the processes do not run the same: {0} of process 0 "
                       "is {1}, of process {2} {3}",
                       common.title, shown(all->front()), process,
                       shown((*all)[process]));
  }
  return failure("the processes do not run the same: they differ in what is "
                 "longer than an exchange carries");
}

namespace {
/// What a process tells of a step, in its machine's own form.
struct StepMessage {
  float loss, gradNorm;
  double labels;
  bool hasLoss, hasNorm, hasLabels, isInterrupted;
};
} // namespace

static Error differing(StringRef what, unsigned first, double a,
                       unsigned second, double b) {
  return failure("{0} is {1} on process {2} and {3} on process {4}: ranks have "
                 "lost step with each other, nothing is saved",
                 what, a, first, b, second);
}

static uint32_t bitsOf(float value) { return bit_cast<uint32_t>(value); }
static uint64_t bitsOf(double value) { return bit_cast<uint64_t>(value); }

/// The value of the first process that has one.
template <typename T>
static Error agreeOn(StringRef what, ArrayRef<StepMessage> all,
                     T StepMessage::*value, bool StepMessage::*has,
                     std::optional<T> &out) {
  std::optional<unsigned> first;
  for (unsigned process = 0; process < all.size(); ++process) {
    if (!(all[process].*has))
      continue;
    T found = all[process].*value;
    if (!first) {
      first = process;
      out = found;
    } else if (bitsOf(found) != bitsOf(*out)) {
      return differing(what, *first, *out, process, found);
    }
  }
  return Error::success();
}

Expected<AgreedStep> agreeOnStep(Job &job, const StepResult &mine,
                                 bool isInterrupted) {
  StepMessage message = {};
  message.loss = mine.loss.value_or(0);
  message.gradNorm = mine.gradNorm.value_or(0);
  message.labels = mine.labels.value_or(0);
  message.hasLoss = mine.loss.has_value();
  message.hasNorm = mine.gradNorm.has_value();
  message.hasLabels = mine.labels.has_value();
  message.isInterrupted = isInterrupted;
  auto told = job.gather({reinterpret_cast<char *>(&message), sizeof(message)},
                         isInterrupted ? stopSeconds : 0);
  if (!told)
    return told.takeError();
  std::vector<StepMessage> all(told->size());
  AgreedStep result;
  for (size_t process = 0; process < all.size(); ++process) {
    if ((*told)[process].size() != sizeof(StepMessage))
      return failure("process {0} does not tell what its step left", process);
    std::memcpy(&all[process], (*told)[process].data(), sizeof(StepMessage));
    result.isInterrupted |= all[process].isInterrupted;
  }
  std::optional<float> loss, norm;
  if (Error error = agreeOn("the loss", all, &StepMessage::loss,
                            &StepMessage::hasLoss, loss))
    return std::move(error);
  if (Error error = agreeOn("the gradient norm", all, &StepMessage::gradNorm,
                            &StepMessage::hasNorm, norm))
    return std::move(error);
  if (Error error = agreeOn("the number of labels", all, &StepMessage::labels,
                            &StepMessage::hasLabels, result.labels))
    return std::move(error);
  result.loss = loss.value_or(0);
  result.gradNorm = norm.value_or(0);
  return result;
}

} // namespace colrow::tprun
