// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The secret that the processes of a job share.

#ifndef COLROW_RUNTIME_JOB_TOKEN_H
#define COLROW_RUNTIME_JOB_TOKEN_H

#include "colrow/runtime/Job/Launch.h"

namespace colrow::runtime {

/// That of COLROW_TOKEN, or the text of the file that COLROW_TOKEN_FILE names,
/// without blanks around it; empty when neither is set. The file must be a
/// regular one of this user, which nobody else may read or write.
llvm::Expected<std::string> readToken(EnvironmentLookup lookup);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_TOKEN_H
