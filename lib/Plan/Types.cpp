// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types, layouts and the mesh.

#include "Types.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

plan::DType planir::toDType(Type element) {
  if (element.isF32())
    return plan::DType::f32;
  if (element.isBF16())
    return plan::DType::bf16;
  switch (element.getIntOrFloatBitWidth()) {
  case 64:
    return plan::DType::i64;
  case 32:
    return plan::DType::i32;
  case 1:
    return plan::DType::i1;
  default:
    return plan::DType::i8;
  }
}

Type planir::fromDType(plan::DType type, MLIRContext *context) {
  Builder builder(context);
  switch (type) {
  case plan::DType::f32:
    return builder.getF32Type();
  case plan::DType::bf16:
    return builder.getBF16Type();
  case plan::DType::f16:
    return builder.getF16Type();
  case plan::DType::i64:
    return builder.getI64Type();
  case plan::DType::i32:
    return builder.getI32Type();
  case plan::DType::i1:
    return builder.getI1Type();
  case plan::DType::i8:
    return builder.getI8Type();
  }
  llvm_unreachable("the checker knows all types");
}

DimTables planir::toDims(RankedTensorType whole) {
  layout::Layout layout(whole.getRank());
  if (tp::LayoutAttr attr = tp::getLayoutAttr(whole))
    layout = attr.getLayout();
  DimTables dims;
  for (auto [d, dim] : llvm::enumerate(layout.dims)) {
    layout::DimLayout factors = dim;
    if (factors.empty())
      factors.push_back({whole.getDimSize(d), whole.getDimSize(d), {}});
    auto &table = dims.emplace_back(std::make_unique<plan::DimT>());
    for (const layout::Factor &factor : factors) {
      auto made = std::make_unique<plan::FactorT>();
      made->size = factor.size;
      made->padded = factor.padded;
      made->axes.assign(factor.axes.begin(), factor.axes.end());
      table->factors.push_back(std::move(made));
    }
  }
  return dims;
}

RankedTensorType planir::fromDims(ArrayRef<int64_t> shape, plan::DType element,
                                  const DimTables &dims, tp::MeshAttr mesh,
                                  bool withLayout) {
  layout::Layout layout(shape.size());
  for (auto [dim, table] : llvm::zip(layout.dims, dims))
    for (const auto &factor : table->factors) {
      layout::Factor &made = dim.emplace_back();
      made.size = factor->size;
      made.padded = factor->padded;
      made.axes.assign(factor->axes.begin(), factor->axes.end());
      withLayout |= !made.axes.empty();
    }
  // Lists that split nothing go.
  layout.canonicalize();
  Attribute encoding;
  if (withLayout)
    encoding = tp::LayoutAttr::get(mesh, layout);
  return RankedTensorType::get(shape, fromDType(element, mesh.getContext()),
                               encoding);
}

std::vector<std::unique_ptr<plan::MeshAxisT>>
planir::toMesh(tp::MeshAttr mesh) {
  std::vector<std::unique_ptr<plan::MeshAxisT>> axes;
  for (const layout::MeshAxis &axis : mesh.getMesh().axes) {
    auto &table = axes.emplace_back(std::make_unique<plan::MeshAxisT>());
    table->name = axis.name;
    table->size = axis.size;
    table->batch = axis.role == layout::AxisRole::Batch;
  }
  return axes;
}

tp::MeshAttr planir::fromMesh(ArrayRef<std::unique_ptr<plan::MeshAxisT>> axes,
                              MLIRContext *context) {
  layout::Mesh mesh;
  for (const auto &axis : axes)
    mesh.axes.push_back(
        {axis->name, axis->size,
         axis->batch ? layout::AxisRole::Batch : layout::AxisRole::Feature});
  return tp::MeshAttr::get(context, mesh);
}
