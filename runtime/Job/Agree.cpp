// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Agreement on success.

#include "colrow/runtime/Job/Control.h"
#include "colrow/runtime/Support/Errors.h"

using namespace llvm;

namespace colrow::runtime {

Error agree(Control &control, Error mine) {
  // One byte tells success from an error without text.
  std::string told = mine ? "-" + toString(std::move(mine)) : "+";
  if (told.size() > Control::maxBytes)
    told.resize(Control::maxBytes);
  Expected<std::vector<std::string>> all = control.gather(told);
  if (!all)
    return all.takeError();
  for (unsigned process = 0; process < all->size(); ++process) {
    StringRef text = (*all)[process];
    if (!text.consume_front("-"))
      continue;
    if (process == 0)
      return failure("{0}", text);
    return failure("process {0}: {1}", process, text);
  }
  return Error::success();
}

} // namespace colrow::runtime
