// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank's memory: its regions one after the other in one arena, at the same
// offsets on all ranks, so that ranks can name places in each other's.

#ifndef COLROW_RUNTIME_CORE_RANKMEMORY_H
#define COLROW_RUNTIME_CORE_RANKMEMORY_H

#include "colrow/runtime/Plan/PlanLimits.h"
#include "colrow/runtime/Plan/PlanSchema.h"
#include <string>

namespace colrow::runtime {

/// Starts of a rank's regions, indexed by plan::Region.
struct Regions {
  char *start[size_t(plan::Region::MAX) + 1] = {};

  char *&operator[](plan::Region region) { return start[size_t(region)]; }
  char *operator[](plan::Region region) const { return start[size_t(region)]; }
  char *at(const plan::Buffer &buffer) const {
    return (*this)[buffer.region()] + buffer.offset();
  }
};

/// Where the regions stand in an arena, in bytes. Region `constant` is not one
/// of a rank's.
class RegionLayout {
public:
  explicit RegionLayout(const plan::Plan &plan);

  uint64_t bytes() const { return end; }
  /// `constants`: start of region `constant`.
  Regions in(char *arena, const void *constants) const;
  /// "a rank (parameters and optimizer state 4096, ...)" for errors.
  std::string text() const;

private:
  uint64_t persistentBytes, scratch, scratchBytes = 0, input, inputBytes = 0,
                                     scalars, end;
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CORE_RANKMEMORY_H
