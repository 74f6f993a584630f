// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel does with the memory behind its arguments.

#include "KernelSupport.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace colrow::kernel {

int64_t extentBytes(const RowKernel &kernel, unsigned index) {
  const Arg &arg = kernel.args[index];
  int64_t last = arg.offset + (kernel.cols - 1) * arg.colStride;
  for (auto [size, stride] : zip(kernel.rows, arg.rowStrides))
    last += (size - 1) * stride;
  int64_t beyond = 0; // the farthest column offset of a load or store
  for (const Node &node : kernel.nodes)
    if ((node.kind == NodeKind::Load || node.kind == NodeKind::Store) &&
        node.arg == int32_t(index))
      beyond = std::max(beyond, node.imm);
  return (last + beyond + 1) * elemBytes(arg.elem);
}

/// Whether each (row, column) has an element of its own.
static bool isInjective(const RowKernel &kernel, const Arg &arg) {
  SmallVector<std::pair<int64_t, int64_t>> dims; // stride, size
  if (kernel.cols > 1)
    dims.push_back({arg.colStride, kernel.cols});
  for (auto [size, stride] : zip(kernel.rows, arg.rowStrides))
    if (size > 1)
      dims.push_back({stride, size});
  sort(dims);
  int64_t span = 1;
  for (auto [stride, size] : dims) {
    if (stride < span)
      return false;
    span += stride * (size - 1);
  }
  return true;
}

/// Whether all that touches argument `index` is `kind` at column offset 0.
static bool isTouchedOnlyBy(const RowKernel &kernel, unsigned index,
                            NodeKind kind) {
  return all_of(kernel.nodes, [&](const Node &node) {
    if (node.scratch == int32_t(index))
      return false;
    return node.arg != int32_t(index) || (node.kind == kind && node.imm == 0);
  });
}

SmallVector<int64_t> getInPlaceArgs(const RowKernel &kernel, unsigned written) {
  SmallVector<int64_t> args;
  const Arg &to = kernel.args[written];
  if (to.access != Access::Write || !isInjective(kernel, to) ||
      !isTouchedOnlyBy(kernel, written, NodeKind::Store))
    return args;
  for (auto [i, from] : enumerate(kernel.args))
    if (from.access == Access::Read && from.elem == to.elem &&
        from.offset == to.offset && from.rowStrides == to.rowStrides &&
        from.colStride == to.colStride &&
        isTouchedOnlyBy(kernel, i, NodeKind::Load))
      args.push_back(i);
  return args;
}

} // namespace colrow::kernel
