// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the IR of a plan must be. What instructions do to memory is checked on
// the tables (plan-verify), for files and IR alike.

#include "colrow/dialects/Plan/KernelTable.h"
#include "colrow/dialects/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace colrow;
using namespace colrow::planir;

/// Whether a buffer can hold elements of this type.
static bool isElement(Type type) {
  return type.isF32() || type.isBF16() || type.isInteger(32) ||
         type.isInteger(64) || type.isInteger(1) || type.isInteger(8);
}

unsigned planir::elementBytes(Type element) {
  return std::max(element.getIntOrFloatBitWidth() / 8, 1u);
}

LogicalResult
BufferType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   Type element) {
  if (isElement(element))
    return success();
  return emitError() << "a buffer holds f32, bf16, i32, i64, i1 or i8, not "
                     << element;
}

LogicalResult PlanDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != getOffsetAttrName())
    return op->emitOpError("has an attribute ")
           << attribute.getName() << ", which the plan dialect does not know";
  auto offset = dyn_cast<IntegerAttr>(attribute.getValue());
  if (!isa<SymbolOpInterface>(op) || !offset ||
      !offset.getType().isInteger(64) || offset.getInt() < 0)
    return op->emitOpError("has plan.offset = ")
           << attribute.getValue()
           << "; wanted bytes (i64, not negative) on a parameter or state";
  return success();
}

//===----------------------------------------------------------------------===//
// Module level
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  // C1
  ShapedType type = getTensorType();
  if (!isa<RankedTensorType>(type) || !type.hasStaticShape() ||
      type.getNumElements() == 0 || !isElement(type.getElementType()))
    return emitOpError("C1: holds ")
           << type
           << "; wanted a tensor of static shape, not empty, of f32, "
              "bf16, i32, i64, i1 or i8";
  return success();
}

LogicalResult KernelOp::verify() {
  // C1
  for (auto [i, arg] : llvm::enumerate(getArgs().getAsRange<KernelArgAttr>()))
    if (!isElement(arg.getElementType()) || arg.getExtent() < 1)
      return emitOpError("C1: argument ")
             << i << " is " << arg.getElementType() << " with an extent of "
             << arg.getExtent() << " bytes; wanted elements of a buffer and at "
             << "least 1 byte";
  // C2
  if (!getText())
    return success();
  llvm::Expected<kernel::RowKernel> parsed = kernel::parseKernel(*getText());
  if (!parsed)
    return emitOpError("C2: ") << llvm::toString(parsed.takeError());
  ArrayAttr wanted = getKernelArgs(getContext(), *parsed);
  if (wanted != getArgs() || parsed->numInts != getInts())
    return emitOpError("C2: its text has arguments ")
           << wanted << " and " << parsed->numInts
           << " integers, the op says otherwise";
  return success();
}

LogicalResult ObjectOp::verify() {
  // C1
  ShapedType type = getCode().getShapedType();
  if (!type.hasRank() || type.getRank() != 1 ||
      !type.getElementType().isInteger(8))
    return emitOpError("C1: code is ") << type << ", not a list of i8";
  return success();
}

LogicalResult ProgramOp::verify() {
  // C1
  size_t blocks = getBody().getBlocks().size();
  if (blocks != getPhases().size())
    return emitOpError("C1: has ")
           << blocks << " blocks and " << getPhases().size()
           << " phases; wanted one block a phase";
  // C2
  for (Block &block : getBody()) {
    if (block.getNumArguments())
      return emitOpError("C1: a phase has no arguments");
    Operation *last = block.empty() ? nullptr : &block.back();
    Block *behind = block.getNextNode();
    bool fits = behind ? isa_and_nonnull<NextOp>(last) &&
                             last->getSuccessor(0) == behind
                       : isa_and_nonnull<EndOp>(last);
    if (!fits)
      return emitOpError("C2: a phase must end in ")
             << (behind ? "plan.next to the phase behind it" : "plan.end");
  }
  // C3
  auto ranks = getRanks().value_or(ArrayRef<int64_t>());
  for (size_t i = 1; i < ranks.size(); ++i)
    if (ranks[i] <= ranks[i - 1])
      return emitOpError("C3: rank ")
             << ranks[i] << " stands behind rank " << ranks[i - 1];
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static LogicalResult verifyBytes(Operation *op, int64_t bytes, Type buffer) {
  unsigned size = elementBytes(cast<BufferType>(buffer).getElementType());
  if (bytes < 1 || bytes % size)
    return op->emitOpError("C1: has ")
           << bytes << " bytes of elements of " << size;
  return success();
}

LogicalResult BufferOp::verify() {
  return verifyBytes(*this, getBytes(), getType());
}

LogicalResult InputOp::verify() {
  auto whole = dyn_cast<RankedTensorType>(getWhole());
  Type element = getType().getElementType();
  if (!whole || whole.getElementType() != element)
    return emitOpError("C1: is ")
           << getWhole() << " in a buffer of " << element;
  return verifyBytes(*this, getBytes(), getType());
}

LogicalResult ScalarsOp::verify() {
  if (!getType().getElementType().isInteger(8))
    return emitOpError("C1: holds bytes, not ") << getType().getElementType();
  return success();
}

LogicalResult GlobalOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *target = symbols.lookupNearestSymbolFrom(*this, getSymbolAttr());
  Type declared;
  if (auto constant = dyn_cast_or_null<ConstantOp>(target))
    declared = constant.getTensorType();
  else if (auto type =
               target ? target->getAttrOfType<TypeAttr>("type") : TypeAttr())
    declared = type.getValue();
  auto tensor = dyn_cast_or_null<RankedTensorType>(declared);
  if (!tensor)
    return emitOpError("C1: ")
           << getSymbolAttr()
           << " is not a parameter, state or constant of this module";
  if (tensor.getElementType() != getType().getElementType())
    return emitOpError("C1: ")
           << getSymbolAttr() << " holds " << tensor.getElementType()
           << ", the buffer " << getType().getElementType();
  return success();
}

