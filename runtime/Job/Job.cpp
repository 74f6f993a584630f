// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Agreement: the first byte of what a process gives tells an error's text from
// an answer.

#include "colrow/runtime/Job/Job.h"
#include "colrow/runtime/Support/Errors.h"

using namespace llvm;

namespace colrow::runtime {

static constexpr char answer = '+', fault = '-';

Job::Job() : Job(std::make_unique<SingleProcess>()) {}
Job::Job(std::unique_ptr<Control> control) : control(std::move(control)) {}
Job::~Job() = default;

RankRange Job::ranksOf(unsigned process, unsigned ranks) const {
  unsigned share = ranks / processes();
  return {process * share, share};
}

Expected<std::vector<std::string>> Job::exchange(std::string told,
                                                 double seconds) {
  auto all = control->gather(told, seconds);
  if (!all) {
    ended = true;
    return all.takeError();
  }
  for (unsigned process = 0; process < all->size(); ++process) {
    StringRef text = (*all)[process];
    if (!text.consume_front(StringRef(&fault, 1)))
      continue;
    ended = true;
    if (processes() == 1 || process == 0)
      return failure("{0}", text);
    return failure("process {0} of {1}: {2}", process, processes(), text);
  }
  for (std::string &text : *all)
    if (!text.empty())
      text.erase(0, 1);
  return all;
}

Expected<std::vector<std::string>> Job::gather(StringRef mine, double seconds) {
  return exchange(answer + mine.str(), seconds);
}

Expected<std::string> Job::fromFirst(StringRef mine) {
  auto all = gather(isFirst() ? mine : "");
  if (!all)
    return all.takeError();
  return std::move(all->front());
}

Error Job::agree(Error mine) {
  // All have an error already, and say no more to each other.
  if (mine && ended)
    return mine;
  std::string told = mine ? fault + toString(std::move(mine)) : "+";
  if (told.size() > Control::maxBytes)
    told.resize(Control::maxBytes);
  return exchange(std::move(told)).takeError();
}

Error Job::settle(Error mine) {
  Error error = agree(std::move(mine));
  ended = false;
  return error;
}

bool Job::hasFailed() const { return control->hasFailed(); }

} // namespace colrow::runtime
