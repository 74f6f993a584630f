// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OpenMP's number of threads belongs to the thread that calls: each thread that
// makes or runs products sets it to 1 in every OpenMP runtime that a library
// brought along.

#ifndef COLROW_RUNTIME_LIBRARIES_ONETHREAD_H
#define COLROW_RUNTIME_LIBRARIES_ONETHREAD_H

#include "Library.h"

namespace colrow::runtime {

/// Remembers the OpenMP runtime that `library` needs, if there is one.
void addOpenMpOf(Library &library);

/// To be called on each thread before libraries compute there. Cheap when
/// nothing was added since the thread's last call.
void useOneThread();

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_LIBRARIES_ONETHREAD_H
