// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank's block of a program's input.

#ifndef COLROW_RUNTIME_CORE_INPUTBLOCK_H
#define COLROW_RUNTIME_CORE_INPUTBLOCK_H

#include "colrow/runtime/Core/Device.h"
#include <vector>

namespace colrow::runtime {

class InputBlock {
public:
  InputBlock(const plan::Input &input, const Mesh &mesh, unsigned rank,
             char *block);

  /// Copies the rank's elements of `whole`; padding in the block is set too,
  /// since other programs use the same memory.
  void set(Device &device, const char *whole);

private:
  struct Run {
    int64_t local, whole, bytes;
  };
  char *block;
  std::vector<Run> runs;
  std::vector<char> padded; // the block with padding only; empty: it has none
};

/// `value` as one element of `type`, repeated to fill `out`.
void fillElements(plan::DType type, int64_t value,
                  llvm::MutableArrayRef<char> out);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_INPUTBLOCK_H
