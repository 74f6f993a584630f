// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gathering in a star: all send to process 0, which sends everything to all.

#include "FirstNames.h"
#include "StarImpl.h"
#include "colrow/runtime/Support/Errors.h"
#include "colrow/runtime/Support/Json.h"

using namespace llvm;

namespace colrow::runtime {

bool StarControl::Impl::isComplete() const {
  return all_of(parts, [](const auto &part) { return part.has_value(); });
}

std::string StarControl::Impl::nameOf(unsigned other) const {
  if (!hasSeveralHosts)
    return formatv("process {0}", other);
  return formatv("process {0} (host {1})", other, hosts[other]);
}

std::string StarControl::Impl::lateText(ArrayRef<unsigned> late,
                                        double seconds) const {
  std::vector<std::string> names;
  for (unsigned other : late)
    names.push_back(nameOf(other));
  return firstNames(names) + (late.size() == 1 ? " does" : " do") +
         " not answer for " + textOfNumber(seconds) + " s";
}

void StarControl::Impl::breakDown(const Twine &text) {
  if (!broken)
    broken = text.str();
  changed.notify_all();
}

void StarControl::Impl::breakDownEverywhere(const Twine &text) {
  breakDown(StringRef(text.str()).take_front(maxTextBytes));
  if (isHub())
    postToOthers(0, MessageWriter(MessageKind::failed).rest(*broken));
}

/// Processes that are waiting learn for whom, so that they name the right one.
void StarControl::Impl::tellWaiting(Deadline deadline) {
  MessageWriter message(MessageKind::waiting);
  message.number(sequence).number(uint32_t(deadline.millisecondsLeft()));
  for (unsigned other = 0; other < processes; ++other)
    if (!parts[other])
      message.number(other);
  for (unsigned other = 1; other < processes; ++other)
    if (parts[other])
      post(other, message);
}

/// Process 0: waits until all parts are there. False: broken.
bool StarControl::Impl::collect(Lock &lock, Deadline deadline, double seconds) {
  bool hasTold = false;
  Deadline tell = deadline.orIn(seconds / 4);
  while (!broken && !isComplete()) {
    if (deadline.hasPassed()) {
      std::vector<unsigned> late;
      for (unsigned other = 0; other < processes; ++other)
        if (!parts[other])
          late.push_back(other);
      breakDownEverywhere(lateText(late, seconds));
    } else if (!hasTold && tell.hasPassed()) {
      tellWaiting(deadline);
      hasTold = true;
    } else
      changed.wait_until(lock, hasTold ? deadline.time() : tell.time());
  }
  return !broken;
}

/// Elsewhere: waits for process 0's answer. False: broken.
bool StarControl::Impl::await(Lock &lock, double seconds) {
  // Process 0 came later than this process, maybe, and knows better who is
  // late: it may speak first.
  double grace = std::clamp(seconds / 4, 0.2, 2.0);
  Deadline deadline = Deadline::in(seconds + grace);
  for (;;) {
    if (isComplete())
      return true;
    if (broken)
      return false;
    if (hubDeadline)
      deadline = Deadline::in(
          std::exchange(hubDeadline, std::nullopt)->secondsLeft() + grace);
    if (deadline.hasPassed())
      breakDown(lateText(awaited.empty() ? std::vector<unsigned>{0} : awaited,
                         seconds));
    else
      changed.wait_until(lock, deadline.time());
  }
}

/// Everything to everybody, in as few frames as it fits.
void StarControl::Impl::sendAllParts() {
  auto begin = [&] { return MessageWriter(MessageKind::all).number(sequence); };
  MessageWriter message = begin();
  for (unsigned from = 0; from < processes; ++from) {
    if (message.size() + 8 + parts[from]->size() > maxFrameBytes) {
      postToOthers(0, message);
      message = begin();
    }
    message.number(from).text(*parts[from]);
  }
  postToOthers(0, message);
}

Expected<std::vector<std::string>>
StarControl::Impl::gather(char purpose, StringRef mine, double seconds) {
  if (mine.size() > maxBytes)
    return failure("cannot tell the other processes {0} bytes, at most {1}",
                   mine.size(), size_t(maxBytes));
  if (!(seconds > 0))
    seconds = limit;
  std::string part = std::string(1, purpose) + mine.str();
  Lock lock(mutex);
  if (broken)
    return failure("{0}", *broken);
  if (isHub())
    parts[0] = std::move(part);
  else
    post(0, MessageWriter(MessageKind::part).number(sequence).rest(part));
  if (isHub() ? !collect(lock, Deadline::in(seconds), seconds)
              : !await(lock, seconds))
    return failure("{0}", *broken);
  std::vector<std::string> all;
  for (unsigned from = 0; from < processes; ++from) {
    if (parts[from]->front() != purpose) {
      breakDownEverywhere(nameOf(from) +
                          " takes part in another exchange than process " +
                          Twine(process));
      return failure("{0}", *broken);
    }
    all.push_back(parts[from]->substr(1));
  }
  if (isHub()) {
    isLeaving |= purpose == leavePurpose;
    sendAllParts();
  }
  parts.assign(processes, std::nullopt);
  awaited.clear();
  hubDeadline = std::nullopt;
  ++sequence;
  return all;
}

} // namespace colrow::runtime
