// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists in messages that stay one line, however many processes a job has.

#ifndef COLROW_RUNTIME_JOB_FIRSTNAMES_H
#define COLROW_RUNTIME_JOB_FIRSTNAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <string>

namespace colrow::runtime {

/// "a, b and c"; of more than eight: the first eight "and N more". Not empty.
inline std::string firstNames(llvm::ArrayRef<std::string> names) {
  constexpr size_t most = 8;
  std::string last = names.size() > most
                         ? std::to_string(names.size() - most) + " more"
                         : names.back();
  std::string text =
      llvm::join(names.take_front(std::min(names.size() - 1, most)), ", ");
  return text + (text.empty() ? "" : " and ") + last;
}

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_FIRSTNAMES_H
