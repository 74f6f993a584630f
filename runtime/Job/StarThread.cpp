// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread of a star that receives: it puts what comes where the others wait
// for it, answers what they need not know, and sends on what did not go at
// once.

#include "StarImpl.h"
#include "colrow/runtime/Support/Errors.h"
#include <poll.h>
#include <sys/eventfd.h>

using namespace llvm;

namespace colrow::runtime {

static void clear(const FileDescriptor &eventFd) {
  eventfd_t count;
  (void)::eventfd_read(eventFd.get(), &count);
}

void StarControl::Impl::run() {
  while (pollOnce())
    ;
}

/// False when the star ends.
bool StarControl::Impl::pollOnce() {
  std::vector<pollfd> entries = {{wake.get(), POLLIN, 0}};
  std::vector<unsigned> others = {0};
  for (unsigned other = 0; other < links.size(); ++other) {
    if (!links[other] || links[other]->hasEnded())
      continue;
    short events = links[other]->hasUnsent() ? POLLIN | POLLOUT : POLLIN;
    entries.push_back({links[other]->descriptor(), events, 0});
    others.push_back(other);
  }
  if (::poll(entries.data(), entries.size(), /*timeout=*/-1) < 0)
    return true; // EINTR: all signals are blocked here but those of a debugger
  if (entries[0].revents)
    clear(wake);
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].revents & POLLOUT)
      (void)links[others[i]]->flush();
    if (entries[i].revents & ~POLLOUT)
      receive(others[i]);
  }
  std::lock_guard<std::mutex> lock(mutex);
  return !isStopping;
}

void StarControl::Impl::receive(unsigned from) {
  Link &link = *links[from];
  Link::Received received = link.receive();
  Lock lock(mutex);
  while (received == Link::Received::bytes) {
    Expected<std::optional<std::string>> message = link.frames().next();
    if (!message)
      return lose(from, " sent " + toString(message.takeError()));
    if (!*message)
      return;
    if (!dispatch(from, **message))
      return lose(from, " sent a message that makes no sense");
    ++states[from].messages;
  }
  if (received == Link::Received::end)
    lose(from, " is gone");
}

/// Nothing more is read from it.
void StarControl::Impl::lose(unsigned from, StringRef why) {
  links[from]->end();
  changed.notify_all();
  if (isLeaving)
    return;
  std::string text = nameOf(from) + why.take_front(maxTextBytes).str();
  states[from].isGone = true;
  if (isHub())
    postToOthers(from,
                 MessageWriter(MessageKind::gone).number(from).rest(text));
  breakDown(text);
  signalEvent();
}

void StarControl::Impl::post(unsigned to, const MessageWriter &message) {
  if (links[to] && links[to]->post(message.message()))
    (void)::eventfd_write(wake.get(), 1);
}

/// Process 0's: to all others but one.
void StarControl::Impl::postToOthers(unsigned but,
                                     const MessageWriter &message) {
  for (unsigned other = 1; other < processes; ++other)
    if (other != but)
      post(other, message);
}

void StarControl::Impl::signalEvent() {
  (void)::eventfd_write(events.get(), 1);
}

bool StarControl::Impl::dispatch(unsigned from, StringRef text) {
  MessageReader message(text);
  switch (message.kind()) {
  case MessageKind::part:
    return isHub() && takePart(from, message);
  case MessageKind::claim:
    return isHub() && takeClaim(from, message);
  case MessageKind::all:
    return !isHub() && takeAll(message);
  case MessageKind::waiting:
    return !isHub() && takeWaiting(message);
  case MessageKind::failed:
    if (isHub())
      return false;
    isToldByHub = true;
    breakDown(message.rest());
    return true;
  case MessageKind::gone:
    return !isHub() && takeGone(message);
  case MessageKind::claimed:
    claimAnswer = message.number() != 0;
    changed.notify_all();
    return !isHub() && message.isWhole();
  case MessageKind::beat:
    return takeBeat(from, message);
  case MessageKind::notice:
    return takeNotice(from, message);
  }
  return false;
}

bool StarControl::Impl::takePart(unsigned from, MessageReader &message) {
  uint32_t number = message.number();
  StringRef part = message.rest();
  if (part.empty() || part.size() > maxBytes + 1)
    return false;
  // The others may still send parts of a gather that has failed here.
  if (number != sequence || parts[from])
    return broken.has_value();
  parts[from] = part.str();
  changed.notify_all();
  return true;
}

bool StarControl::Impl::takeAll(MessageReader &message) {
  uint32_t number = message.number();
  if (broken)
    return true; // too late
  if (number != sequence || message.isShortOfFields())
    return false;
  bool isBye = true;
  while (!message.atEnd()) {
    uint32_t from = message.number();
    StringRef part = message.text();
    if (part.empty() || from >= processes || parts[from])
      return false;
    parts[from] = part.str();
  }
  if (message.isShortOfFields())
    return false;
  for (const auto &part : parts)
    isBye &= part && part->front() == leavePurpose;
  isLeaving |= isBye;
  changed.notify_all();
  return true;
}

bool StarControl::Impl::takeWaiting(MessageReader &message) {
  uint32_t number = message.number(), milliseconds = message.number();
  std::vector<unsigned> late;
  while (!message.atEnd()) {
    late.push_back(message.number());
    if (late.back() >= processes)
      return false;
  }
  if (message.isShortOfFields() || (number != sequence && !broken))
    return false;
  awaited = std::move(late);
  hubDeadline = Deadline::in(milliseconds / 1e3);
  changed.notify_all();
  return true;
}

bool StarControl::Impl::takeGone(MessageReader &message) {
  uint32_t other = message.number();
  if (message.isShortOfFields() || other >= processes)
    return false;
  states[other].isGone = true;
  breakDown(message.rest());
  signalEvent();
  return true;
}

/// Process 0 speaks of everybody, the others of themselves.
bool StarControl::Impl::takeBeat(unsigned from, MessageReader &message) {
  while (!message.atEnd()) {
    uint32_t about = message.number();
    StringRef progress = message.text();
    if (message.isShortOfFields() || about >= processes ||
        (isHub() && about != from) || progress.size() > maxBeatBytes)
      return false;
    if (about == process)
      continue;
    states[about].lastBeat = progress.str();
  }
  return !message.isShortOfFields();
}

bool StarControl::Impl::takeNotice(unsigned from, MessageReader &message) {
  StringRef text = message.rest().take_front(maxBeatBytes);
  if (isHub())
    postToOthers(from, MessageWriter(MessageKind::notice).rest(text));
  if (!noticed)
    noticed = text.str();
  breakDown(text);
  signalEvent();
  return true;
}

bool StarControl::Impl::takeClaim(unsigned from, MessageReader &message) {
  post(from, MessageWriter(MessageKind::claimed).number(!isClaimed));
  isClaimed = true;
  return message.isWhole();
}

} // namespace colrow::runtime
