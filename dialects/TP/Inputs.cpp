// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named inputs: their checks, and what integers index.

#include "colrow/dialects/TP/Inputs.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::tp;

LogicalResult InputAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                InputRole, StringRef name,
                                std::optional<int64_t>,
                                std::optional<int64_t> low,
                                std::optional<int64_t> high,
                                std::optional<int64_t>) {
  if (name.empty())
    return emitError() << "C1: an input has no name";
  if (low.has_value() != high.has_value() || (low && *low >= *high))
    return emitError() << "C2: input \"" << name
                       << "\" needs low and high, and low < high, or neither";
  return success();
}

/// True if an integer of `bits` bits, signed, can be `value`.
static bool holds(unsigned bits, int64_t value) {
  return bits >= 64 || llvm::isIntN(bits, value);
}

static LogicalResult verifyInput(Operation *op, InputAttr input, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto fail = [&] {
    return op->emitOpError("C3: input \"") << input.getName() << "\" ";
  };
  if (!tensor)
    return fail() << "is no ranked tensor but " << type;
  if (input.getBatch() &&
      (*input.getBatch() < 0 || *input.getBatch() >= tensor.getRank()))
    return fail() << "counts samples along dimension " << *input.getBatch()
                  << ", but has " << tensor.getRank();
  auto integer = dyn_cast<IntegerType>(tensor.getElementType());
  if (input.getRole() != InputRole::Data && (!integer || tensor.getRank() != 2))
    return fail() << "is filled with tokens, so it must be [batch, seq] of "
                     "integers, not "
                  << tensor;
  if (!integer)
    return input.getLow() ? fail() << "has a range, but no integers"
                          : LogicalResult(success());
  unsigned bits = integer.getWidth() == 1 ? 2 : integer.getWidth();
  if (!holds(bits, input.getPaddingValue()) ||
      (input.getLow() &&
       (!holds(bits, *input.getLow()) || !holds(bits, *input.getHigh() - 1))))
    return fail() << "has a range or padding that " << integer
                  << " does not hold";
  return success();
}

LogicalResult TPDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                  unsigned argument,
                                                  NamedAttribute attribute) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (attribute.getName() == getRoleAttrName() && function) {
    auto role = dyn_cast<StringAttr>(attribute.getValue());
    if (!role || (role != "ids" && role != "labels"))
      return op->emitOpError("argument ")
             << argument << " has the tp.role " << attribute.getValue()
             << "; wanted \"ids\" or \"labels\", and data by "
                "tp.input = #tp.input<data \"name\">";
  } else if (attribute.getName() != getInputAttrName()) {
    return op->emitOpError("argument ")
           << argument << " has the attribute " << attribute.getName()
           << "; of the tp dialect only tp.input and tp.role may stand there";
  } else if (!isa<InputAttr>(attribute.getValue())) {
    return op->emitOpError("argument ")
           << argument << " has a tp.input that is no #tp.input<...>";
  }
  return function ? verifyInput(op, getInput(function, argument),
                                function.getArgumentTypes()[argument])
                  : success();
}

InputAttr tp::getInput(func::FuncOp function, unsigned index) {
  if (auto input =
          function.getArgAttrOfType<InputAttr>(index, getInputAttrName()))
    return input;
  auto make = [&](InputRole role, const Twine &name) {
    return InputAttr::get(function.getContext(), role, name.str(), std::nullopt,
                          std::nullopt, std::nullopt, std::nullopt);
  };
  auto role = function.getArgAttrOfType<StringAttr>(index, getRoleAttrName());
  if (role && role == "ids")
    return make(InputRole::Ids, "input_ids");
  if (role && role == "labels")
    return make(InputRole::Labels, "labels");
  return make(InputRole::Data, "arg" + Twine(index));
}

std::optional<int64_t> tp::getIndexedSize(Value value) {
  std::optional<int64_t> smallest;
  for (OpOperand &use : value.getUses())
    if (auto op = dyn_cast<IndexingOpInterface>(use.getOwner()))
      if (auto size = op.getIndexedSize(use.getOperandNumber()))
        smallest = smallest ? std::min(*smallest, *size) : *size;
  return smallest;
}

void tp::addIgnored(Value value, SmallVectorImpl<int64_t> &ignored) {
  for (OpOperand &use : value.getUses())
    if (auto op = dyn_cast<IndexingOpInterface>(use.getOwner()))
      op.addIgnored(use.getOperandNumber(), ignored);
}

LogicalResult tp::verifyInputs(func::FuncOp function) {
  llvm::StringMap<unsigned> byName;
  std::optional<unsigned> byRole[2];
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    Type type = function.getArgumentTypes()[i];
    Type element = getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isBF16() &&
        !element.isSignlessInteger(1) && !element.isSignlessInteger(32) &&
        !element.isSignlessInteger(64))
      return function.emitError("argument ")
             << i << " is " << type
             << "; an input holds f32, bf16, i32, i64 or i1";
    InputAttr input = getInput(function, i);
    auto [it, isNew] = byName.try_emplace(input.getName(), i);
    if (!isNew)
      return function.emitError("arguments ")
             << it->second << " and " << i << " are both the input \""
             << input.getName() << "\"; give one another name in its tp.input";
    if (input.getRole() == InputRole::Data)
      continue;
    std::optional<unsigned> &first = byRole[unsigned(input.getRole())];
    if (first)
      return function.emitError("arguments ")
             << *first << " and " << i << " both have the role "
             << stringifyInputRole(input.getRole())
             << "; one is filled from token files, so make the other one data";
    first = i;
  }
  return success();
}
