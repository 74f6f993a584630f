// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SLURM's lists of hosts.

#include "colrow/runtime/Job/Launch.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace colrow::runtime {

/// What the list's first element begins with: all up to the first comma that no
/// bracket encloses. Nothing for brackets that do not match.
static std::optional<StringRef> firstElement(StringRef list) {
  bool inBrackets = false;
  for (size_t i = 0; i < list.size(); ++i) {
    char c = list[i];
    if (c == '[' || c == ']') {
      if (inBrackets == (c == '['))
        return std::nullopt;
      inBrackets = !inBrackets;
    } else if (c == ',' && !inBrackets)
      return list.take_front(i);
  }
  return inBrackets ? std::nullopt : std::optional(list);
}

static bool isHostCharacter(char c) {
  return isAlnum(c) || c == '-' || c == '.' || c == '_' || c == ':';
}

Expected<std::string> firstHost(StringRef list) {
  Error wrong = failure("\"{0}\" is no list of hosts, such as node[01-04,7],x",
                        list.take_front(200));
  std::optional<StringRef> element = firstElement(list);
  if (!element)
    return std::move(wrong);
  // Each bracket's first number stands for it, zeros in front included.
  std::string host;
  for (StringRef rest = *element; !rest.empty();) {
    auto [text, behind] = rest.split('[');
    host += text;
    auto [numbers, next] = behind.split(']');
    StringRef number =
        numbers.take_until([](char c) { return c == '-' || c == ','; });
    if (rest.contains('[') && (number.empty() || !all_of(number, isDigit)))
      return std::move(wrong);
    host += number;
    rest = next;
  }
  if (host.empty() || !all_of(host, isHostCharacter))
    return std::move(wrong);
  consumeError(std::move(wrong));
  return host;
}

} // namespace colrow::runtime
