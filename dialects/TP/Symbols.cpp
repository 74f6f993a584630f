// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters and state: declarations, reads and updates.

#include "colrow/dialects/TP/TP.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

/// Checks that `type` is the block of `whole`, an optional attribute.
static LogicalResult verifyBlockOf(Operation *op, StringRef constraint,
                                   RankedTensorType type,
                                   std::optional<Type> whole) {
  if (!whole || (!getLayoutAttr(type) &&
                 type.getElementType() == getElementTypeOrSelf(*whole) &&
                 ArrayRef(localShape(*whole)) == type.getShape()))
    return success();
  return op->emitOpError(constraint)
         << ": " << type << " is not the block that a rank has of " << *whole;
}

LogicalResult ParameterOp::verify() {
  RankedTensorType type = getWholeType();
  // C5
  uint64_t elements = 1;
  for (int64_t size : type.getShape())
    elements = llvm::SaturatingMultiply<uint64_t>(elements, size);
  if (type.getRank() == 0 || elements < 1 || elements > layout::maxElements)
    return emitOpError("C5: ")
           << type << " has no dimension, no element, or more than 2^46";
  // C2, C7
  if (failed(tp::detail::verifySources(*this)))
    return failure();
  // C3
  if (getRank() && int64_t(*getRank()) < 0)
    return emitOpError("C3: rank ") << int64_t(*getRank()) << " is negative";
  // C4
  if (LayoutAttr attr = getLayoutAttr(type)) {
    layout::Layout stored = attr.getLayout();
    if (!stored.copied.empty() || !stored.partial.empty() ||
        !stored.partialMax.empty())
      return emitOpError("C4: a stored layout is split or replicated, never "
                         "copied or partial");
  }
  // C6
  return verifyBlockOf(*this, "C6", getTensorType(), getWhole());
}

LogicalResult StateOp::verify() {
  // C2
  return verifyBlockOf(*this, "C2", cast<RankedTensorType>(getType()),
                       getWhole());
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
  auto parameter = dyn_cast_or_null<ParameterOp>(
      symbols.lookupNearestSymbolFrom(*this, getParameterAttr()));
  if (!parameter)
    return emitOpError("C1: ")
           << getParameterAttr() << " is not a parameter of this module";
  if (inFloat32(parameter.getType()) != getType())
    return verifySymbol(*this, symbols, getParameterAttr(), getType());
  // C3
  if (getMaster() && parameter.getTensorType().getElementType().isF32())
    return emitOpError("C3: is the master of ")
           << getParameterAttr() << ", which is f32 and so its own";
  return success();
}

LogicalResult ParamOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getRoundShares() && getElementTypeOrSelf(getResult()).isF32())
    return emitOpError("C2: shares of the gradient of a parameter in f32 are "
                       "not rounded; round_shares is for bf16");
  return verifySymbol(*this, symbols, getSymbolAttr(), getResult().getType());
}

LogicalResult OutputOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getParameterAttr())
    return success();
  auto parameter = dyn_cast_or_null<ParameterOp>(
      symbols.lookupNearestSymbolFrom(*this, getParameterAttr()));
  if (!parameter)
    return emitOpError("C1: ")
           << getParameterAttr() << " is not a parameter of this module";
  RankedTensorType wanted = inFloat32(dualType(parameter.getType()));
  if (wanted != getValue().getType())
    return emitOpError("C1: the gradient of ")
           << getParameterAttr() << " has " << getValue().getType()
           << ", wanted " << wanted;
  return success();
}

/// What leads from a state that cannot leave the step to one that can.
static StringRef cureOf(layout::State state) {
  switch (state.kind) {
  case layout::StateKind::Partial:
    return "put tp.g on it";
  case layout::StateKind::PartialMax:
    return "put tp.g_max on it";
  case layout::StateKind::Copied:
    return "take the value before its tp.f";
  default:
    return "put tp.unslice on it";
  }
}

LogicalResult colrow::tp::detail::verifyLeaving(Operation *op, StringRef name,
                                                RankedTensorType type) {
  bool scalar = llvm::is_contained({"loss", "grad_norm", "token_count"}, name);
  if (scalar && type.getRank() != 0)
    return op->emitOpError("C3: \"") << name << "\" is a scalar, not " << type;
  if (scalar && !type.getElementType().isF32())
    return op->emitOpError("C3: \"")
           << name << "\" is f32, not " << type.getElementType()
           << "; put tp.cast on it";
  LayoutAttr attr = getLayoutAttr(type);
  for (unsigned axis = 0; attr && axis < attr.getMesh().getNames().size();
       ++axis) {
    layout::State state = attr.getLayout().state(axis);
    if (state == layout::State::R() || (state.isSplit() && !scalar))
      continue;
    return op->emitOpError("C3: \"")
           << name << "\" is " << state.str() << " on axis "
           << attr.getMesh().getNames()[axis]
           << ", but what leaves the step is whole (R) or in blocks (S): "
           << cureOf(state);
  }
  return success();
}

LogicalResult OutputOp::verify() {
  auto type = cast<RankedTensorType>(getValue().getType());
  // C2
  if (failed(verifyBlockOf(*this, "C2", type, getWhole())))
    return failure();
  if (getLayout() &&
      tp::getLayoutAttr(getWhole().value_or(type)) != getLayoutAttr())
    return emitOpError("C2: its layout attribute ")
           << getLayoutAttr() << " is not that of "
           << getWhole().value_or(type);
  // C3
  auto whole = cast<RankedTensorType>(getWhole().value_or(type));
  return getParameterAttr()
             ? success()
             : tp::detail::verifyLeaving(*this, getName(), whole);
}

LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySymbol(*this, symbols, getSymbolAttr(), getValue().getType());
}

LogicalResult UpdateOp::verify() {
  // C2
  if ((*this)->getBlock() == &(*this)->getParentRegion()->back())
    return success();
  return emitOpError("C2: stands before the last phase, where a later one may "
                     "still read ")
         << getSymbolAttr();
}
