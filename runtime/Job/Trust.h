// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What may leave the machine.

#ifndef COLROW_RUNTIME_JOB_TRUST_H
#define COLROW_RUNTIME_JOB_TRUST_H

#include "Address.h"
#include "colrow/runtime/Job/Rendezvous.h"
#include "colrow/runtime/Support/Errors.h"

namespace colrow::runtime {

/// Error: the address is beyond this machine, and nothing protects the job.
inline llvm::Error checkTrust(const Address &address, const MeetingPlace &place,
                              const JobDescription &job) {
  if (address.isLoopback() || !job.token.empty() || place.trustNetwork)
    return llvm::Error::success();
  return failure("{0} can be reached from other machines: set COLROW_TOKEN to "
                 "the same secret for all processes (or COLROW_TOKEN_FILE to "
                 "a file of mode 0600), or give --trust-network",
                 shownAddress(place.host, place.port));
}

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_TRUST_H
