// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rendezvous of processes that MPI has connected already: nobody has to
// say where process 0 listens.

#ifndef COLROW_RUNTIME_MPI_MPIMEETING_H
#define COLROW_RUNTIME_MPI_MPIMEETING_H

#include "colrow/runtime/Job/Rendezvous.h"
#include "colrow/runtime/MPI/Network.h"

namespace colrow::runtime {

/// As rendezvous(), at a port that process 0 chooses: of the loopback interface
/// when all run on one machine. What only this run's processes know is added to
/// the job's token; it goes over MPI's connections as they are, so on several
/// machines a token is needed nevertheless, unless `trustNetwork`. Error of
/// process 0's: ToldByFirst at all others.
llvm::Expected<std::vector<FileDescriptor>> rendezvousByMpi(Network &network,
                                                            JobDescription job,
                                                            bool trustNetwork,
                                                            double seconds);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_MPI_MPIMEETING_H
