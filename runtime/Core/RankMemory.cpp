// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions begin at pages, large ones at huge pages.

#include "colrow/runtime/Core/RankMemory.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;

namespace colrow::runtime {

RegionLayout::RegionLayout(const plan::Plan &plan)
    : persistentBytes(plan.persistent_bytes()) {
  if (plan.programs())
    for (const plan::Program *program : *plan.programs()) {
      scratchBytes = std::max(scratchBytes, program->scratch_bytes());
      inputBytes = std::max(inputBytes, program->input_bytes());
    }
  constexpr uint64_t page = 4096, huge = 2 << 20;
  auto behind = [](uint64_t begin, uint64_t bytes, uint64_t next) {
    return alignTo(begin + bytes, next >= 2 * huge ? huge : page);
  };
  scratch = behind(0, persistentBytes, scratchBytes);
  input = behind(scratch, scratchBytes, inputBytes);
  scalars = behind(input, inputBytes, 0);
  end = behind(scalars, sizeof(ScalarBlock), 0);
}

Regions RegionLayout::in(char *arena, const void *constants) const {
  Regions result;
  result[plan::Region::persistent] = arena;
  result[plan::Region::scratch] = arena + scratch;
  result[plan::Region::input] = arena + input;
  result[plan::Region::scalars] = arena + scalars;
  // Only read.
  result[plan::Region::constant] =
      static_cast<char *>(const_cast<void *>(constants));
  return result;
}

std::string RegionLayout::text() const {
  return formatv("a rank (parameters and optimizer state {0}, arena "
                 "{1}, batch {2})",
                 persistentBytes, scratchBytes, inputBytes);
}

} // namespace colrow::runtime
