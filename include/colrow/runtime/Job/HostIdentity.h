// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which machine this process runs on.

#ifndef COLROW_RUNTIME_JOB_HOSTIDENTITY_H
#define COLROW_RUNTIME_JOB_HOSTIDENTITY_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace colrow::runtime {

/// Equal in processes that can share memory and see each other: of one boot of
/// one kernel, in the same network and pid namespaces, of one user. At most 200
/// bytes. Unique where the kernel tells nothing.
std::string machineId();

/// Whether the kernel of that process has told; without /proc it does not.
bool isKnownMachine(llvm::StringRef machineId);

/// What the machine calls itself; at most 64 printable characters.
std::string hostName();

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_JOB_HOSTIDENTITY_H
