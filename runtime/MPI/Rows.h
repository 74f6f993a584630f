// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of data that lies in rows.

#ifndef COLROW_RUNTIME_MPI_ROWS_H
#define COLROW_RUNTIME_MPI_ROWS_H

#include <algorithm>
#include <cstdint>

namespace colrow::runtime {

/// Calls f(at, row, column, n) for the parts of rows of `width` elements that
/// make up `count` elements from `first`; `at` counts from 0.
template <typename F>
void forRows(int64_t width, int64_t first, int64_t count, F f) {
  for (int64_t at = 0; at < count;) {
    int64_t row = (first + at) / width, column = (first + at) % width;
    int64_t n = std::min(width - column, count - at);
    f(at, row, column, n);
    at += n;
  }
}

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_MPI_ROWS_H
