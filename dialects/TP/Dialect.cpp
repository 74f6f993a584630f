// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the tp dialect, and short aliases for its attributes.

#include "colrow/TP/TP.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

#include "colrow/TP/TPDialect.cpp.inc"
#include "colrow/TP/TPEnums.cpp.inc"
#include "colrow/TP/TPInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "colrow/TP/TPOps.cpp.inc"

namespace {
/// Names an alias after what the layout says: `#r2`, `#c3_tp`, `#p3_tp`,
/// `#s2_tp_d0_256` (split of dimension 0, 256 long).
struct TPAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (isa<MeshAttr>(attr)) {
      os << "mesh";
      return AliasResult::OverridableAlias;
    }
    auto layoutAttr = dyn_cast<LayoutAttr>(attr);
    if (!layoutAttr)
      return AliasResult::NoAlias;
    layout::Layout layout = layoutAttr.getLayout();
    layout::Mesh mesh = layoutAttr.getMesh().getMesh();
    auto names = [&](ArrayRef<unsigned> axes) {
      for (unsigned axis : axes)
        os << '_' << mesh.axes[axis].name;
    };
    bool split = llvm::any_of(layout.dims, [](auto &d) { return !d.empty(); });
    bool other = !layout.copied.empty() || !layout.partial.empty() ||
                 !layout.partialMax.empty();
    os << (split                        ? "s"
           : !layout.copied.empty()     ? "c"
           : !layout.partial.empty()    ? "p"
           : !layout.partialMax.empty() ? "pmax"
                                        : "r")
       << layout.dims.size();
    for (auto [d, dim] : llvm::enumerate(layout.dims))
      for (const layout::Factor &factor : dim)
        if (!factor.axes.empty()) {
          names(factor.axes);
          os << "_d" << d << '_' << factor.size;
        }
    if (split && other)
      os << "_x";
    names(layout.copied);
    names(layout.partial);
    names(layout.partialMax);
    return AliasResult::OverridableAlias;
  }
};
} // namespace

GradientFlow tp::getGradientFlow(OpResult result, OpOperand &operand) {
  if (!carriesGradient(result) || !carriesGradient(operand.get()))
    return GradientFlow::Zero;
  Operation *op = result.getOwner();
  if (auto flow = dyn_cast<GradientFlowOpInterface>(op))
    return flow.getFlow(result.getResultNumber(), operand.getOperandNumber());
  return isa<DifferentiableOpInterface>(op) ? GradientFlow::Built
                                            : GradientFlow::Missing;
}

LogicalResult TPDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  if (attribute.getName() != getMeshAttrName())
    return success();
  if (!isa<ModuleOp>(op) || !isa<MeshAttr>(attribute.getValue()))
    return op->emitOpError()
           << attribute.getName() << " is a #tp.mesh on a module";
  return success();
}

LogicalResult TPDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                     unsigned result,
                                                     NamedAttribute attribute) {
  if (attribute.getName() == getRoleAttrName() &&
      isa<StringAttr>(attribute.getValue()))
    return success();
  return op->emitOpError("result ")
         << result << " has the attribute " << attribute.getName() << " = "
         << attribute.getValue()
         << "; of the tp dialect only tp.role, a string, may stand there";
}

void TPDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "colrow/TP/TPOps.cpp.inc"
      >();
  addInterfaces<TPAsmInterface>();
}
