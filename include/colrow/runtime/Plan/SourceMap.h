// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the elements of a parameter stand in a checkpoint tensor: the table
// plan.Source (reshape, slice, permute) as one affine walk. The result, read
// row-major, is a consecutive part of the parameter, read row-major.

#ifndef COLROW_RUNTIME_PLAN_SOURCEMAP_H
#define COLROW_RUNTIME_PLAN_SOURCEMAP_H

#include "colrow/runtime/Plan/Mesh.h"
#include <algorithm>
#include <vector>

namespace colrow::runtime {

class SourceMap {
public:
  /// `source` must have passed validation.
  explicit SourceMap(const plan::Source &source);

  /// The map of a tensor that is stored as it is, of `elements` elements.
  explicit SourceMap(int64_t elements);

  /// Elements that the source contributes to its parameter.
  int64_t elements() const { return count; }

  /// Splits elements [first, first + n) of the result into pieces of constant
  /// stride: f(done, offset, stride, length), where element first + done + i
  /// is element offset + i * stride of the file's tensor.
  template <typename F> void forEachPiece(int64_t first, int64_t n, F f) const;

private:
  struct Dimension {
    int64_t size, stride;
  };
  std::vector<Dimension> dimensions; // at least one, outermost first
  int64_t base = 0, count = 1;
};

template <typename F>
void SourceMap::forEachPiece(int64_t first, int64_t n, F f) const {
  const Dimension &inner = dimensions.back();
  for (int64_t done = 0; done < n;) {
    int64_t rest = (first + done) / inner.size;
    int64_t column = (first + done) % inner.size;
    int64_t offset = base + column * inner.stride;
    for (size_t d = dimensions.size() - 1; d-- > 0;) {
      offset += rest % dimensions[d].size * dimensions[d].stride;
      rest /= dimensions[d].size;
    }
    int64_t length = std::min(n - done, inner.size - column);
    f(done, offset, inner.stride, length);
    done += length;
  }
}

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_PLAN_SOURCEMAP_H
