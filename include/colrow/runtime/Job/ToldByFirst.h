// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a process returns when another one speaks for all.

#ifndef COLROW_RUNTIME_JOB_TOLDBYFIRST_H
#define COLROW_RUNTIME_JOB_TOLDBYFIRST_H

#include "llvm/Support/Error.h"

namespace colrow::runtime {

/// An error that process 0 prints.
class ToldByFirst : public llvm::ErrorInfo<ToldByFirst> {
public:
  static char ID;
  void log(llvm::raw_ostream &out) const override;
  std::error_code convertToErrorCode() const override;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_TOLDBYFIRST_H
