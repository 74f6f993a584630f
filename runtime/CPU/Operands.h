// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of a collective, as the other processes of a machine find them: each
// maps arenas and constants at places of its own.

#ifndef COLROW_RUNTIME_CPU_OPERANDS_H
#define COLROW_RUNTIME_CPU_OPERANDS_H

#include "colrow/runtime/CPU/SharedMemory.h"

namespace colrow::runtime {

class Operands {
public:
  explicit Operands(const MachineMemory &memory)
      : arenaBytes(memory.arenaBytes), constants(memory.constants) {}

  /// Of an address in `arena`, or in the constants.
  uint64_t placeOf(const char *arena, const void *address) const {
    uint64_t offset = reinterpret_cast<uintptr_t>(address) -
                      reinterpret_cast<uintptr_t>(arena);
    if (offset < arenaBytes)
      return offset;
    return (static_cast<const char *>(address) - constants) | inConstants;
  }
  /// `arena`: where this process has the rank's.
  const char *sourceAt(const char *arena, uint64_t place) const {
    return place & inConstants ? constants + (place & ~inConstants)
                               : arena + place;
  }

private:
  /// Set in a place that is an offset into the constants.
  static constexpr uint64_t inConstants = uint64_t(1) << 63;

  uint64_t arenaBytes;
  const char *constants;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_OPERANDS_H
