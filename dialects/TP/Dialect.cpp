// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the tp dialect, and short aliases for its attributes.

#include "RuleCache.h"
#include "colrow/dialects/TP/Step.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

#include "colrow/dialects/TP/TPDialect.cpp.inc"
#include "colrow/dialects/TP/TPEnums.cpp.inc"
#include "colrow/dialects/TP/TPInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "colrow/dialects/TP/TPOps.cpp.inc"

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

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

static bool isConfig(Attribute value) {
  auto bytes = dyn_cast<DenseResourceElementsAttr>(value);
  return isa<StringAttr>(value) ||
         (bytes && bytes.getType().getElementType().isInteger(8));
}

static bool isNumbers(Attribute value) {
  auto numbers = dyn_cast<DictionaryAttr>(value);
  return numbers && llvm::all_of(numbers, [](NamedAttribute entry) {
           auto number = dyn_cast<FloatAttr>(entry.getValue());
           return number && number.getType().isF64();
         });
}

static bool isWays(Attribute value) {
  auto ways = dyn_cast<DictionaryAttr>(value);
  return ways && llvm::all_of(ways, [](NamedAttribute way) {
           return isa<StringAttr>(way.getValue());
         });
}

/// A forward only: no other phase.
static bool isForward(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  return function && llvm::hasSingleElement(function.getBody());
}

static bool isKernelNumber(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isInteger(64) && number.getInt() >= 0;
}

namespace {
/// Where a discardable attribute stands, and what it is.
struct Discardable {
  StringRef name;
  bool (*hasPlace)(Operation *);
  bool (*hasType)(Attribute);
  StringRef wanted;
};
} // namespace

static std::optional<Discardable> findDiscardable(StringRef name) {
  auto module = [](Operation *op) { return isa<ModuleOp>(op); };
  auto function = [](Operation *op) { return isa<func::FuncOp>(op); };
  auto ruled = [](Operation *op) { return isa<ShardableOpInterface>(op); };
  auto rows = [](Operation *op) { return isa<RowLowerableOpInterface>(op); };
  auto dictionary = [](Attribute a) { return isa<DictionaryAttr>(a); };
  auto string = [](Attribute a) { return isa<StringAttr>(a); };
  const Discardable all[] = {
      {getWaysAttrName(), ruled, isWays,
       "a dictionary from axes to names of ways, on an op with a factor rule"},
      {getKernelAttrName(), rows, isKernelNumber,
       "a number from 0 on, an i64, on an op that lowers to rows"},
      {getMeshAttrName(), module, [](Attribute a) { return isa<MeshAttr>(a); },
       "a #tp.mesh on a module"},
      {getTopologyAttrName(), module, dictionary, "a dictionary on a module"},
      {getForwardAttrName(), isForward,
       [](Attribute a) { return isa<UnitAttr>(a); },
       "a unit attribute on a function with a body of one block"},
      {getPredictedAttrName(), function, dictionary,
       "a dictionary on a function"},
      {getCountedAttrName(), function, dictionary,
       "a dictionary on a function"},
      {getOptimizerAttrName(), module, isNumbers,
       "a dictionary of f64 on a module"},
      {getConfigAttrName(), module, isConfig,
       "a string, or a resource of bytes, on a module"},
      {getModelTypeAttrName(), module, string, "a string on a module"}};
  const auto *found = llvm::find_if(
      all, [&](const Discardable &entry) { return entry.name == name; });
  return found == std::end(all) ? std::nullopt : std::optional(*found);
}

LogicalResult TPDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  StringAttr name = attribute.getName();
  std::optional<Discardable> known = findDiscardable(name);
  if (!known)
    return op->emitOpError("has the attribute ")
           << name << ", which the tp dialect does not know; remove it";
  if (!known->hasPlace(op) || !known->hasType(attribute.getValue()))
    return op->emitOpError() << name << " is " << known->wanted;
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
  rules = std::make_unique<RuleCache>();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "colrow/dialects/TP/TPOps.cpp.inc"
      >();
  addInterfaces<TPAsmInterface>();
}
