// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An error that is not printed here.

#include "colrow/runtime/Job/ToldByFirst.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace colrow::runtime {

char ToldByFirst::ID = 0;

void ToldByFirst::log(raw_ostream &out) const {
  out << "process 0 has an error";
}

std::error_code ToldByFirst::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

} // namespace colrow::runtime
