// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plan.Source as sizes and strides of the file's tensor, neighbours that can
// be walked as one dimension merged.

#include "colrow/runtime/Plan/SourceMap.h"

using namespace llvm;

namespace colrow::runtime {

SourceMap::SourceMap(int64_t elements) : count(elements) {
  dimensions.push_back({elements, 1});
}

SourceMap::SourceMap(const plan::Source &source) {
  ArrayRef<int64_t> shape = listOf(source.reshape());
  if (shape.empty())
    shape = listOf(source.file_shape());
  ArrayRef<int64_t> start = listOf(source.start()),
                    step = listOf(source.step());
  ArrayRef<int64_t> size = listOf(source.size());
  ArrayRef<uint8_t> perm = listOf(source.perm());

  std::vector<Dimension> sliced(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    sliced[d] = {size.empty() ? shape[d] : size[d],
                 stride * (step.empty() ? 1 : step[d])};
    base += start.empty() ? 0 : start[d] * stride;
    stride *= shape[d];
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    Dimension next = sliced[perm.empty() ? d : perm[d]];
    count *= next.size;
    if (next.size == 1)
      continue;
    if (!dimensions.empty() &&
        dimensions.back().stride == next.size * next.stride)
      dimensions.back() = {dimensions.back().size * next.size, next.stride};
    else
      dimensions.push_back(next);
  }
  if (dimensions.empty())
    dimensions.push_back({1, 1});
}

} // namespace colrow::runtime
