// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPI, loaded from the plug-in of the launcher's library.

#ifndef COLROW_RUNTIME_MPI_MPINETWORK_H
#define COLROW_RUNTIME_MPI_MPINETWORK_H

#include "colrow/runtime/Job/Launch.h"
#include "colrow/runtime/Job/ToldByFirst.h"
#include "colrow/runtime/MPI/Network.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <string>

namespace colrow::runtime {

class MpiNetwork : public Network {
public:
  /// Loads and starts the MPI of `launch.kind`: the plug-in that
  /// COLROW_MPI_PLUGIN names, else ../lib/colrow/libcolrow-mpi-NAME.so beside
  /// the program's folder. Errors name what is missing, or that another MPI's
  /// launcher has started the processes. MPI's start has no
  /// limit of its own: after `seconds` the process ends with a line that begins
  /// with `tool`.
  static llvm::Expected<std::unique_ptr<MpiNetwork>>
  start(const LaunchInfo &launch, double seconds, const char *tool);
  ~MpiNetwork() override;

  unsigned process() const override;
  unsigned maxTag() const override;
  Request send(const void *from, size_t bytes, unsigned process,
               unsigned tag) override;
  Request receive(void *to, size_t bytes, unsigned process,
                  unsigned tag) override;
  bool test(Request &request) override;

  unsigned processes() const;
  /// What is done, before the process ends, with the text of an error; default:
  /// it is printed.
  void onFailure(std::function<void(llvm::StringRef)> told);
  /// The orderly end, once no process sends any more. Limited as start() is.
  void finish();

private:
  struct Impl;
  explicit MpiNetwork(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_MPI_MPINETWORK_H
