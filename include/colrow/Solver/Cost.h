// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a choice costs: time first, then the number of collectives, then bytes.
// Costs form an ordered group with one absorbing infinite element, so sums and
// lexicographic minima commute: a < b implies a + c < b + c for finite c.

#ifndef COLROW_SOLVER_COST_H
#define COLROW_SOLVER_COST_H

#include "llvm/Support/MathExtras.h"

#include <cstdint>
#include <limits>
#include <tuple>

namespace colrow::solver {

/// A cost, ordered lexicographically. Time is in integer picoseconds, so that
/// equal sums are equal whatever the order of addition.
struct Cost {
  int64_t picoseconds = 0;
  /// Collectives a rank takes part in.
  int64_t collectives = 0;
  /// Bytes a rank sends.
  int64_t bytes = 0;

  /// The cost of what cannot be done. Sums with it, and sums whose time leaves
  /// the range of int64_t, are infinite.
  static constexpr Cost infinite() {
    constexpr int64_t max = std::numeric_limits<int64_t>::max();
    return {max, max, max};
  }
  bool isInfinite() const {
    return picoseconds == std::numeric_limits<int64_t>::max();
  }
};

inline bool operator==(const Cost &a, const Cost &b) {
  return std::tie(a.picoseconds, a.collectives, a.bytes) ==
         std::tie(b.picoseconds, b.collectives, b.bytes);
}
inline bool operator!=(const Cost &a, const Cost &b) { return !(a == b); }
inline bool operator<(const Cost &a, const Cost &b) {
  return std::tie(a.picoseconds, a.collectives, a.bytes) <
         std::tie(b.picoseconds, b.collectives, b.bytes);
}

/// The sum; infinite if an operand is, or if a component overflows.
inline Cost operator+(const Cost &a, const Cost &b) {
  Cost sum;
  if (a.isInfinite() || b.isInfinite() ||
      llvm::AddOverflow(a.picoseconds, b.picoseconds, sum.picoseconds) ||
      llvm::AddOverflow(a.collectives, b.collectives, sum.collectives) ||
      llvm::AddOverflow(a.bytes, b.bytes, sum.bytes))
    return Cost::infinite();
  return sum;
}

/// The difference to a finite cost `b`; infinite if `a` is. Components may
/// be negative.
inline Cost operator-(const Cost &a, const Cost &b) {
  Cost difference;
  if (a.isInfinite() ||
      llvm::SubOverflow(a.picoseconds, b.picoseconds, difference.picoseconds) ||
      llvm::SubOverflow(a.collectives, b.collectives, difference.collectives) ||
      llvm::SubOverflow(a.bytes, b.bytes, difference.bytes))
    return Cost::infinite();
  return difference;
}

inline Cost &operator+=(Cost &a, const Cost &b) { return a = a + b; }

} // namespace colrow::solver

#endif // COLROW_SOLVER_COST_H