LogicalResult OutputOp::verify() {
  auto whole = dyn_cast<RankedTensorType>(getWhole());
  Type element = cast<BufferType>(getSource().getType()).getElementType();
  if (getAddresses().size() != 1 || !getAddresses()[0].loops.empty() ||
      !whole || whole.getElementType() != element)
    return emitOpError("C1: is ")
           << getWhole() << " at a place of " << element
           << "; wanted one address without strides, of the same elements";
  return success();
}

LogicalResult OutputOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getParameterAttr() ||
      symbols.lookupNearestSymbolFrom(*this, getParameterAttr()))
    return success();
  return emitOpError("C2: ")
         << getParameterAttr() << " is not a parameter of this module";
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

LogicalResult LoopOp::verify() {
  if (getTrips() < 1 || getBody().front().empty())
    return emitOpError("C1: makes ")
           << getTrips() << " trips over "
           << (getBody().front().empty() ? "nothing" : "instructions");
  return success();
}

LogicalResult planir::detail::verifyInstruction(Operation *op) {
  auto instruction = cast<PlanInstructionOpInterface>(op);
  size_t addresses = instruction.getAddressStorage().size();
  if (addresses != op->getNumOperands())
    return op->emitOpError("has ") << addresses << " addresses for "
                                   << op->getNumOperands() << " operands";
  if (instruction.getStream() < 0 || instruction.getStream() > 255)
    return op->emitOpError("is on stream ")
           << instruction.getStream() << ", wanted 0 to 255";
  return success();
}

LogicalResult LaunchOp::verify() {
  // C2
  if (getBytes().size() != getArgs().size())
    return emitOpError("C2: has ") << getArgs().size() << " arguments and "
                                   << getBytes().size() << " numbers of bytes";
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (isa_and_nonnull<KernelOp>(
          symbols.lookupNearestSymbolFrom(*this, getKernelAttr())))
    return success();
  return emitOpError("C1: ")
         << getKernelAttr() << " is not a kernel of this module";
}

LogicalResult FillOp::verify() {
  if (getValue() < 0 || getValue() > 255)
    return emitOpError("C1: fills with ") << getValue() << ", not a byte";
  return success();
}

template <typename Op> static LogicalResult verifyAttention(Op op) {
  // C1
  ArrayRef<int64_t> sizes = op.getSizes();
  if (sizes.size() != 6 || llvm::any_of(sizes, [](int64_t n) { return n < 1; }))
    return op.emitOpError("C1: has sizes ")
           << op.getSizesAttr() << ", wanted six of at least 1";
  if (op.getWindow() < 0 || (op.getWindow() && !op.getCausal()))
    return op.emitOpError("C1: has a window of ")
           << op.getWindow() << "; wanted at least 0, and causal";
  // C2
  double dropout = op.getDropout().convertToDouble();
  auto whole = op.getWhole().value_or(ArrayRef<int64_t>());
  if (!(dropout >= 0 && dropout < 1) ||
      (dropout > 0 && (whole.size() != 5 || op.getStarts().size() != 5)))
    return op.emitOpError("C2: drops ")
           << dropout << " of a tensor of " << whole.size()
           << " sizes; wanted [0, 1), and five whole sizes and starts";
  // C3
  Type lse = op.getLse().getType(), first = op.getQ().getType();
  Type element = cast<BufferType>(first).getElementType();
  if (!element.isF32() && !element.isBF16())
    return op.emitOpError("C3: works on f32 or bf16, not on ") << first;
  for (OpOperand &buffer : op->getOpOperands())
    if (buffer.getOperandNumber() != op.getLseMutable().getOperandNumber() &&
        buffer.get().getType() != first)
      return op.emitOpError("C3: works on ")
             << first << " and on " << buffer.get().getType()
             << "; wanted one type for all but the rows' logarithms";
  if (!cast<BufferType>(lse).getElementType().isF32())
    return op.emitOpError("C3: rows' logarithms are f32, not ") << lse;
  return success();
}

LogicalResult AttentionOp::verify() { return verifyAttention(*this); }
LogicalResult AttentionGradOp::verify() { return verifyAttention(*this); }
