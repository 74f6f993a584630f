// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work items of ops: the default, and those of collectives.

#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;
using cost::ChangeKind;
using cost::WorkItem;

int64_t tp::localBytes(Type type) {
  return ShapedType::getNumElements(localShape(type)) * elementBytes(type);
}

std::optional<WorkItem> tp::workOf(Operation *op, const layout::Mesh &mesh) {
  if (auto costed = dyn_cast<CostedOpInterface>(op))
    return costed.getWork(mesh);
  if (!isa<RowLowerableOpInterface>(op))
    return std::nullopt;
  // Rows fuse: operands are read where another op has just made them.
  cost::Rows rows;
  for (Type type : op->getResultTypes())
    rows.written += localBytes(type);
  return rows;
}

/// Nothing is exchanged by a rank alone.
static std::optional<WorkItem>
change(ChangeKind kind, Value held, ArrayAttr names, const layout::Mesh &mesh) {
  SmallVector<unsigned> axes;
  for (StringRef name : names.getAsValueRange<StringAttr>())
    if (std::optional<unsigned> axis = mesh.find(name))
      axes.push_back(*axis);
  unsigned ranks = mesh.groupSize(axes);
  if (ranks == 1)
    return std::nullopt;
  return cost::Change{kind, localBytes(held.getType()), ranks,
                      unsigned(mesh.stride(axes))};
}

std::optional<WorkItem> AllReduceOp::getWork(const layout::Mesh &mesh) {
  return change(ChangeKind::AllReduce, getInput(), getAxes(), mesh);
}
std::optional<WorkItem> AllGatherOp::getWork(const layout::Mesh &mesh) {
  return change(ChangeKind::AllGather, getResult(), getAxes(), mesh);
}
std::optional<WorkItem> ReduceScatterOp::getWork(const layout::Mesh &mesh) {
  return change(ChangeKind::ReduceScatter, getInput(), getAxes(), mesh);
}
