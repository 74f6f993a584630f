// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// oneDNN's matmul primitive for bf16 operands.
//
// Each product is a primitive of its own, made for one thread: one made for
// more forks at every call, even where one thread computes. Strides say
// transposes and leading dimensions, an output scale alpha, a sum post-op beta.
// Weights are not packed beforehand: they change every step, and on plain
// matrices matmul reaches nine tenths of what it does on packed ones.

#ifndef COLROW_RUNTIME_LIBRARIES_ONEDNN_H
#define COLROW_RUNTIME_LIBRARIES_ONEDNN_H

#include "OneDnnFunctions.h"
#include "colrow/runtime/Libraries/GemmLibraries.h"

namespace colrow::runtime {

class OneDnn {
public:
  /// Errors: it is missing, of another major version, or built for threads that
  /// are not OpenMP's.
  static llvm::Expected<std::unique_ptr<OneDnn>> open();

  /// Whether it multiplies bf16 in hardware, with this CPU and DNNL_MAX_CPU_ISA
  /// of the environment.
  bool multipliesBf16() const;

  /// Name, version and code path.
  std::string description() const;

  /// Of two bf16 operands. Error: oneDNN's.
  llvm::Expected<std::unique_ptr<PreparedGemm>>
  prepare(const GemmShape &shape) const;

private:
  explicit OneDnn(const OneDnnFunctions &f)
      : f(f), engine(nullptr, f.engine_destroy) {}

  OneDnnFunctions f;
  OneDnnHandle<dnnl_engine> engine;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_LIBRARIES_ONEDNN_H
