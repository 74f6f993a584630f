// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters and state: declarations, reads and updates.

#include "colrow/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

LogicalResult ParameterOp::verify() {
  RankedTensorType type = getWholeType();
  // C1
  for (LayoutAttr attr : {getGradient().value_or(LayoutAttr()),
                          getState().value_or(LayoutAttr())})
    if (attr &&
        failed(attr.verifyEncoding(type.getShape(), type.getElementType(),
                                   [&] { return emitOpError("C1: "); })))
      return failure();
  // C2
  if (auto sources = getSource()) {
    int64_t elements = 0;
    for (auto source : sources->getAsRange<SourceAttr>()) {
      int64_t n = 1;
      for (int64_t size : source.getSize())
        n *= size;
      elements += n;
    }
    if (elements != type.getNumElements())
      return emitOpError("C2: its sources give ")
             << elements << " elements, the parameter has "
             << type.getNumElements();
  }
  // C3
  if (getRank() && int64_t(*getRank()) < 0)
    return emitOpError("C3: rank ") << int64_t(*getRank()) << " is negative";
  // C5
  if (type.getRank() == 0 || !type.hasStaticShape())
    return emitOpError("C5: ")
           << type << " is not a tensor of static shape with a dimension";
  // C4
  if (LayoutAttr attr = getLayoutAttr(type)) {
    layout::Layout stored = attr.getLayout();
    if (!stored.copied.empty() || !stored.partial.empty() ||
        !stored.partialMax.empty())
      return emitOpError("C4: a stored layout is split or replicated, never "
                         "copied or partial");
  }
  return success();
}

/// Checks that `symbol` names a parameter or state of `type`.
static LogicalResult verifySymbol(Operation *op, SymbolTableCollection &symbols,
                                  FlatSymbolRefAttr symbol, Type type) {
  Operation *target = symbols.lookupNearestSymbolFrom(op, symbol);
  Type declared;
  if (auto parameter = dyn_cast_or_null<ParameterOp>(target))
    declared = parameter.getType();
  else if (auto state = dyn_cast_or_null<StateOp>(target))
    declared = state.getType();
  else
    return op->emitOpError("C1: ")
           << symbol << " is not a parameter or state of this module";
  if (declared != type)
    return op->emitOpError("C1: ") << symbol << " is declared as " << declared
                                   << ", but used as " << type;
  return success();
}

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySymbol(*this, symbols, getParameterAttr(), getType());
}

LogicalResult ParamOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySymbol(*this, symbols, getSymbolAttr(), getResult().getType());
}

LogicalResult OutputOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getParameterAttr())
    return success();
  if (isa_and_nonnull<ParameterOp>(
          symbols.lookupNearestSymbolFrom(*this, getParameterAttr())))
    return success();
  return emitOpError("C1: ")
         << getParameterAttr() << " is not a parameter of this module";
}

LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySymbol(*this, symbols, getSymbolAttr(), getValue().getType());
}
