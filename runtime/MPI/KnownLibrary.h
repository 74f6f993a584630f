// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The MPI that belongs to a launcher, and its plug-in.

#ifndef COLROW_RUNTIME_MPI_KNOWNLIBRARY_H
#define COLROW_RUNTIME_MPI_KNOWNLIBRARY_H

#include "Plugin.h"
#include "colrow/runtime/Job/Launch.h"

namespace colrow::runtime {

/// What people call an MPI and who starts it, and what installs it.
struct KnownLibrary {
  LauncherKind kind;
  const char *plugin, *name, *launcher, *package;
};

const KnownLibrary &knownOf(LauncherKind kind);

/// Loads the file that COLROW_MPI_PLUGIN names, else that of the library.
/// Errors say what is missing and what helps.
llvm::Expected<const ColrowMpi *> loadPlugin(const KnownLibrary &known);

/// A library that another MPI's launcher has started takes itself to be alone:
/// an error.
llvm::Error checkWorld(const LaunchInfo &launch, const KnownLibrary &known,
                       const ColrowMpiWorld &world);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_MPI_KNOWNLIBRARY_H
